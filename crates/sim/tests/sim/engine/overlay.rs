//! A switch writes the overlay of the frames that it sends.

use std::sync::Arc;

use weft_fabric::{Fabric, build};
use weft_switching::{Actions, Blueprint, Context, DropReason, Forwarding, Header, NextHops, Switch, mix64};
use weft_units::{NodeId, PortId};

use crate::common::profile;
use crate::engine::threads::{busy, link, said};

/// Counts the switches that a frame crosses, in its overlay or not at all.
struct Counting {
    routes: Arc<Forwarding>,
    counts: bool,
}

impl Blueprint for Counting {
    type Switch = CountingSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> CountingSwitch {
        let leaf = |port: &PortId| fabric.link(fabric.ports(node)[port.index()]).to;
        let is_host =
            (0..fabric.ports(node).len() as u16).map(|port| fabric.node(leaf(&PortId(port))).is_host());
        CountingSwitch { next_hops: self.routes.at(node), is_host: is_host.collect(), counts: self.counts }
    }
}

struct CountingSwitch {
    next_hops: NextHops,
    is_host: Vec<bool>,
    counts: bool,
}

impl Switch for CountingSwitch {
    fn receive<C: Context>(&mut self, _ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let hash = mix64(header.flow_hash.into());
        let Some(port) = header.destination().and_then(|host| self.next_hops.choose(host, hash)) else {
            return out.drop(DropReason::NoRoute);
        };
        if !self.counts {
            return out.send(port);
        }
        let from_host = self.is_host[ingress.index()];
        let hops = if from_host { 0 } else { header.overlay[7] };
        // Nobody else writes the overlay of a data segment.
        assert!(from_host && (header.overlay == [0; 8] || header.tcp_flags & Header::SYN != 0) || hops > 0);
        if self.is_host[port.index()] {
            assert_eq!(hops, if from_host { 0 } else { 2 }, "a leaf, a spine, a leaf");
        }
        out.send_with_overlay(port, [0, 0, 0, 0, 0, 0, 0, hops + 1]);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }
}

#[test]
fn hops_are_counted_in_the_overlay_and_nothing_else_changes() {
    let fabric = build::spine_leaf(3, 4, 3, &link(), &link()).expect("the sizes are positive");
    let mut trial = busy(&fabric, crate::common::scheme("ecmp"), profile("linux"));
    // A detour around a failed link would have more hops.
    trial.faults.clear();
    let [counted, plain] = [true, false]
        .map(|counts| said(trial.run_own(|routes| Counting { routes: Arc::clone(routes), counts })));
    assert_eq!(counted, plain);
}
