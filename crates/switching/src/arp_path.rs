//! ARP-Path: stations are located by racing their ARP Requests through the fabric.
//!
//! The first copy of a request locks its source to the ingress port; copies on other ports are late. The reply follows
//! the locks back and confirms them. Other broadcasts follow the same rule, separately from requests. A frame to an
//! unknown station starts a repair: Path Fail is flooded, the source's edge answers with a flooded Path Request for the
//! two stations, the destination's edge with a Path Reply (Ibáñez et al., IEEE Communications Letters 15(7), 2011).

use rand_core::RngCore;
use weft_units::{PortId, Time};
use weft_wire::Mac;

use crate::announcement::Announcement;
pub use crate::announcement::TOGETHER;
use crate::descriptor::{Descriptor, Explores, Need};
use crate::exploration::{self, Announce, Exploration, OnUnknown, Safeguards};
use crate::floods::Floods;
pub use crate::floods::{Flood, FloodKind, SETTLE};
use crate::hash::fold_product;
use crate::header::{Header, Kind};
use crate::hello::{Ports, Way};
use crate::port_limits::PortLimits;
use crate::soft_table::{SoftKey, SoftTable};
use crate::{Actions, Context, DropReason, Kept, KeptPort, Rewrite, Switch, TableEntries};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "arp_path",
    summary: "ARP-Path: each station is reached over the path on which a copy of its ARP Request arrived first",
    decides: "switches",
    observes: "the first copy of an ARP Request",
    source: "Ibáñez et al., IEEE Communications Letters 2011",
    params: Exploration::PARAMS,
    needs: &[Need::NewSwitch],
    explores: Some(Explores::Stations),
    linux_mode: Some("arp-path"),
    contradiction: exploration::contradiction,
    ..Descriptor::PLAIN
};

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
    stations: SoftTable<Mac, PortId>,
    pub(crate) floods: Floods,
    limits: PortLimits,
    /// Stations with a repair in progress.
    repairs: SoftTable<Mac, ()>,
    /// Until then, flow entries may still point to host ports that their stations have left.
    left_until: Time,
    /// Time of the last check for silent neighbours.
    looked: Time,
    announcement: Announcement,
    /// Ports that went down, and when to remove the entries on them.
    dead: Vec<(PortId, Time)>,
}

impl ArpPathSwitch {
    /// A switch with ports of these roles; `secret` must be unknown to outsiders.
    pub fn new(config: &Exploration, ways: Vec<Way>, secret: u64) -> Self {
        let size = config.stations;
        let Safeguards { broadcast_lock, repair, floods, .. } = config.safeguards;
        Self {
            limits: PortLimits::new(config, ways.len()),
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
    fn port_of(&self, station: Mac, now: Time) -> Option<PortId> {
        self.stations.get(&station, now).copied()
    }

    /// A request of `station` arrived on `port`.
    fn lock(&mut self, station: Mac, port: PortId, now: Time) {
        self.put(station, port, LOCKED, now);
    }

    /// A frame from `station`, or a reply, shows that it is behind `port`.
    fn learn(&mut self, station: Mac, port: PortId, now: Time) {
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
    fn confirm_station(&mut self, station: Mac, now: Time) {
        if let Some(port) = self.port_of(station, now) {
            self.learn(station, port, now);
        }
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

    /// Refreshes or learns the sender on a host port; returns whether the port accepts the frame.
    #[inline(always)]
    pub(crate) fn accept<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        let now = ctx.now();
        if self.ports.is_fabric(ingress, now) {
            return true;
        }
        match self.refuses(ingress, header, now) {
            Some(reason) => out.drop(reason),
            None if self.refresh_at_home(ingress, header, now) => return true,
            None if self.floods.has_come_round(&self.ports, ingress, header, now) => {
                out.drop(DropReason::LateCopy);
            }
            None => {
                self.appears(ctx, ingress, header, out);
                return true;
            }
        }
        false
    }

    /// Refreshes the entry of a host; returns whether it is known at the port on which it sends.
    #[inline]
    fn refresh_at_home(&mut self, ingress: PortId, header: &Header, now: Time) -> bool {
        self.stations.refresh(&header.src, now).is_some_and(|port| *port == ingress)
    }

    /// A station is new at a host port, or moved there. The switch announces it to the others, unless its own request
    /// does. If the port's limit of new stations or floods is reached, the station is not learnt and its next frame
    /// tries again: a station known here but not announced would be sought at its old port.
    #[cold]
    fn appears<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let (now, station) = (ctx.now(), header.src);
        if !self.limits.admit_station(ingress, now) {
            return;
        }
        let has_moved = self.port_of(station, now).is_some();
        let asks = header.kind == Kind::ArpRequest && header.dst.is_group();
        let announces = self.config.announce == Announce::On && (has_moved || !asks);
        if announces && !self.limits.admit_flood(ingress, now) {
            return;
        }
        self.learn(station, ingress, now);
        if announces {
            self.floods.reroot(station, ingress, now);
            let id = ctx.random().next_u32();
            self.announcement = Announcement { station, id, at: now };
            self.flood_own(ctx, &Header::about_path(Kind::PathRequest, station, station, id), out);
            out.emit_ahead();
        }
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

    /// The source of a reply is found, and confirms the requester, its destination.
    #[cold]
    fn on_answer(&mut self, ingress: PortId, header: &Header, now: Time) {
        if self.ports.is_fabric(ingress, now) && self.attached(header.src, now).is_none() {
            self.learn(header.src, ingress, now);
        }
        self.repairs.remove(&header.src);
        self.confirm_station(header.dst, now);
    }

    /// A frame to a group: learns its sender on a host port. If it is a request, its source is locked to the port of
    /// the first copy.
    #[cold]
    fn on_broadcast<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let fabric = self.ports.is_fabric(ingress, now);
        if !fabric && !self.limits.admit_flood(ingress, now) {
            return out.drop(DropReason::RateLimited);
        }
        if let Err(reason) = self.floods.note(&self.ports, ingress, header, now) {
            return out.drop(reason);
        }
        if !fabric && !self.refresh_at_home(ingress, header, now) {
            self.appears(ctx, ingress, header, out);
        }
        if fabric && header.kind == Kind::ArpRequest {
            self.lock(header.src, ingress, now);
        }
        self.ports.flood(ctx, &self.config, ingress, true, out);
    }

    /// A frame that another switch floods because its destination is unknown. Nothing is learnt from it: its flood may
    /// have started anywhere on the path, and entries pointing there could form a loop.
    #[cold]
    pub(crate) fn on_marked<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        if let Some(reason) = self.refuses(ingress, header, now) {
            return out.drop(reason);
        }
        if header.dst.is_group() || header.kind.is_control() {
            return out.drop(DropReason::Stale);
        }
        if let Err(reason) = self.floods.note(&self.ports, ingress, header, now) {
            return out.drop(reason);
        }
        if let Some(port) = self.attached(header.dst, now) {
            return out.deliver(port);
        }
        let own = self.attached(header.src.unmarked(), now);
        self.ports.flood_unknown(ctx, &self.config, Some(ingress), own, out);
    }

    /// A frame to one station; returns whether it was forwarded.
    #[inline]
    pub(crate) fn forward<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        let now = ctx.now();
        match self.stations.refresh(&header.dst, now).copied().filter(|&port| self.ports.is_known(port, now))
        {
            Some(port) if port == ingress && self.ports.is_host(port, now) => {
                out.drop(DropReason::SamePort);
                false
            }
            Some(port) if port == ingress => {
                // A flood and a reply that crossed each other can leave two switches pointing at each other: this entry
                // is wrong.
                self.stations.remove(&header.dst);
                self.miss(ctx, ingress, header, out);
                false
            }
            Some(port) if self.has_returned(ingress, port, header, now) => {
                // Entries of several floods with lost copies can form a loop.
                self.stations.remove(&header.dst);
                match self.config.on_unknown {
                    OnUnknown::Flood => self.miss(ctx, ingress, header, out),
                    OnUnknown::Repair => out.drop(DropReason::Returned),
                }
                false
            }
            Some(port) => {
                if self.ports.is_host(port, now) {
                    self.hear_from_afar(ingress, header.src, now);
                }
                out.send(port);
                true
            }
            None => {
                self.miss(ctx, ingress, header, out);
                false
            }
        }
    }

    /// The destination is unknown here.
    #[cold]
    fn miss<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let repairing = self.repairs.get(&header.dst, now).is_some();
        let floods = self.config.on_unknown == OnUnknown::Flood;
        if repairing && !floods {
            return out.drop(DropReason::Repairing);
        }
        if !self.limits.admit_flood(ingress, now) {
            return out.drop(DropReason::RateLimited);
        }
        // A repair started by another sender announced its own pair to other switches, not that floods of this pair
        // start here.
        let is_new = floods && self.flood_unknown(ctx, ingress, header, out);
        if !floods {
            out.drop(DropReason::NoRoute);
        }
        if !repairing {
            self.repairs.insert(header.dst, (), 0, now);
        } else if !is_new {
            return;
        }
        if self.attached(header.src, now).is_some() {
            let id = self.announcement.id_of(header.src, now).unwrap_or_else(|| ctx.random().next_u32());
            self.look_for(ctx, header.src, header.dst, id, out);
        } else {
            let id = ctx.random().next_u32();
            self.flood_own(ctx, &Header::about_path(Kind::PathFail, header.dst, header.src, id), out);
        }
    }

    /// Floods a frame to an unknown station. A frame from another switch also goes back there: that switch may have
    /// misdirected it. Returns whether this is the first such flood of the two stations here.
    fn flood_unknown<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        let now = ctx.now();
        let is_new = self.floods.note_unknown(&self.ports, ingress, header, now);
        out.rewrite(match out.rewriting() {
            Rewrite::Unwrap => Rewrite::UnwrapAndMark,
            _ => Rewrite::Mark,
        });
        let from = Some(ingress).filter(|&port| self.ports.is_host(port, now));
        let own = self.attached(header.src, now);
        self.ports.flood_unknown(ctx, &self.config, from, own, out);
        is_new
    }

    /// The source's edge searches for a path between two stations.
    #[cold]
    fn look_for<C: Context>(&mut self, ctx: &mut C, from: Mac, to: Mac, id: u32, out: &mut Actions) {
        if let Some(port) = self.attached(from, ctx.now()) {
            // This makes returning copies late.
            self.lock(from, port, ctx.now());
            self.flood_own(ctx, &Header::about_path(Kind::PathRequest, from, to, id), out);
        }
    }

    fn flood_own<C: Context>(&mut self, ctx: &mut C, header: &Header, out: &mut Actions) {
        if self.floods.note_own(&self.ports, header, ctx.now()).is_ok() {
            self.ports.flood_own(ctx, &self.config, header, out);
        }
    }

    /// Records a copy of a flooded frame about a path, or returns the reason to drop it.
    pub(crate) fn admit(&mut self, ingress: PortId, header: &Header, now: Time) -> Result<(), DropReason> {
        if header.hops() >= self.config.safeguards.hops {
            return Err(DropReason::TooManyHops);
        }
        self.floods.note(&self.ports, ingress, header, now)
    }

    /// Floods such a frame further.
    pub(crate) fn pass_on<C: Context>(&mut self, ctx: &mut C, ingress: PortId, out: &mut Actions) {
        out.rewrite(Rewrite::Hop);
        self.ports.flood(ctx, &self.config, ingress, false, out);
    }

    /// A frame about the path between two stations.
    #[cold]
    pub(crate) fn on_control<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        if header.is_about_flow() {
            // From a switch of another scheme: there are no flows here.
            return out.drop(DropReason::Stale);
        }
        match header.kind {
            Kind::PathRequest | Kind::PathFail if let Err(reason) = self.admit(ingress, header, now) => {
                out.drop(reason);
            }
            // Wrong entries for its destination led it back here.
            Kind::PathReply if self.attached(header.src, now).is_some() => out.drop(DropReason::Returned),
            Kind::PathReply => {
                self.on_answer(ingress, header, now);
                match self.port_of(header.dst, now) {
                    Some(port) if self.ports.is_host(port, now) => out.consume(),
                    Some(port) if port != ingress && self.ports.is_fabric(port, now) => {
                        out.rewrite(Rewrite::Hop);
                        out.send(port);
                    }
                    _ => out.drop(DropReason::Stale),
                }
            }
            Kind::PathRequest => {
                if self.floods.locates(&self.ports, ingress, header, now) {
                    self.lock(header.src, ingress, now);
                }
                if header.src == header.dst {
                    // The station is new behind that port, or has moved there.
                    self.floods.reroot(header.src, ingress, now);
                    return self.pass_on(ctx, ingress, out);
                }
                // The switch that sent a Path Fail keeps flooding frames of this pair until they have a path.
                if !self.floods.answers_fail(header, now) {
                    self.floods.reroot_unknown([header.src, header.dst], ingress, now);
                }
                if self.attached(header.dst, now).is_none() {
                    return self.pass_on(ctx, ingress, out);
                }
                out.consume();
                self.confirm_station(header.src, now);
                let id = header.exploration_id();
                out.emit(ingress, Header::about_path(Kind::PathReply, header.dst, header.src, id));
            }
            Kind::PathFail => {
                self.floods.reroot_unknown([header.dst, header.src], ingress, now);
                if self.attached(header.dst, now).is_none() {
                    return self.pass_on(ctx, ingress, out);
                }
                out.consume();
                self.look_for(ctx, header.dst, header.src, header.exploration_id(), out);
            }
            _ => out.drop(DropReason::Stale),
        }
    }

    /// A frame to a group, about addresses, or from a switch.
    #[cold]
    fn on_rare<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        if header.dst.is_link_local() && !header.kind.is_control() {
            return out.consume();
        }
        if header.src.is_group() && header.kind != Kind::Hello {
            return self.on_marked(ctx, ingress, header, out);
        }
        if (header.dst.is_group() || header.kind.is_control())
            && let Some(reason) = self.refuses(ingress, header, now)
        {
            return out.drop(reason);
        }
        match header.kind {
            Kind::Hello => {
                self.ports.heard(ingress, now);
                out.consume();
            }
            kind if kind.is_control() => self.on_control(ctx, ingress, header, out),
            _ if header.dst.is_group() => self.on_broadcast(ctx, ingress, header, out),
            _ if !self.accept(ctx, ingress, header, out) => {}
            kind => {
                if kind == Kind::ArpReply {
                    self.on_answer(ingress, header, now);
                }
                self.forward(ctx, ingress, header, out);
            }
        }
    }

    /// Sweeps tables, sends Hello messages, and returns newly dead ports: those with a silent neighbour, and those down
    /// for `sweep`. Removes the stations behind them.
    pub(crate) fn tend<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) -> Vec<PortId> {
        let now = ctx.now();
        let mut dead = self.ports.silent(self.looked, now);
        self.looked = now;
        let (due, later) = self.dead.drain(..).partition::<Vec<_>, _>(|(_, at)| *at <= now);
        self.dead = later;
        dead.extend(due.into_iter().map(|(port, _)| port).filter(|&port| !self.ports.is_up(port)));
        for &port in &dead {
            self.stations.retain(|_, &at| at != port);
        }
        self.stations.sweep(now);
        self.floods.sweep(now);
        self.repairs.sweep(now);
        self.ports.greet(now, out);
        dead
    }
}

impl Switch for ArpPathSwitch {
    #[inline(always)]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let groups = (header.dst.0[0] | header.src.0[0]) & 1 == 1;
        if !matches!(header.kind, Kind::Tcp | Kind::Other) || groups {
            return self.on_rare(ctx, ingress, header, out);
        }
        if self.accept(ctx, ingress, header, out) {
            self.forward(ctx, ingress, header, out);
        }
    }

    fn learn_station(&mut self, station: Mac, port: PortId, now: Time) {
        self.learn(station, port, now);
    }

    fn port_changed<C: Context>(&mut self, ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        self.ports.set_up(port, up, ctx.now(), out);
        self.dead.retain(|(dead, _)| *dead != port);
        if !up {
            self.dead.push((port, ctx.now() + self.config.sweep));
        }
    }

    fn next_deadline(&self) -> Time {
        self.dead.iter().map(|(_, at)| *at).min().unwrap_or(Time::MAX).min(self.ports.next_hello())
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        self.tend(ctx, out);
    }

    fn kept(&self, header: &Header, now: Time) -> Kept {
        let entry = |station: Mac| {
            let port = self.port_of(station, now)?;
            Some(KeptPort { port, confirmed: self.stations.class(&station, now) != Some(LOCKED) })
        };
        Kept { source: entry(header.src), destination: entry(header.dst) }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        self.stations.sweep(now);
        TableEntries { stations: self.stations.len(), ..TableEntries::default() }
    }
}
