//! The interfaces that subflows prefer, and the open flows by which sources choose them.

use weft_traffic::Flow;

use super::context::Ctx;
use super::protocol::Protocol;
use super::shell::Shell;
use super::subflow::{Addresses, Subflow};
use crate::network::Network;

impl<P: Protocol> Shell<P> {
    /// The interfaces that a subflow prefers: the first one those of its flow, each further one those that follow for its
    /// protocol. The source of a flow that chooses by load does so now.
    pub fn preferred(&mut self, name: u8, flow: &Flow, side: usize, cx: &Ctx<'_, '_>) -> Addresses {
        let chosen = &cx.world.chosen;
        let chooses = side == 0 && chosen.is_used();
        if chooses && name == 0 && flow.lane.interfaces().is_none() {
            let best = cx.nics.least_loaded(cx.net, flow, &self.open_flows);
            best.into_iter().for_each(|both| chosen.set(flow.id.0, both));
        }
        let first = cx.world.first_interfaces(flow);
        let (Some(first), Some(all)) = (first, &cx.net.interfaces) else { return Addresses::Hosts };
        let both = self.protocol.interfaces(all, flow, first, name);
        if chooses {
            let [own, other] = all.addresses(flow.src, flow.dst, both);
            self.open_flows.open(flow.src, own, other);
        }
        Addresses::Preferred(both)
    }

    /// The subflows of a source that chose by load have closed.
    #[cold]
    pub fn close_chosen(&mut self, subflows: &[Subflow], flow: &Flow, net: &Network<'_>) {
        let Some(all) = &net.interfaces else { return };
        for subflow in subflows {
            if let Addresses::Preferred(both) = subflow.addresses {
                let [own, other] = all.addresses(flow.src, flow.dst, both);
                self.open_flows.close(flow.src, own, other);
            }
        }
    }
}
