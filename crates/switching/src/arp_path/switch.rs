//! [`ArpPathSwitch`]: the ports, stations, floods and repairs that a switch remembers.

use weft_units::{PortId, Time};
use weft_wire::Mac;

use crate::announcement::Announcement;
use crate::exploration::{Exploration, OnUnknown, Safeguards};
use crate::floods::{Flood, Floods};
use crate::hash::fold_product;
use crate::header::{Header, Kind};
use crate::hello::{Ports, Way};
use crate::port_limits::PortLimits;
use crate::snooping::{Membership, Snooping};
use crate::soft_table::{SoftKey, SoftTable};
use crate::{Actions, Context, DropReason};

/// Class of a station that a request locked to a port.
pub const LOCKED: u8 = 0;
/// Class of a station confirmed by a reply from or to it.
pub const LEARNT: u8 = 1;
/// Class of a station on a host port of this switch. Only this switch can announce it to the others, so the entry
/// outlives the ARP caches of other hosts.
pub const ATTACHED: u8 = 2;

impl SoftKey for Mac {
    #[inline]
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        fold_product(self.bits() ^ secrets[0], secrets[1])
    }
}

/// An ARP-Path switch.
pub struct ArpPathSwitch {
    pub(crate) config: Exploration,
    pub(crate) ports: Ports,
    /// The port of each station.
    pub(super) stations: SoftTable<Mac, PortId>,
    pub(crate) floods: Floods,
    pub(super) limits: PortLimits,
    pub(super) snooping: Snooping,
    /// Stations with a repair in progress.
    pub(super) repairs: SoftTable<Mac, ()>,
    /// Until then, flow entries may still point to host ports that their stations have left.
    left_until: Time,
    /// Time of the last check for silent neighbours.
    looked: Time,
    pub(super) announcement: Announcement,
    /// Ports that went down, and when to remove the entries on them.
    pub(super) dead: Vec<(PortId, Time)>,
}

impl ArpPathSwitch {
    /// A switch with ports of these roles; `secret` must be unknown to outsiders.
    pub fn new(config: &Exploration, ways: Vec<Way>, secret: u64) -> Self {
        let size = config.stations;
        let Safeguards { broadcast_lock, repair, floods, .. } = config.safeguards;
        Self {
            limits: PortLimits::new(config, ways.len()),
            snooping: Snooping::new(config, secret),
            ports: Ports::new(ways, config),
            stations: SoftTable::new(size, &[config.lock, config.learnt, config.attached], secret),
            floods: Floods::new(floods, config.lock, broadcast_lock, secret),
            repairs: SoftTable::new(size, &[repair], secret),
            left_until: Time::ZERO,
            looked: Time::ZERO,
            announcement: Announcement::default(),
            dead: Vec::new(),
            config: config.clone(),
        }
    }

    /// The roles of the ports.
    pub const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The stations known at `now`: port, class and expiry time of each, in no particular order.
    pub fn stations(&self, now: Time) -> impl Iterator<Item = (Mac, PortId, u8, Time)> {
        self.stations.entries(now).map(|(station, port, class, expiry)| (*station, *port, class, expiry))
    }

    /// The stations with a repair in progress at `now`, and its end.
    pub fn repairs(&self, now: Time) -> impl Iterator<Item = (Mac, Time)> {
        self.repairs.entries(now).map(|(station, .., expiry)| (*station, expiry))
    }

    /// The floods remembered at `now`: the port of the first copy (65535 for a flood that started here) and the expiry
    /// time.
    pub fn floods(&self, now: Time) -> impl Iterator<Item = (Flood, PortId, Time)> {
        self.floods.entries(now)
    }

    /// Members and routers of groups.
    pub const fn snooping(&self) -> &Snooping {
        &self.snooping
    }

    /// A frame says this about groups; called before [`Switch::receive`](crate::Switch::receive).
    pub fn hear_membership(&mut self, ingress: PortId, header: &Header, message: Membership, now: Time) {
        let carries = header.kind == Kind::Other && header.dst.is_group() && !header.dst.is_link_local();
        if carries && !header.src.is_group() && self.refuses(ingress, header, now).is_none() {
            self.snooping.hear(ingress, message, now);
        }
    }

    /// The port of `station`, if it is a host port of this switch.
    pub(crate) fn attached(&self, station: Mac, now: Time) -> Option<PortId> {
        self.port_of(station, now).filter(|&port| self.ports.is_host(port, now))
    }

    /// Whether a frame to `station` would be flooded.
    pub(crate) fn is_to_be_flooded(&self, station: Mac, now: Time) -> bool {
        let known = self.port_of(station, now).is_some_and(|port| self.ports.is_known(port, now));
        self.config.on_unknown == OnUnknown::Flood && !known
    }

    /// Whether a frame between switches has looped: its source is attached to this switch.
    #[inline(always)]
    pub(crate) fn has_returned(&self, ingress: PortId, egress: PortId, header: &Header, now: Time) -> bool {
        self.ports.may_have_hosts()
            && self.ports.is_fabric(ingress, now)
            && self.ports.is_fabric(egress, now)
            && self.attached(header.src, now).is_some()
    }

    #[inline]
    pub(super) fn port_of(&self, station: Mac, now: Time) -> Option<PortId> {
        self.stations.get(&station, now).copied()
    }

    /// A request of `station` arrived on `port`.
    pub(super) fn lock(&mut self, station: Mac, port: PortId, now: Time) {
        self.put(station, port, LOCKED, now);
    }

    /// A frame from `station`, or a reply, shows that it is behind `port`.
    pub(super) fn learn(&mut self, station: Mac, port: PortId, now: Time) {
        self.put(station, port, LEARNT, now);
    }

    /// Stores `station` in `class`, or as attached if `port` is a host port.
    fn put(&mut self, station: Mac, port: PortId, class: u8, now: Time) {
        if self.ports.may_have_hosts() && self.attached(station, now).is_some_and(|known| known != port) {
            self.note_departure(now);
        }
        let class = if self.ports.is_host(port, now) { ATTACHED } else { class };
        self.stations.insert(station, port, class, now);
    }

    /// A reply to `station` confirms its entry.
    pub(super) fn confirm_station(&mut self, station: Mac, now: Time) {
        if let Some(port) = self.port_of(station, now) {
            self.learn(station, port, now);
        }
    }

    /// Refreshes the entry of a host; returns whether it is known at the port on which it sends.
    #[inline]
    pub(super) fn refresh_at_home(&mut self, ingress: PortId, header: &Header, now: Time) -> bool {
        self.stations.refresh(&header.src, now).is_some_and(|port| *port == ingress)
    }

    /// A frame to a host of this switch came from another switch, so its source is not on a local host port, whoever
    /// used its address there.
    #[inline]
    pub(crate) fn hear_from_afar(&mut self, ingress: PortId, source: Mac, now: Time) {
        if self.ports.is_fabric(ingress, now) && self.attached(source, now).is_some() {
            self.stations.remove(&source);
            self.note_departure(now);
        }
    }

    /// A station left a host port: its stale flow entries are checked for as long as they may live.
    fn note_departure(&mut self, now: Time) {
        self.left_until = now + self.config.confirmed;
    }

    /// Whether `station` left the host port `port` since the entry of a flow to it was made.
    #[inline(always)]
    pub(crate) fn has_moved_from(&self, station: Mac, port: PortId, now: Time) -> bool {
        now < self.left_until
            && self.ports.is_host(port, now)
            && self.port_of(station, now).is_some_and(|known| known != port)
    }

    /// Why a port must not accept a frame, if so: every port accepts a Hello, only fabric ports accept other control
    /// frames.
    #[inline]
    pub(crate) fn refuses(&self, ingress: PortId, header: &Header, now: Time) -> Option<DropReason> {
        if header.kind == Kind::Hello || self.ports.is_fabric(ingress, now) {
            return None;
        }
        // A group address or zero is not a valid source (IEEE 802, 8.2): bridges drop such frames too.
        let is_no_station = header.src.is_group() || header.src == Mac([0; 6]);
        match (header.kind.is_control() || is_no_station, self.ports.is_host(ingress, now)) {
            (true, _) => Some(DropReason::Untrusted),
            (false, false) => Some(DropReason::UnknownPort),
            (false, true) => None,
        }
    }

    /// Sweeps tables, sends Hello messages, and returns newly dead ports: those with a silent neighbour or one that does not
    /// hear this switch, and those down for `sweep`. Removes the stations behind them.
    pub(crate) fn tend<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) -> Vec<PortId> {
        let now = ctx.now();
        let mut dead = self.ports.silent(self.looked, now);
        self.looked = now;
        let (due, later) = self.dead.drain(..).partition::<Vec<_>, _>(|(_, at)| *at <= now);
        self.dead = later;
        dead.extend(due.into_iter().map(|(port, _)| port));
        for &port in &dead {
            self.stations.retain(|_, &at| at != port);
        }
        self.stations.sweep(now);
        self.floods.sweep(now);
        self.snooping.sweep(now);
        self.repairs.sweep(now);
        self.ports.greet(now, out);
        dead
    }
}
