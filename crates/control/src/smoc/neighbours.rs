//! Address requests (ARP, neighbour discovery), answered or forwarded without flooding if the answer is known.
//! After that, rules forward each station's claims to its own verified addresses to the other station without the
//! controller.

use std::net::IpAddr;

use smallvec::SmallVec;
use weft_wire::Mac;

use super::install::Draft;
use super::state::Smoc;
use crate::budget::NEIGHBOURS;
use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut, MadeFrame};
use crate::ids::FrameRef;
use crate::packet::{Arp, Neighbour, Packet};
use crate::routes::{From, Kind};
use crate::settings::ArpMode;
use crate::transactions::Purpose;

/// How long after a station was last seen the controller answers for it. Later requests go to the station
/// itself, whose answer shows that it is still there.
const ANSWERED_FOR: Duration = Duration::from_secs(60);
/// Ports may have one claim rule per this many flow rules.
const RULES_A_CLAIM: usize = 4;

/// Claims that two stations may send each other: the sender's side, its address, the message.
type Claims = SmallVec<[(usize, IpAddr, Kind); 6]>;

/// An address request, or another ARP or neighbour discovery message.
pub(super) struct Question {
    /// The destination of its frame.
    to: Mac,
    /// The requested address.
    target: Option<IpAddr>,
    /// The controller's possible answer, with the requested MAC address still unset.
    answer: Option<MadeFrame>,
    /// Claims to let through between the two stations.
    claims: Claims,
}

impl Question {
    /// The question in an ARP packet.
    pub fn of_arp(packet: &Packet, arp: &Arp) -> Self {
        let asks = !arp.is_reply && arp.sender != arp.target;
        let answer = (asks && !arp.sender.is_unspecified()).then_some(MadeFrame::ArpReply {
            sender: (Mac::default(), arp.target),
            target: (packet.eth_src, arp.sender),
        });
        let sides = [(0, arp.sender, arp.target), (1, arp.target, arp.sender)];
        let claims = sides.map(|(side, own, other)| (side, IpAddr::V4(own), Kind::Arp(other)));
        Self::new(packet.eth_dst, asks, arp.target.into(), answer, claims)
    }

    /// The question in a neighbour discovery message.
    pub fn of_neighbour(packet: &Packet, message: &Neighbour) -> Self {
        let asks = !message.is_advertisement;
        let answer = (asks && !message.source.is_unspecified()).then_some(MadeFrame::Advertisement {
            sender: (Mac::default(), message.target),
            target: (packet.eth_src, message.source),
        });
        let sides = [(0, message.source, message.target), (1, message.target, message.source)];
        let claims = sides.into_iter().flat_map(|(side, own, other)| {
            let kinds = [Kind::Solicitation(other), Kind::Answer, Kind::Advertisement];
            kinds.map(|kind| (side, IpAddr::V6(own), kind))
        });
        Self::new(packet.eth_dst, asks, message.target.into(), answer, claims)
    }

    /// A reply makes no rules: otherwise a host could make rules at the expense of its peers.
    fn new(
        to: Mac,
        asks: bool,
        target: IpAddr,
        answer: Option<MadeFrame>,
        claims: impl IntoIterator<Item = (usize, IpAddr, Kind)>,
    ) -> Self {
        let claims = claims.into_iter().filter(|_| asks).collect();
        Self { to, target: asks.then_some(target), answer, claims }
    }
}

impl Smoc {
    /// Answers or forwards an address request, or forwards another message.
    pub(super) fn question(
        &mut self,
        now: Time,
        port: u32,
        source: u32,
        Question { to, target, answer, claims }: Question,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        if to == MadeFrame::CONTROLLER {
            // The answer to one of the controller's own probes: it has served its purpose.
            return out.push(Command::Forget(frame));
        }
        if !to.is_group() {
            return match self.net.stations.with_mac(to) {
                Some(station) if self.net.is_there(now, station) => {
                    if target.and_then(|address| self.net.stations.with_address(address)) == Some(station) {
                        self.let_through(now, port, [source, station], &claims, out);
                    }
                    self.pass(now, port, station, frame, out);
                }
                _ => self.net.flood(now, port, frame, out),
            };
        }
        let known = target.and_then(|address| self.net.stations.with_address(address));
        let known = known.filter(|&station| self.net.is_there(now, station));
        let Some(station) = known else { return self.net.flood(now, port, frame, out) };
        let entry = &self.net.stations.slab[station];
        // A station whose switch is disconnected cannot answer; until it reconnects, the controller does.
        let is_fresh = now.saturating_since(entry.seen) <= ANSWERED_FOR || !self.net.is_up(entry.switch);
        if station == source || entry.port == port {
            // The requested host receives it directly.
            self.net.counters.frames_filtered += 1;
            return out.push(Command::Forget(frame));
        }
        self.let_through(now, port, [source, station], &claims, out);
        let entry = &self.net.stations.slab[station];
        match answer {
            Some(mut answer) if is_fresh && self.net.settings.arp == ArpMode::Proxy => {
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

    /// Creates routes for the claims of two stations to their verified addresses, charged to the first station's
    /// port.
    fn let_through(
        &mut self,
        now: Time,
        port: u32,
        stations: [u32; 2],
        claims: &Claims,
        out: &mut Vec<Command>,
    ) {
        let ends = stations.map(|station| &self.net.stations.slab[station]);
        if ends[0].port == ends[1].port || ends.iter().any(|station| station.is_disputed()) {
            return;
        }
        let mut wanted: SmallVec<[(From, u32, u32); 6]> = SmallVec::new();
        for &(side, address, kind) in claims {
            let (station, to) = (stations[side], stations[1 - side]);
            let from = From::Claim { station, address, kind };
            let switch = self.net.stations.slab[station].switch;
            if self.net.stations.with_address(address) == Some(station)
                // A host could name any number of addresses that have no or another owner.
                && kind.about().is_none_or(|about| self.net.stations.with_address(about) == Some(to))
                && self.net.is_up(switch)
                && self.routes.find(from, to).is_none()
            {
                wanted.push((from, switch, to));
            }
        }
        if wanted.is_empty() {
            return;
        }
        let most = (self.net.settings.limits.rules_per_port / RULES_A_CLAIM) as u32;
        // Others may have triggered the request, so no port is reported for exceeding the limit.
        let may = self.shares.has_room(self.ports_of(stations), wanted.len() as u32, most)
            && self.has_room_for_routes(wanted.len())
            && self.has_budget(port, stations, NEIGHBOURS);
        let path = if may { self.shortest(stations) } else { None };
        let Some(path) = path else {
            self.net.counters.neighbours_unrouted += 1;
            return;
        };
        let mut draft = Draft::new(Purpose::Other).charged(port);
        for (from, switch, to) in wanted {
            let Some(route) = self.enter_route(now, from, switch, to, path, out) else { break };
            self.net.counters.neighbours_routed += 1;
            self.draft_route(&mut draft, route);
        }
        self.submit(now, draft, out);
    }

    /// The ports of two stations, whose shares a rule between them counts against.
    pub(super) fn ports_of(&self, stations: [u32; 2]) -> [u32; 2] {
        stations.map(|station| self.net.stations.slab[station].port)
    }

    /// Forwards a request or reply to the one station concerned.
    fn pass(&mut self, now: Time, port: u32, station: u32, frame: FrameRef, out: &mut Vec<Command>) {
        self.net.counters.neighbours_passed += 1;
        self.net.relay(now, port, station, frame, out);
    }
}
