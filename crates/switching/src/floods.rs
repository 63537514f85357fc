//! [`Floods`]: remembers flooded frames, so that only the first copy is forwarded.
//!
//! This table is separate from the forwarding tables: nothing learnt, evicted or replaced there lets a copy pass a
//! second time. A full table evicts the oldest flood: the limits of [`crate::port_limits`] keep one port from filling
//! it within a flood's lifetime.

use weft_units::{Duration, PortId, Time};
use weft_wire::Mac;

use crate::DropReason;
use crate::hash::mix64;
use crate::header::{Header, Kind};
use crate::hello::Ports;
use crate::soft_table::{SoftKey, SoftTable};

/// The kind of a remembered flood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FloodKind {
    /// Broadcasts and multicasts that do not explore.
    Broadcast = Kind::Other as u8,
    /// ARP Requests and Neighbour Solicitations.
    Request = Kind::ArpRequest as u8,
    /// Path Requests, for a flow or two stations.
    PathRequest = Kind::PathRequest as u8,
    /// Path Fails about two stations.
    PathFail = Kind::PathFail as u8,
    /// Recovery Requests.
    RecoveryRequest = Kind::RecoveryRequest as u8,
    /// Unicast frames to an unknown station.
    Unknown = 16,
    /// Path Requests of a station with one exploration id: its announcement and the search that began with it.
    Location = 17,
}

/// The key shared by the copies of a flooded frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// The kind of the frame.
    pub kind: FloodKind,
    /// Its source.
    pub from: Mac,
    /// Its destination, if it is about a path or unicast; broadcast otherwise.
    pub to: Mac,
    /// TCP ports of source and destination, if it is about a flow's path.
    pub ports: [u16; 2],
    /// The exploration, if it is about a path.
    pub id: u32,
}

impl Flood {
    /// The flood of a frame.
    fn of(header: &Header) -> Self {
        let about_path = |kind| Self {
            kind,
            from: header.src,
            to: header.dst,
            ports: [header.sport, header.dport],
            id: header.exploration_id(),
        };
        match header.kind {
            Kind::PathRequest => about_path(FloodKind::PathRequest),
            Kind::PathFail => about_path(FloodKind::PathFail),
            Kind::RecoveryRequest => about_path(FloodKind::RecoveryRequest),
            _ if !header.dst.is_group() => Self::unknown(header),
            Kind::ArpRequest => Self::of_source(FloodKind::Request, header.src),
            // One entry for all other broadcasts of a source, whatever they carry.
            _ => Self::of_source(FloodKind::Broadcast, header.src),
        }
    }

    const fn of_source(kind: FloodKind, from: Mac) -> Self {
        Self { kind, from, to: Mac::BROADCAST, ports: [0; 2], id: 0 }
    }

    const fn unknown(header: &Header) -> Self {
        let (from, to) = (header.src.unmarked(), header.dst);
        Self { kind: FloodKind::Unknown, from, to, ports: [0; 2], id: 0 }
    }

    /// Its class in the table.
    const fn class(&self) -> u8 {
        match self.kind {
            FloodKind::Broadcast | FloodKind::Unknown => BROADCAST,
            _ => EXPLORATION,
        }
    }
}

impl SoftKey for Flood {
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        let [sport, dport] = self.ports.map(u64::from);
        let ends = mix64(self.from.bits() ^ secrets[0]) ^ self.to.bits() ^ sport << 48;
        mix64(mix64(ends) ^ dport << 40 ^ (self.kind as u64) << 32 ^ u64::from(self.id))
    }
}

/// Not a port: the flood started here, and every returning copy is late.
const HERE: PortId = PortId(u16::MAX);

/// Maximum time in flight of a frame's copies. A copy on another port, this long after the last one, belongs to a new
/// frame if the first port is certainly no longer right; otherwise it is late, in case a copy took longer.
pub const SETTLE: Duration = Duration::from_ms(50);

/// The table.
pub(crate) struct Floods {
    first: SoftTable<Flood, PortId>,
    lives: [Duration; 3],
}

/// Classes: floods about a station or a flow, other frames, and floods of a station that moved away.
const EXPLORATION: u8 = 0;
const BROADCAST: u8 = 1;
const LEFT: u8 = 2;

impl Floods {
    /// A table of `size` floods with lifetimes `lock` for explorations and `broadcast` for other frames.
    pub(crate) fn new(size: usize, lock: Duration, broadcast: Duration, secret: u64) -> Self {
        let lives = [lock, broadcast, SETTLE];
        Self { first: SoftTable::new(size, &lives, secret), lives }
    }

    /// Records a copy that arrived on `ingress`, or returns the reason to drop it. A copy on the first copy's port is
    /// a new frame, and is forwarded. If its source moved away, it holds that port only while other copies may be in
    /// flight.
    pub(crate) fn note(
        &mut self,
        ports: &Ports,
        ingress: PortId,
        header: &Header,
        now: Time,
    ) -> Result<(), DropReason> {
        self.note_flood(ports, ingress, Flood::of(header), now)
    }

    fn note_flood(
        &mut self,
        ports: &Ports,
        ingress: PortId,
        flood: Flood,
        now: Time,
    ) -> Result<(), DropReason> {
        if self.is_late(ports, ingress, &flood, now) {
            return Err(DropReason::LateCopy);
        }
        let class = self.first.class(&flood, now).filter(|class| *class == LEFT).unwrap_or(flood.class());
        self.first.insert(flood, ingress, class, now);
        Ok(())
    }

    /// Records `request`, a Path Request, at `ingress`. Returns whether it locates its source there: only the first
    /// copy of all requests with its id does. If the announcement and the search each had a first copy, and some copies
    /// were lost, two switches could see them in different orders, and their entries could form a loop.
    pub(crate) fn note_location(
        &mut self,
        ports: &Ports,
        ingress: PortId,
        request: &Header,
        now: Time,
    ) -> bool {
        let id = request.exploration_id();
        let flood = Flood { id, ..Flood::of_source(FloodKind::Location, request.src) };
        self.note_flood(ports, ingress, flood, now).is_ok()
    }

    fn is_late(&self, ports: &Ports, ingress: PortId, flood: &Flood, now: Time) -> bool {
        let Some(&port) = self.first.get(flood, now).filter(|port| **port != ingress) else { return false };
        // The first copy's port is down, or a host moved to a port of this switch.
        let has_gone = port != HERE && !ports.is_known(port, now);
        !self.has_settled(flood, now) || !(has_gone || ports.is_host(ingress, now))
    }

    /// Whether no copy of a flood can be in flight any more.
    fn has_settled(&self, flood: &Flood, now: Time) -> bool {
        let life =
            self.first.class(flood, now).map_or(Duration::ZERO, |class| self.lives[usize::from(class)]);
        self.first.expiry(flood, now).is_none_or(|expiry| now + life >= expiry + SETTLE)
    }

    /// Whether a frame on `ingress` goes on with a flood whose first copy arrived there. It adds no entry.
    pub(crate) fn goes_on(&self, ingress: PortId, header: &Header, now: Time) -> bool {
        self.is_from(&Flood::of(header), ingress, now)
    }

    /// Whether floods of a frame to an unknown station already start here.
    pub(crate) fn goes_on_unknown(&self, ports: &Ports, ingress: PortId, header: &Header, now: Time) -> bool {
        let port = if ports.is_host(ingress, now) { ingress } else { HERE };
        self.is_from(&Flood::unknown(header), port, now)
    }

    fn is_from(&self, flood: &Flood, port: PortId, now: Time) -> bool {
        // With LEFT, it has started elsewhere since.
        self.first.get(flood, now) == Some(&port) && self.first.class(flood, now) != Some(LEFT)
    }

    /// Records a flood that starts here.
    pub(crate) fn note_own(&mut self, ports: &Ports, header: &Header, now: Time) -> Result<(), DropReason> {
        self.note(ports, HERE, header, now)
    }

    /// Records a frame to an unknown station: its flood starts here, wherever an earlier one started.
    pub(crate) fn note_unknown(&mut self, ports: &Ports, ingress: PortId, header: &Header, now: Time) {
        let port = if ports.is_host(ingress, now) { ingress } else { HERE };
        self.first.insert(Flood::unknown(header), port, BROADCAST, now);
    }

    /// Whether a unicast frame is a copy of a flooded one, returned by a link between two host ports.
    pub(crate) fn has_come_round(&self, ports: &Ports, ingress: PortId, header: &Header, now: Time) -> bool {
        !header.dst.is_group() && self.is_late(ports, ingress, &Flood::unknown(header), now)
    }

    /// `station` is behind `port` from now on: its broadcasts are accepted from there.
    pub(crate) fn reroot(&mut self, station: Mac, port: PortId, now: Time) {
        for kind in [FloodKind::Request, FloodKind::Broadcast] {
            self.reroot_flood(Flood::of_source(kind, station), port, now);
        }
    }

    /// A search for a path from `from` to `to` arrived on `port`, so frames between them are flooded there: their
    /// copies are accepted from `port`.
    pub(crate) fn reroot_unknown(&mut self, [from, to]: [Mac; 2], port: PortId, now: Time) {
        self.reroot_flood(Flood { kind: FloodKind::Unknown, from, to, ports: [0; 2], id: 0 }, port, now);
    }

    /// Whether a Path Request about two stations has the id of a Path Fail that was seen.
    pub(crate) fn answers_fail(&self, request: &Header, now: Time) -> bool {
        let (from, to, id) = (request.dst, request.src, request.exploration_id());
        self.first.get(&Flood { kind: FloodKind::PathFail, from, to, ports: [0; 2], id }, now).is_some()
    }

    /// The next copy of `flood` arrives on `port`. While earlier copies may be in flight, they stay late.
    fn reroot_flood(&mut self, flood: Flood, port: PortId, now: Time) {
        let known = self.first.get(&flood, now).copied();
        if known.is_none_or(|known| known == port) {
            return;
        }
        if self.has_settled(&flood, now) {
            self.first.remove(&flood);
        } else {
            self.first.reclass(&flood, LEFT, now);
        }
    }

    /// The remembered floods, the port of each first copy ([`HERE`] if it started here), and the expiry time.
    pub(crate) fn entries(&self, now: Time) -> impl Iterator<Item = (Flood, PortId, Time)> {
        self.first.entries(now).map(|(flood, port, _, expiry)| (*flood, *port, expiry))
    }

    pub(crate) fn sweep(&mut self, now: Time) {
        self.first.sweep(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::Exploration;
    use crate::hello::Way;

    const LIFE: Duration = Duration::from_secs(1);

    fn broadcast(kind: Kind) -> Header {
        Header { kind, dst: Mac::BROADCAST, ..Header::default() }
    }

    fn ports(way: Way) -> Ports {
        Ports::new(vec![way; 3], &Exploration::default())
    }

    #[test]
    fn broadcasts_of_a_source_are_late_on_another_port_whatever_they_carry() {
        let (mut floods, ports) = (Floods::new(10, LIFE, LIFE, 1), ports(Way::Up));
        let mut note = |port, kind| floods.note(&ports, PortId(port), &broadcast(kind), Time::ZERO);
        assert_eq!(note(0, Kind::Other), Ok(()));
        for kind in [Kind::Other, Kind::Tcp, Kind::ArpReply] {
            assert_eq!(note(1, kind), Err(DropReason::LateCopy), "{kind:?}");
        }
        assert_eq!(note(1, Kind::ArpRequest), Ok(()));
    }

    #[test]
    fn a_full_memory_forgets_the_flood_noted_longest_ago() {
        let (mut floods, ports) = (Floods::new(3, LIFE, LIFE, 1), ports(Way::Up));
        let mut note = |from, port, ms| {
            let header = Header { src: Mac::from_bits(from), ..broadcast(Kind::ArpRequest) };
            floods.note(&ports, PortId(port), &header, Time::ZERO + Duration::from_ms(ms))
        };
        for from in 0..4 {
            assert_eq!(note(2 * from, 0, from), Ok(()));
        }
        assert_eq!(note(6, 1, 5), Err(DropReason::LateCopy));
        assert_eq!(note(2, 1, 5), Err(DropReason::LateCopy));
        assert_eq!(note(0, 1, 5), Ok(()), "forgotten");
    }

    #[test]
    fn a_first_port_that_is_down_holds_nothing_once_no_copy_is_under_way() {
        for (ms, taken) in [(10, false), (50, true)] {
            let (mut floods, mut ports) = (Floods::new(10, LIFE, LIFE, 1), ports(Way::Up));
            let header = broadcast(Kind::Other);
            floods.note(&ports, PortId(0), &header, Time::ZERO).unwrap();
            ports.set_up(PortId(0), false, Time::ZERO, &mut crate::Actions::default());
            let at = Time::ZERO + Duration::from_ms(ms);
            assert_eq!(floods.note(&ports, PortId(1), &header, at).is_ok(), taken, "after {ms} ms");
        }
    }

    #[test]
    fn a_broadcast_of_a_host_that_moved_is_no_late_copy_but_one_that_went_round_a_wire_is() {
        for (way, ms, taken) in
            [(Way::Host, 0, false), (Way::Host, 49, false), (Way::Host, 50, true), (Way::Up, 500, false)]
        {
            let (mut floods, ports) = (Floods::new(10, LIFE, LIFE, 1), ports(way));
            let header = broadcast(Kind::ArpRequest);
            floods.note(&ports, PortId(0), &header, Time::ZERO).unwrap();
            let at = Time::ZERO + Duration::from_ms(ms);
            assert_eq!(floods.note(&ports, PortId(1), &header, at).is_ok(), taken, "{way:?} after {ms} ms");
        }
    }

    #[test]
    fn a_copy_on_the_port_that_a_flood_has_left_goes_on_and_holds_that_port_50_ms_longer_at_most() {
        let (mut floods, ports) = (Floods::new(10, LIFE, LIFE, 1), ports(Way::Up));
        let to = Mac::from_bits(1);
        let header = Header { dst: to, ..broadcast(Kind::Other) };
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let note = |floods: &mut Floods, port, ms| floods.note(&ports, PortId(port), &header, at(ms));
        assert_eq!(note(&mut floods, 0, 0), Ok(()));
        floods.reroot_unknown([header.src, to], PortId(1), at(1));
        assert_eq!(note(&mut floods, 0, 2), Ok(()), "an old copy, from the same port as before");
        assert_eq!(
            note(&mut floods, 1, 51),
            Err(DropReason::LateCopy),
            "other copies of the same frame are late"
        );
        assert_eq!(note(&mut floods, 1, 52), Ok(()), "a frame from the other side");
        assert_eq!(
            note(&mut floods, 0, 1_051),
            Err(DropReason::LateCopy),
            "it holds its port for its whole lifetime"
        );
    }
}
