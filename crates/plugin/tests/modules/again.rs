//! ECMP once more, as a module: the built-in scheme must give the same results. It can also fail in all the ways of a
//! module.

use std::cell::Cell;
use std::sync::Arc;

use weft_plugin::{
    Actions, Blueprint, Bytes, Context, Contradiction, Descriptor, Duration, Fabric, Forwarding, Header,
    Hops, NodeId, PortId, Scheme, SchemeSpec, Setting, Switch, params, words,
};
use weft_switching::ecmp::{Ecmp, EcmpSwitch};

weft_plugin::export!(Again);

words! {
    /// As in ecmp.
    enum HashSeed {
        PerSwitch = "per-switch",
        Shared = "shared",
    }
}

params! {
    struct Config {
        /// as in ecmp
        hash_seed: HashSeed = HashSeed::PerSwitch;
        /// frames after which a switch panics
        fail_after: u64 = u64::MAX, in 1..=1_000_000;
        /// not used
        slot: Duration = Duration::from_ms(1), elsewhere "nowhere";
        /// not used
        quantum: Bytes = Bytes(1_500);
    }
}

/// The scheme.
struct Again {
    ecmp: Ecmp,
    fail_after: u64,
}

impl Scheme for Again {
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "again",
        summary: "ECMP as a plugin",
        decides: "switches",
        observes: "nothing",
        source: "RFC 2992",
        params: Config::PARAMS,
        next_hops: Some(Hops::EqualCost),
        contradiction: |spec| {
            assert!(spec.get("fail_after") != Some(666_u64), "the checks fail");
            None
        },
        misfit: Some(misfit),
        ..Descriptor::PLAIN
    };

    fn new(setting: &Setting<'_>) -> Self {
        let ecmp = Ecmp::new(Arc::clone(setting.routes), setting.seed, setting.parameters);
        Self { ecmp, fail_after: Config::of(&setting.parameters.params).fail_after }
    }
}

fn misfit(_spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    (fabric.host_count() < 4).then(|| Contradiction {
        param: "name",
        message: "`again` does not run on a fabric with so few hosts".to_owned(),
        expected: "expected 4 hosts".to_owned(),
    })
}

impl Blueprint for Again {
    type Switch = AgainSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> AgainSwitch {
        AgainSwitch { ecmp: self.ecmp.switch(fabric, node), left: Cell::new(self.fail_after) }
    }
}

/// One switch.
struct AgainSwitch {
    ecmp: EcmpSwitch,
    left: Cell<u64>,
}

impl Switch for AgainSwitch {
    const DECIDES_AHEAD: bool = EcmpSwitch::DECIDES_AHEAD;

    #[inline(always)]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        self.count();
        self.ecmp.receive(ctx, ingress, header, out);
    }

    #[inline(always)]
    fn decide(&self, header: &Header) -> Option<PortId> {
        self.count();
        self.ecmp.decide(header)
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.ecmp.routes_changed(routes);
    }
}

impl AgainSwitch {
    #[inline(always)]
    fn count(&self) {
        let left = self.left.get();
        assert!(left > 0, "no more frames than the scenario allows");
        self.left.set(left - 1);
    }
}
