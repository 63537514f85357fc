//! Questions for addresses (ARP, neighbour discovery), answered or passed on without flooding where the answer
//! is known.

use std::net::IpAddr;

use weft_units::Mac;

use super::Smoc;
use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut, MadeFrame};
use crate::ids::FrameRef;
use crate::packet::{Arp, Neighbour, Packet};
use crate::settings::ArpMode;

/// How long after it was last heard of the controller answers for a station. Later the question goes to the
/// station itself, and the answer shows that it is still there.
const ANSWERED_FOR: Duration = Duration::from_secs(60);

impl Smoc {
    /// An ARP packet.
    pub(super) fn arp(
        &mut self,
        now: Time,
        (port, source): (u32, u32),
        packet: &Packet,
        arp: &Arp,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let target = IpAddr::V4(arp.target);
        let asks = !arp.is_reply && arp.sender != arp.target;
        let answer = (asks && !arp.sender.is_unspecified()).then_some(MadeFrame::ArpReply {
            sender: (Mac::default(), arp.target),
            target: (packet.eth_src, arp.sender),
        });
        self.question(now, (port, source, packet.eth_dst), asks.then_some(target), answer, frame, out);
    }

    /// A message of neighbour discovery.
    pub(super) fn neighbour(
        &mut self,
        now: Time,
        (port, source): (u32, u32),
        packet: &Packet,
        message: &Neighbour,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let asks = !message.is_advertisement;
        let answer = (asks && !message.source.is_unspecified()).then_some(MadeFrame::Advertisement {
            sender: (Mac::default(), message.target),
            target: (packet.eth_src, message.source),
        });
        let target = asks.then_some(IpAddr::V6(message.target));
        self.question(now, (port, source, packet.eth_dst), target, answer, frame, out);
    }

    /// What asks for `target`, or tells something. `answer` is what the controller may say, still without the
    /// address that was asked for.
    fn question(
        &mut self,
        now: Time,
        (port, source, to): (u32, u32, Mac),
        target: Option<IpAddr>,
        answer: Option<MadeFrame>,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        if to == MadeFrame::CONTROLLER {
            // The answer to a question of the controller's own: hearing it was the point.
            return out.push(Command::Forget(frame));
        }
        if !to.is_group() {
            return match self.net.stations.with_mac(to) {
                Some(station) if self.net.is_there(now, station) => self.pass(now, port, station, frame, out),
                _ => self.net.flood(now, port, frame, out),
            };
        }
        let known = target.and_then(|address| self.net.stations.with_address(address));
        let known = known.filter(|&station| self.net.is_there(now, station));
        let Some(station) = known else { return self.net.flood(now, port, frame, out) };
        let entry = &self.net.stations.slab[station];
        let fresh = now.saturating_since(entry.seen) <= ANSWERED_FOR;
        if station == source || entry.port == port {
            // Whoever is asked hears it too.
            self.net.counters.frames_filtered += 1;
            return out.push(Command::Forget(frame));
        }
        match answer {
            Some(mut answer) if fresh && self.net.settings.arp == ArpMode::Proxy => {
                if let MadeFrame::ArpReply { sender: (mac, _), .. }
                | MadeFrame::Advertisement { sender: (mac, _), .. } = &mut answer
                {
                    *mac = entry.mac;
                }
                self.net.counters.neighbours_answered += 1;
                self.net.send_to(source, FrameOut::Made(answer), out);
                out.push(Command::Forget(frame));
            }
            _ => self.pass(now, port, station, frame, out),
        }
    }

    /// Gives a question or an answer to the one station that it is for.
    fn pass(&mut self, now: Time, port: u32, station: u32, frame: FrameRef, out: &mut Vec<Command>) {
        self.net.counters.neighbours_passed += 1;
        self.net.relay(now, port, station, frame, out);
    }
}
