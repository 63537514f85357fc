//! The buffers of a fabric's switches and the thresholds of their links, which need the whole fabric to be checked.

use weft_units::{Bytes, NodeId};

use crate::pfc::{SharedBuffer, Thresholds};
use crate::{Fabric, FabricError, Limit, Link, Overhead};

/// The longest packet for which headroom is computed: a jumbo frame, with Ethernet's overhead, on the wire.
pub const JUMBO: u64 = Overhead::Ethernet.wire_bytes(9_216) as u64;
/// A pause frame on the wire, with preamble and gap.
pub const PAUSE_FRAME: u64 = Overhead::MIN_FRAME as u64;
/// How far below the threshold of a pause a queue resumes by default: two full frames.
pub const HYSTERESIS: u64 = 2 * FULL_FRAME;
/// The bytes of a packet in a limit in packets.
const FULL_FRAME: u64 = Overhead::FULL_FRAME as u64;

/// Bytes that arrive over `link` after a switch has decided to pause it: the packet that crossed the threshold, all that
/// the sender starts until the pause frame has waited for a packet on the way `back`, been sent, and crossed the cable,
/// the packet that the sender has just begun, and the bytes on the cable. `packet`: the longest, in bytes on the wire.
fn headroom(link: &Link, back: &Link, packet: u64) -> u64 {
    let bps = u128::from(link.rate.bps());
    let cables = u128::from((link.delay + back.delay).ps()) * bps / 8_000_000_000_000;
    let reply = u128::from(packet + PAUSE_FRAME) * bps / u128::from(back.rate.bps());
    u64::try_from(cables + reply + 2).unwrap_or(u64::MAX / 4).saturating_add(2 * packet)
}

impl Fabric {
    /// The buffer of every switch, if its queues share one.
    pub fn buffer(&self) -> Option<SharedBuffer> {
        self.buffer
    }

    /// This fabric with switches that have this buffer.
    ///
    /// # Errors
    /// [`FabricError::Headroom`] or [`FabricError::SharedHeadroom`]: there is no space for PFC's headroom.
    pub fn with_buffer(self, buffer: Option<SharedBuffer>) -> Result<Self, FabricError> {
        let fabric = Self { buffer, ..self };
        for (link, back) in fabric.cables_both_ways() {
            let Some(thresholds) = thresholds(link, back, buffer) else { continue };
            let Thresholds { xoff, headroom, .. } = thresholds;
            let space = space_of(link.queue.limit);
            let needed = xoff.unwrap_or(0).saturating_add(headroom);
            // Without a threshold of its own, the queue pauses at the space that the headroom leaves.
            if buffer.is_none() && (needed > space || xoff == Some(0)) {
                let [from, to] = [link.from, link.to].map(|node| &fabric.node(node).name);
                let link_name = format!("`{from}` -> `{to}`");
                let xoff = link.queue.pfc.and_then(|pfc| pfc.xoff);
                return Err(FabricError::Headroom {
                    link: link_name,
                    headroom: Bytes(headroom),
                    xoff,
                    space: Bytes(space),
                });
            }
        }
        if let Some(SharedBuffer { bytes, .. }) = buffer {
            for node in fabric.switches() {
                let reserved = fabric.reserved(node);
                if reserved >= bytes.0 && fabric.uses_pfc() {
                    let node = fabric.node(node).name.clone();
                    return Err(FabricError::SharedHeadroom {
                        node,
                        reserved: Bytes(reserved),
                        buffer: bytes,
                    });
                }
            }
        }
        Ok(fabric)
    }

    /// Whether any link has PFC.
    pub fn uses_pfc(&self) -> bool {
        self.links.iter().any(|link| link.queue.pfc.is_some())
    }

    /// The thresholds of each lossless queue of a link into a switch.
    pub fn thresholds(&self, link: weft_units::LinkId) -> Option<Thresholds> {
        let to_host = self.node(self.link(link).to).is_host();
        thresholds(self.link(link), self.link(link.reverse()), self.buffer).filter(|_| !to_host)
    }

    /// The headroom that loses none of the packets that follow a pause, with packets of up to `packet` bytes on the wire.
    pub fn sufficient_headroom(&self, link: weft_units::LinkId, packet: u64) -> u64 {
        headroom(self.link(link), self.link(link.reverse()), packet)
    }

    /// Bytes of a switch's buffer set aside for the links into it: their headroom, and the space that they may use
    /// without a pause if that is fixed.
    pub fn reserved(&self, node: NodeId) -> u64 {
        let into = self.ports(node).iter().map(|link| (self.link(link.reverse()), self.link(*link)));
        into.filter_map(|(link, back)| {
            let pfc = link.queue.pfc?;
            let Thresholds { xoff, headroom, .. } = thresholds(link, back, self.buffer)?;
            Some(
                headroom
                    .saturating_add(xoff.unwrap_or(0))
                    .saturating_mul(pfc.count(link.queue.classes.len())),
            )
        })
        .fold(0, u64::saturating_add)
    }

    /// Every link into a switch, and the link back.
    fn cables_both_ways(&self) -> impl Iterator<Item = (&Link, &Link)> {
        let pairs = self.links.chunks_exact(2).flat_map(|pair| [(&pair[0], &pair[1]), (&pair[1], &pair[0])]);
        pairs.filter(|(link, _)| !self.node(link.to).is_host())
    }
}

fn thresholds(link: &Link, back: &Link, buffer: Option<SharedBuffer>) -> Option<Thresholds> {
    let pfc = link.queue.pfc?;
    let headroom = pfc.headroom.map_or_else(|| headroom(link, back, JUMBO), |given| given.0);
    let xoff = match (pfc.xoff, buffer) {
        (Some(xoff), _) => Some(xoff.0),
        (None, Some(_)) => None,
        (None, None) => Some(space_of(link.queue.limit).saturating_sub(headroom)),
    };
    let xon = pfc.xon.map_or_else(|| xoff.unwrap_or(0).saturating_sub(HYSTERESIS), |given| given.0);
    Some(Thresholds { xoff, xon, headroom })
}

/// A limit in bytes; a packet counts as a full Ethernet frame.
fn space_of(limit: Limit) -> u64 {
    match limit {
        Limit::Packets(packets) => u64::from(packets) * FULL_FRAME,
        Limit::Bytes(bytes) => bytes,
        Limit::Unlimited => u64::MAX,
    }
}
