//! Packet-ins, packet-outs and removed rules.

use smallvec::SmallVec;
use weft_wire::openflow::{Action, FlowRemoved, List, Message, PacketOut, PortNumber, RemovedReason};
use weft_wire::{EtherType, Ethernet};

use super::encode;
use super::state::{Southbound, Stop};
use crate::clock::Time;
use crate::command::MadeFrame;
use crate::cookie;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::offences::OffenceKind;
use crate::packet::Packet;

impl Southbound {
    pub(super) fn packet_in<'a>(
        &mut self,
        now: Time,
        switch: SwitchId,
        message: &'a [u8],
    ) -> Option<Stop<'a>> {
        let packet = match Message::parse(message) {
            Ok((_, Message::PacketIn(packet))) => packet,
            Ok(_) => return None,
            Err(error) => return Some(Stop::Malformed(error)),
        };
        let at = SwitchPort { switch, port: PortNo(packet.in_port.0) };
        // LLDP frames go to the caller, which discovers links.
        if Ethernet::parse(packet.data).is_ok_and(|frame| frame.ethertype() == EtherType::LLDP) {
            if !self.lldp.admit(now, at) {
                self.counts.lldp_over_limit += 1;
                self.offences.add(at, OffenceKind::Lldp);
                return None;
            }
            return Some(Stop::Lldp { port: at.port, frame: packet.data });
        }
        self.counts.packet_ins_received += 1;
        // A flood from a port must not keep its hosts from contradicting claims to their addresses.
        let is_answer = packet.data.get(..6) == Some(&MadeFrame::CONTROLLER.0[..]);
        let limit = if is_answer { &mut self.answers } else { &mut self.ports };
        if !limit.admit(now, at) {
            self.counts.packet_ins_over_limit += 1;
            self.offences.add(at, OffenceKind::Packets);
            return None;
        }
        let read = Packet::read(packet.data)?;
        self.last_frame += 1;
        let frame = FrameRef(self.last_frame);
        self.frames.insert(frame, packet.data.into());
        self.tell(now, |core, now, out| core.packet_in(now, at, packet.cookie, &read, frame, out));
        None
    }

    pub(super) fn rule_removed<'a>(
        &mut self,
        now: Time,
        switch: SwitchId,
        message: &'a [u8],
    ) -> Option<Stop<'a>> {
        let FlowRemoved { cookie, reason, packets, bytes, .. } = match Message::parse(message) {
            Ok((_, Message::FlowRemoved(removed))) => removed,
            // A rule of another controller, which may have any match.
            _ => return Some(Stop::Other),
        };
        if !cookie::is_own(cookie) {
            return Some(Stop::Other);
        }
        if matches!(reason, RemovedReason::IDLE_TIMEOUT | RemovedReason::EVICTION) {
            self.counts.rules_idle += 1;
            self.tell(now, |core, now, out| core.rule_removed(now, switch, cookie, packets, bytes, out));
        }
        None
    }

    /// Sends the frame of a packet-in.
    pub(super) fn release(
        &mut self,
        switch: SwitchId,
        in_port: Option<PortNo>,
        ports: &[PortNo],
        frame: FrameRef,
    ) {
        // A forgotten frame is not sent.
        if let Some(bytes) = self.frames.remove(&frame) {
            self.packet_out(switch, in_port, ports, &bytes);
            self.frames.insert(frame, bytes);
        }
    }

    pub(super) fn packet_out(
        &mut self,
        switch: SwitchId,
        in_port: Option<PortNo>,
        ports: &[PortNo],
        data: &[u8],
    ) {
        let Some(session) = self.sessions.get_mut(&switch) else {
            self.counts.packet_outs_without_switch += 1;
            return;
        };
        let output = |port: &PortNo| Action::output(PortNumber(port.0));
        let actions: SmallVec<[Action; 8]> = ports.iter().map(output).collect();
        let in_port = in_port.map_or(PortNumber::CONTROLLER, |port| PortNumber(port.0));
        let packet = PacketOut { buffer: None, in_port, actions: List::new(&actions), data };
        session.mark(switch, &mut self.to_send);
        let xid = session.begin(1, 0).first;
        encode::message(&mut session.out, xid, &Message::PacketOut(packet));
        self.counts.packet_outs += 1;
    }
}
