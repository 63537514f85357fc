//! How [`Network`] adds the state of ports to packets that ask for it.

use weft_transport::roce::Hop;
use weft_units::Time;

use super::Network;
use crate::packet::PacketId;

impl Network<'_> {
    /// The line of a switch's port starts to send a packet at `at`: its telemetry gets the state of the port at that
    /// time, after the packet has left its queue, as in the switches of HPCC (Li et al., SIGCOMM 2019). A packet
    /// without payload only returns telemetry.
    #[inline(never)]
    pub(super) fn tell(&mut self, link: u32, packet: PacketId, at: Time) {
        if self.packets.get(packet).header.payload == 0 {
            return;
        }
        let Some(port) = self.ports.get(link).filter(|port| port.is_at_switch) else { return };
        let (id, queued, sent) = (self.id(link), port.queues.bytes().0, self.links.accepted_bytes(link));
        let rate = self.rate(id);
        if let Some(telemetry) = self.packets.telemetry_mut(packet) {
            telemetry.add(Hop { link: id.0, rate, at, sent, queued });
        }
    }
}
