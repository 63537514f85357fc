//! [`transmit`]: turns a segment into a packet and sends it from its host.

use weft_transport::mptcp::Options;
use weft_transport::{Flags, Segment};

use crate::host::{Connection, EndpointId, Side};
use crate::network::Network;
use crate::packet::WATCHED;
use crate::record::{Counters, Recorder};
use crate::trace::TraceEvent;

/// Sends a segment of endpoint `id`, one side of a connection, with a Multipath TCP option. Returns whether the
/// interface accepted it.
#[inline(always)]
pub(crate) fn transmit<R: Recorder>(
    net: &mut Network,
    counters: &mut Counters,
    (side, shared): (&Side, &mut Connection),
    id: EndpointId,
    (segment, options): (&Segment, Options),
    recorder: &mut R,
) -> bool {
    let followed = id & 1 == 0 && segment.len > 0 && shared.seen.watch;
    let watched = followed || segment.flags.has(Flags::SYN);
    let owner = if watched { (id ^ 1) | WATCHED } else { id ^ 1 };
    let packet = net.packets.packet_of(&side.template, owner, segment, options);
    if followed {
        shared.seen.follow(packet);
    }
    counters.packets_sent += 1;
    shared.in_flight += 1;
    if R::TRACES {
        let (link, header) = (net.id(side.nic), &net.packets.get(packet).header);
        recorder.trace(net.now, TraceEvent::Sent { frame: packet, link, header });
    }
    if let Err(reason) = net.transmit(side.nic, packet) {
        if R::TRACES {
            recorder.trace(net.now, TraceEvent::Dropped { frame: packet, reason });
        }
        counters.count_drop(reason);
        shared.in_flight -= 1;
        shared.drops += u32::from(segment.len > 0);
        shared.seen.watch |= followed;
        net.packets.remove(packet);
        return false;
    }
    true
}
