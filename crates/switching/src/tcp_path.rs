//! TCP-Path: each TCP connection takes the path that a copy of its SYN found fastest.
//!
//! The source's edge wraps the SYN in a Path Request and floods it; every switch locks the flow to the port
//! of the first copy; the destination's edge unwraps it. The SYN+ACK returns as a Path Reply over the locks,
//! confirms them and creates the entries of the other direction, so that both use one path (Alvarez-Horcajo
//! et al., "Improving multipath routing of TCP flows by network exploration", IEEE Access 2019, section III).
//! Everything else, including flows without an entry, uses the default forwarding
//! ([`crate::default_forwarding`]): ARP-Path unless the scenario names another.
//! `recovery.rs` handles broken paths.

use std::sync::Arc;

use weft_units::{Duration, PortId, Time, params};

use crate::arp_path::ArpPathSwitch;
use crate::default_forwarding::{DefaultForwarding, DefaultSwitch};
use crate::descriptor::{Descriptor, Explores, Need};
use crate::exploration::{self, Exploration, OnMiss, WhileBroken};
use crate::header::{Header, Kind};
use crate::hello::{Hosts, Way};
use crate::over::Under;
use crate::path_table::{
    CLOSING, CONFIRMED, FlowKey, LOCKED, PathEntry, PathTable, milliseconds, path_table,
};
use crate::rate_limit::RateLimit;
use crate::snooping::Membership;
use crate::{Actions, Context, DropReason, Forwarding, Kept, KeptPort, Rewrite, Switch, TableEntries};
use weft_wire::Mac;

params! {
    struct Config {
        /// scheme that forwards frames without a path of their own, with its defaults
        over: Under = Under::ArpPath;
        ..exploration: Exploration;
    }
}

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "tcp_path",
    summary: "TCP-Path: each TCP connection takes the path on which a copy of its SYN arrived first",
    decides: "switches",
    observes: "the first copy of a SYN",
    source: "Alvarez-Horcajo et al.",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    explores: Some(Explores::Connections),
    linux_mode: Some("tcp-path"),
    contradiction: exploration::contradiction,
    ..Descriptor::PLAIN
};

/// A TCP-Path switch.
pub struct TcpPathSwitch {
    /// Default forwarding.
    pub(crate) under: DefaultSwitch,
    pub(crate) paths: PathTable,
    limits: Vec<RateLimit>,
}

impl TcpPathSwitch {
    /// A switch with ports of these roles; `secret` must be unknown to outsiders.
    pub fn new(config: &Exploration, ways: Vec<Way>, secret: u64) -> Self {
        Self {
            limits: vec![RateLimit::new(config.rate, config.burst); ways.len()],
            paths: path_table(config, secret),
            under: DefaultSwitch {
                base: ArpPathSwitch::new(config, ways, secret),
                over: DefaultForwarding::default(),
            },
        }
    }

    /// This switch over another default forwarding.
    pub fn over(mut self, over: DefaultForwarding) -> Self {
        self.under.over = over;
        self
    }

    /// Takes a token of the explorations that the hosts of `port` may start, if any is left.
    pub(crate) fn admit_exploration(&mut self, port: PortId, now: Time) -> bool {
        self.limits.get_mut(port.index()).is_some_and(|limit| limit.take(now))
    }

    /// The roles of ports, remembered floods, and the tables of ARP-Path.
    pub const fn base(&self) -> &ArpPathSwitch {
        &self.under.base
    }

    /// A frame says this about groups ([`ArpPathSwitch::hear_membership`]).
    pub fn hear_membership(&mut self, ingress: PortId, header: &Header, message: Membership, now: Time) {
        self.under.base.hear_membership(ingress, header, message, now);
    }

    /// The flows known at `now`: entry, class and expiry time of each, in no particular order.
    pub fn paths(&self, now: Time) -> impl Iterator<Item = (FlowKey, PathEntry, u8, Time)> {
        self.paths.entries(now).map(|(key, entry, class, expiry)| (*key, *entry, class, expiry))
    }

    /// A SYN from a host of this switch.
    #[cold]
    fn on_syn<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let (now, id) = (ctx.now(), header.exploration_id());
        let key = FlowKey::to_source(header);
        // No exploration for a station on this switch. A frame to an unknown station is flooded unwrapped: it
        // reaches the station even if its own switch has forgotten it.
        if self.under.attached(header.dst, now).is_some() || self.under.is_to_be_flooded(header.dst, now) {
            self.under.forward(ctx, ingress, header, out);
            return;
        }
        let known = self.paths.get(&key, now).copied();
        let locked = self.paths.class(&key, now) == Some(LOCKED);
        match known {
            // A retransmission, on a path that works.
            Some(entry) if entry.id == id && entry.port == ingress && !locked => {
                return self.on_data(ctx, ingress, header, out);
            }
            // A retransmission, since no reply came: perhaps no switch knows the destination. Every other
            // time, try the default forwarding.
            Some(entry) if entry.id == id && entry.port == ingress && entry.explored => {
                if let Some(entry) = self.paths.refresh(&key, now) {
                    entry.explored = false;
                }
                self.under.forward(ctx, ingress, header, out);
                return;
            }
            _ => {}
        }
        let request = about(Kind::PathRequest, key, id);
        if !self.admit_exploration(ingress, now)
            || self.under.base.floods.note_own(&self.under.base.ports, &request, now).is_err()
        {
            self.under.forward(ctx, ingress, header, out);
            return;
        }
        self.lock(key, ingress, id, now);
        out.rewrite(Rewrite::Wrap(Kind::PathRequest, id));
        self.under.base.ports.flood(ctx, &self.under.base.config, ingress, Hosts::None, out);
    }

    /// Locks a flow to the port of its request's first copy.
    pub(crate) fn lock(&mut self, key: FlowKey, port: PortId, id: u32, now: Time) {
        let entry = PathEntry { port, initiator: true, explored: true, id, made: milliseconds(now) };
        self.paths.insert(key, entry, LOCKED, now);
    }

    /// A Path Request or a Recovery Request from another switch.
    fn on_request<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let (now, id) = (ctx.now(), header.exploration_id());
        let key = FlowKey::to_source(header);
        if let Err(reason) = self.under.base.admit(ingress, header, now) {
            return out.drop(reason);
        }
        self.lock(key, ingress, id, now);
        let Some(port) = self.under.attached(header.dst, now) else {
            return self.under.base.pass_on(ctx, ingress, out);
        };
        self.under.base.hear_from_afar(ingress, header.src, now);
        if header.kind == Kind::PathRequest {
            out.rewrite(Rewrite::Unwrap);
            return out.send(port);
        }
        out.consume();
        self.confirm(key, port, id, now);
        out.emit(ingress, about(Kind::RecoveryReply, key.reversed(), id));
    }

    /// Confirms the entry of `key` and creates that of the other direction, which leads to `port`.
    ///
    /// After a simultaneous open (RFC 9293, section 3.5) both ends have explored, and one path must yield:
    /// that of the end with the higher address is kept only if the other has none.
    fn confirm(&mut self, key: FlowKey, port: PortId, id: u32, now: Time) {
        let Some(entry) = self.paths.reclass(&key, CONFIRMED, now) else { return };
        let initiator = entry.initiator;
        let other = key.reversed();
        let theirs = self.paths.get(&other, now).copied();
        if initiator && theirs.is_some_and(|theirs| theirs.initiator && theirs.id != id) && other < key {
            return;
        }
        let entry = PathEntry { port, initiator: false, explored: false, id, made: milliseconds(now) };
        self.paths.insert(other, entry, CONFIRMED, now);
    }

    /// A SYN+ACK from a host of this switch.
    #[cold]
    fn on_syn_ack<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let key = FlowKey::to_destination(header);
        match self.paths.get(&key, now).copied() {
            Some(entry) if self.under.base.ports.is_fabric(entry.port, now) => {
                self.confirm(key, ingress, entry.id, now);
                out.rewrite(Rewrite::Wrap(Kind::PathReply, entry.id));
                out.send(entry.port);
            }
            _ => {
                self.under.forward(ctx, ingress, header, out);
            }
        }
    }

    /// A Path Reply or a Recovery Reply from another switch.
    fn on_path_reply<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let (now, id) = (ctx.now(), header.exploration_id());
        let key = FlowKey::to_destination(header);
        let wraps = header.kind == Kind::PathReply;
        let entry = self.paths.get(&key, now).copied().filter(|entry| entry.id == id);
        match entry {
            Some(entry) if entry.port == ingress => out.drop(DropReason::SamePort),
            Some(entry) if self.under.base.ports.is_known(entry.port, now) => {
                self.confirm(key, ingress, id, now);
                if self.under.base.ports.is_fabric(entry.port, now) {
                    out.rewrite(Rewrite::Hop);
                    out.send(entry.port);
                } else if wraps {
                    out.rewrite(Rewrite::Unwrap);
                    out.send(entry.port);
                } else {
                    out.consume();
                }
            }
            // The path is gone or was replaced by another exploration: the wrapped frame is still forwarded.
            _ if wraps => {
                out.rewrite(Rewrite::Unwrap);
                self.under.forward(ctx, ingress, header, out);
            }
            _ => out.drop(DropReason::Stale),
        }
    }

    /// Any other segment.
    #[inline(always)]
    pub(crate) fn on_data<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        let key = FlowKey::to_destination(header);
        let Some(entry) = self.paths.refresh(&key, now).copied() else {
            return self.on_miss(ctx, ingress, header, out);
        };
        if !self.under.base.ports.is_known(entry.port, now) {
            self.break_path(ctx, key, out);
            if self.under.base.config.while_broken == WhileBroken::Drop {
                return out.drop(DropReason::LinkDown);
            }
            self.under.forward(ctx, ingress, header, out);
            return;
        }
        if entry.port == ingress {
            self.under.forward(ctx, ingress, header, out);
            return;
        }
        if self.under.base.has_moved_from(header.dst, entry.port, now) {
            self.break_path(ctx, key, out);
            self.under.forward(ctx, ingress, header, out);
            return;
        }
        if self.under.has_returned(ingress, entry.port, header, now) {
            self.paths.remove(&key);
            return out.drop(DropReason::Returned);
        }
        out.send(entry.port);
        if header.tcp_flags & (Header::FIN | Header::RST) != 0 {
            self.paths.reclass(&key, CLOSING, now);
            self.paths.reclass(&key.reversed(), CLOSING, now);
        } else if self.under.base.config.refresh_after > Duration::ZERO {
            self.refresh_path(ctx, ingress, key.reversed(), out);
        }
    }

    /// A segment of a flow without an entry.
    fn on_miss<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let key = FlowKey::to_destination(header);
        let fabric = self.under.base.ports.is_fabric(ingress, ctx.now());
        if self.under.base.config.on_miss == OnMiss::Recover && !fabric {
            self.recover_for_host(ctx, key.reversed(), ingress, out);
        }
        let sent = self.under.forward(ctx, ingress, header, out);
        if fabric && !sent {
            // The entry was evicted here, and the default forwarding uses another path: stop the previous hop
            // from sending the flow here.
            out.emit(ingress, about(Kind::PathFail, key, 0));
        }
    }

    /// A TCP segment.
    #[inline(always)]
    pub(crate) fn on_tcp<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        if header.src.is_group() {
            return self.under.base.on_marked(ctx, ingress, header, out);
        }
        if !self.under.accept(ctx, ingress, header, out) {
            return;
        }
        if !self.under.base.ports.is_fabric(ingress, now) {
            match header.tcp_flags & (Header::SYN | Header::ACK | Header::RST) {
                Header::SYN => return self.on_syn(ctx, ingress, header, out),
                flags if flags == Header::SYN | Header::ACK => {
                    return self.on_syn_ack(ctx, ingress, header, out);
                }
                _ => {}
            }
        }
        self.on_data(ctx, ingress, header, out);
    }

    /// Anything that is not a TCP segment.
    #[cold]
    pub(crate) fn on_other<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let of_flow = header.kind.is_control() && header.kind != Kind::Hello && header.is_about_flow();
        if !of_flow || header.src.is_group() {
            return self.under.receive(ctx, ingress, header, out);
        }
        if let Some(reason) = self.under.base.refuses(ingress, header, ctx.now()) {
            return out.drop(reason);
        }
        match header.kind {
            Kind::PathRequest | Kind::RecoveryRequest => self.on_request(ctx, ingress, header, out),
            Kind::PathReply | Kind::RecoveryReply => self.on_path_reply(ctx, ingress, header, out),
            _ => self.on_path_fail(ctx, ingress, header, out),
        }
    }
}

/// A frame made by a switch about the flow from `key.host` to its peer.
pub(crate) fn about(kind: Kind, key: FlowKey, id: u32) -> Header {
    let (from, to) = (key.host, key.peer);
    let header = Header::about_path(kind, from.station(), to.station(), id);
    Header { sport: from.port(), dport: to.port(), ..header }
}

impl Switch for TcpPathSwitch {
    #[inline(always)]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        match header.kind {
            Kind::Tcp => self.on_tcp(ctx, ingress, header, out),
            _ => self.on_other(ctx, ingress, header, out),
        }
    }

    fn learn_station(&mut self, station: Mac, port: PortId, now: Time) {
        self.under.learn_station(station, port, now);
    }

    fn port_changed<C: Context>(&mut self, ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        self.under.base.port_changed(ctx, port, up, out);
        if !up && let Some(limit) = self.limits.get_mut(port.index()) {
            limit.refill();
        }
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.under.reroute(routes);
    }

    fn next_deadline(&self) -> Time {
        self.under.base.next_deadline()
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        for port in self.under.base.tend(ctx, out) {
            self.break_port(ctx, port, out);
        }
        for port in self.under.base.ports.leave(ctx.now()) {
            self.leave_port(ctx, port, out);
        }
        self.paths.sweep(ctx.now());
    }

    fn kept(&self, header: &Header, now: Time) -> Kept {
        let entry = |key: FlowKey| {
            let port = self.paths.get(&key, now)?.port;
            Some(KeptPort { port, confirmed: self.paths.class(&key, now) != Some(LOCKED) })
        };
        let key = FlowKey::to_source(header);
        Kept { source: entry(key), destination: entry(key.reversed()) }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        self.paths.sweep(now);
        let stations = self.under.station_entries(now);
        TableEntries { flows: self.paths.len(), stations, ..TableEntries::default() }
    }
}
