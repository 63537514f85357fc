//! TFE: TCP-Path for elephant flows, the default forwarding for the rest.
//!
//! Elephants are recognised by a range of TCP ports, by DSCP, or by size (section IV of the TCP-Path
//! paper has the first): a flow starts on the default forwarding, and once it has carried enough bytes
//! its source's edge moves it to the fastest path.

use std::sync::Arc;

use weft_units::{Bytes, PortId, Time, params, words};

use crate::default_forwarding::DefaultForwarding;
use crate::descriptor::{Descriptor, Explores, Need};
use crate::exploration::{self, Exploration};
use crate::header::{Header, Kind};
use crate::hello::Way;
use crate::over::Under;
use crate::path_table::FlowKey;
use crate::snooping::Membership;
use crate::soft_table::SoftTable;
use crate::spec::{Contradiction, SchemeSpec};
use crate::tcp_path::TcpPathSwitch;
use crate::{Actions, Context, Forwarding, Kept, Switch, TableEntries};
use weft_wire::Mac;

/// How elephants are recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// A TCP port of either end is in this inclusive range.
    Ports(u16, u16),
    /// The DSCP of the IP header.
    Dscp(u8),
    /// The flow has carried this many bytes.
    Auto(Bytes),
}

impl Classifier {
    /// Whether a flow with these ports and this DSCP is explored from its SYN.
    pub fn selects(&self, sport: u16, dport: u16, dscp: u8) -> bool {
        match self {
            Self::Ports(first, last) => {
                let range = *first..=*last;
                range.contains(&sport) || range.contains(&dport)
            }
            Self::Dscp(own) => dscp == *own,
            Self::Auto(_) => false,
        }
    }
}

words! {
    enum ClassifyBy {
        Ports = "ports",
        Dscp = "dscp",
        Auto = "auto",
    }
}

params! {
    struct Config {
        /// scheme that forwards frames without a path of their own, with its defaults
        over: Under = Under::ArpPath;
        /// criterion of elephants: TCP port range, DSCP, or bytes carried
        classifier: ClassifyBy = ClassifyBy::Ports;
        /// first port of the range
        first_port: u16 = 3500;
        /// last port of the range
        last_port: u16 = 4500;
        /// DSCP of elephants
        dscp: u8 = 10;
        /// bytes a flow has carried when `auto` moves it
        elephant_bytes: Bytes = Bytes(1_000_000);
        ..exploration: Exploration;
    }
}

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "tfe",
    summary: "TFE: TCP-Path for elephant flows, default forwarding (ARP-Path) for the rest",
    decides: "switches",
    observes: "the first copy of an elephant's SYN",
    source: "Alvarez-Horcajo et al.",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    explores: Some(Explores::Elephants),
    linux_mode: Some("tfe"),
    contradiction: |spec| exploration::contradiction(spec).or_else(|| contradiction(spec)),
    ..Descriptor::PLAIN
};

/// The first contradiction that keeps the classifier from matching any flow.
fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let most = [("first_port", 65_535), ("last_port", 65_535), ("dscp", 63)];
    let beyond = most.into_iter().find_map(|(param, most)| {
        let given = spec.get::<u64>(param).filter(|given| *given > most)?;
        let expected = format!("expected 1 to {most}");
        Some(Contradiction { param, message: format!("`scheme.{param}` is {given}"), expected })
    });
    beyond.or_else(|| match Classifier::from_spec(spec) {
        Classifier::Ports(first, last) if first > last => Some(Contradiction {
            param: if spec.params.contains_key("last_port") { "last_port" } else { "first_port" },
            message: format!("the port range {first} to {last} of `tfe` is empty"),
            expected: "the first port is above the last: no flow would be explored".to_owned(),
        }),
        _ => None,
    })
}

impl Classifier {
    /// The classifier of `spec`.
    pub fn from_spec(spec: &SchemeSpec) -> Self {
        let Config { classifier, first_port, last_port, dscp, elephant_bytes, .. } = Config::of(&spec.params);
        match classifier {
            ClassifyBy::Ports => Self::Ports(first_port, last_port),
            ClassifyBy::Dscp => Self::Dscp(dscp.min(63)),
            ClassifyBy::Auto => Self::Auto(elephant_bytes),
        }
    }
}

/// A TFE switch.
pub struct TfeSwitch {
    paths: TcpPathSwitch,
    classifier: Classifier,
    /// Bytes carried by flows from host ports, until they are moved.
    carried: SoftTable<FlowKey, u64>,
}

impl TfeSwitch {
    /// The path-finding part.
    pub const fn paths(&self) -> &TcpPathSwitch {
        &self.paths
    }

    /// A frame says this about groups ([`ArpPathSwitch::hear_membership`]).
    pub fn hear_membership(&mut self, ingress: PortId, header: &Header, message: Membership, now: Time) {
        self.paths.hear_membership(ingress, header, message, now);
    }

    /// The bytes carried by flows not yet moved at `now`, and the expiry time of each count.
    pub fn carried(&self, now: Time) -> impl Iterator<Item = (FlowKey, u64, Time)> {
        self.carried.entries(now).map(|(key, bytes, _, expiry)| (*key, *bytes, expiry))
    }

    /// A switch with ports of these roles; `secret` must be unknown to outsiders.
    pub fn new(config: &Exploration, ways: Vec<Way>, classifier: Classifier, secret: u64) -> Self {
        Self {
            carried: SoftTable::new(config.flows, &[config.confirmed], secret),
            paths: TcpPathSwitch::new(config, ways, secret),
            classifier,
        }
    }

    /// This switch over another default forwarding.
    pub fn over(self, over: DefaultForwarding) -> Self {
        Self { paths: self.paths.over(over), ..self }
    }

    /// Counts a segment from a host port, and moves its flow once it has carried enough.
    fn count<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let (now, key) = (ctx.now(), FlowKey::to_source(header));
        let Classifier::Auto(enough) = self.classifier else { return };
        if self.paths.under.base.ports.is_fabric(ingress, now) || header.payload == 0 {
            return;
        }
        // Already moved, in at least one direction.
        if [key, key.reversed()].iter().any(|key| self.paths.paths.get(key, now).is_some()) {
            return;
        }
        let payload = u64::from(header.payload);
        let carried = match self.carried.refresh(&key, now) {
            Some(carried) => {
                *carried += payload;
                *carried
            }
            None => {
                self.carried.insert(key, payload, 0, now);
                payload
            }
        };
        if carried >= enough.0 {
            self.carried.remove(&key);
            self.paths.recover_for_host(ctx, key, ingress, out);
        }
    }
}

impl Switch for TfeSwitch {
    #[inline(always)]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        match (header.kind, &self.classifier) {
            (Kind::Tcp, _) if header.src.is_group() => {
                self.paths.under.base.on_marked(ctx, ingress, header, out)
            }
            (Kind::Tcp, Classifier::Auto(_)) => {
                if self.paths.under.accept(ctx, ingress, header, out) {
                    self.count(ctx, ingress, header, out);
                    self.paths.on_data(ctx, ingress, header, out);
                }
            }
            (Kind::Tcp, classifier)
                if classifier.selects(header.sport, header.dport, header.traffic_class >> 2) =>
            {
                self.paths.on_tcp(ctx, ingress, header, out);
            }
            (Kind::Tcp, _) => self.paths.under.receive(ctx, ingress, header, out),
            _ => self.paths.on_other(ctx, ingress, header, out),
        }
    }

    fn learn_station(&mut self, station: Mac, port: PortId, now: Time) {
        self.paths.learn_station(station, port, now);
    }

    fn port_changed<C: Context>(&mut self, ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        self.paths.port_changed(ctx, port, up, out);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.paths.under.reroute(routes);
    }

    fn next_deadline(&self) -> Time {
        self.paths.next_deadline()
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        self.paths.on_deadline(ctx, out);
        self.carried.sweep(ctx.now());
    }

    fn kept(&self, header: &Header, now: Time) -> Kept {
        self.paths.kept(header, now)
    }

    /// A flow's byte count is an entry too.
    fn table_entries(&mut self, now: Time) -> TableEntries {
        self.carried.sweep(now);
        let paths = self.paths.table_entries(now);
        TableEntries { flows: paths.flows + self.carried.len(), ..paths }
    }
}
