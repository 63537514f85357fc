//! [`PathChoice`]: selects a packet's way among those of a group.

use rand_core::RngCore;
use weft_control::tag_forward::Way;
use weft_units::PortId;

use crate::hash::{mix64, pick};
use crate::{Context, Header};

/// How the source switch selects a way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathChoice {
    /// By the flow's hash with the switch's key, as ECMP.
    Ecmp {
        /// The key.
        key: u64,
    },
    /// At random for each packet.
    Spray,
    /// For each packet at random among the ways through the gates with the shortest queue.
    LeastLoaded,
}

impl PathChoice {
    /// The way of a packet among `ways`, and its port; `port` returns that of a way whose link is up. If the drawn
    /// way has none, the next one that has: no need to wait for the controller. `None` if no way has a port.
    pub(super) fn choose<C: Context>(
        self,
        ctx: &mut C,
        header: &Header,
        ways: &[Way],
        port: impl Fn(&Way) -> Option<PortId>,
    ) -> Option<(Way, PortId)> {
        let random = match self {
            Self::Ecmp { key } => mix64(u64::from(header.path_hash()) ^ key),
            Self::Spray | Self::LeastLoaded => ctx.random().next_u64(),
        };
        if self == Self::LeastLoaded {
            return least_loaded(ctx, ways, random, port);
        }
        let (before, from) = ways.split_at(pick(random, ways.len()));
        from.iter().chain(before).find_map(|way| Some((*way, port(way)?)))
    }
}

/// One of the ways through the ports with the shortest queue, selected by 64 uniform bits.
fn least_loaded<C: Context>(
    ctx: &C,
    ways: &[Way],
    random: u64,
    port: impl Fn(&Way) -> Option<PortId>,
) -> Option<(Way, PortId)> {
    let loaded = || ways.iter().filter_map(|way| port(way).map(|port| (*way, port, ctx.queue_bytes(port))));
    let least = loaded().map(|(_, _, load)| load).min()?;
    let shortest = || loaded().filter(|(_, _, load)| *load == least);
    let drawn = pick(random, shortest().count());
    shortest().nth(drawn).map(|(way, port, _)| (way, port))
}
