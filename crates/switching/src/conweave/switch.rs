//! [`ConWeaveSwitch`]: one switch, at either end of flows or between.

use std::sync::Arc;

use weft_units::{Duration, PortId, Time};

use super::arrivals::{Arrivals, PacketAction};
use super::departures::Departures;
use super::flow_key::FlowKey;
use super::overlay::{Control, Request, Tag};
use super::paths::Paths;
use super::queues::Queues;
use crate::hash::{mix64, pick};
use crate::header::Kind;
use crate::tiers::Way;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries};

/// A ConWeave switch.
pub struct ConWeaveSwitch {
    pub(super) next_hops: NextHops,
    /// The direction of each port.
    pub(super) ways: Vec<Way>,
    /// Its choice on the way up, by place in a path; beyond, it chooses by the hash of the path.
    pub(super) level: usize,
    pub(super) tor: Option<Tor>,
    pub(super) key: u64,
}

/// The state of a switch with hosts.
pub(super) struct Tor {
    /// The ToR switch of each host.
    pub(super) tor_of: Arc<[u16]>,
    pub(super) paths: Paths,
    pub(super) departures: Departures,
    pub(super) arrivals: Arrivals,
    pub(super) queues: Queues,
    pub(super) pause: Duration,
    /// Whether packets wait outside of buffers and accounts.
    pub(super) aside: bool,
}

/// Chooses one of `ports`, which must not be empty.
#[inline]
fn hashed(ports: &[PortId], hash: u32, key: u64) -> PortId {
    if let [port] = *ports { port } else { ports[pick(mix64(u64::from(hash) ^ key), ports.len())] }
}

impl Tor {
    /// A packet of another switch's host to a host behind `port`.
    fn arrives(&mut self, header: &Header, port: PortId, now: Time, back: PortId, out: &mut Actions) {
        let Some(tag) = Tag::from_bytes(header.overlay) else { return out.send(port) };
        let flow = FlowKey(header.flow_hash);
        let action = self.arrivals.next(flow, tag, now, &mut self.queues, port, out);
        match action {
            PacketAction::Leaves => out.send(port),
            PacketAction::Waits(slot) if self.aside => out.hold_aside(slot),
            PacketAction::Waits(slot) => out.hold(slot),
            PacketAction::LeavesBefore(place) => {
                out.send(port);
                self.queues.close(place, out);
            }
        }
        let mut tell = |control: Control| out.emit(back, control.about(header));
        if header.traffic_class & Header::CE == Header::CE {
            tell(Control::Notify(tag.path));
        }
        match tag.request {
            Request::Nothing => {}
            Request::RoundTrip => tell(Control::Reply(tag.epoch)),
            Request::Clear => tell(Control::Clear(tag.epoch)),
        }
    }

    /// Handles a control message to this switch as the source's switch.
    fn on_control(&mut self, header: &Header, now: Time) {
        let flow = FlowKey(header.flow_hash);
        let from = header.source().and_then(|host| self.tor_of.get(host.index()));
        match (Control::from_bytes(header.overlay), from) {
            (Some(Control::Reply(epoch)), _) => self.departures.replied(flow, epoch, now),
            (Some(Control::Clear(epoch)), _) => self.departures.cleared(flow, epoch, now),
            (Some(Control::Notify(path)), Some(from)) => self.paths.avoid(*from, path, now + self.pause),
            _ => {}
        }
    }
}

impl ConWeaveSwitch {
    fn way(&self, port: PortId) -> Option<Way> {
        self.ways.get(port.index()).copied()
    }

    /// The port for a packet that is under way between switches.
    #[inline]
    fn onward(&self, header: &Header, ports: &[PortId]) -> PortId {
        let (Some(tag), [first, _, ..]) = (Tag::from_bytes(header.overlay), ports) else {
            return hashed(ports, header.path_hash(), self.key);
        };
        match tag.path.get(self.level) {
            Some(choice) if self.way(*first) == Some(Way::Up) => ports[usize::from(*choice) % ports.len()],
            _ => hashed(ports, header.path_hash() ^ u32::from(u16::from_be_bytes(tag.path)), self.key),
        }
    }
}

impl Switch for ConWeaveSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let Some(host) = header.destination() else { return out.drop(DropReason::NoRoute) };
        let ports = self.next_hops.all(host);
        let Some(&first) = ports.first() else { return out.drop(DropReason::NoRoute) };
        let is_from_host = self.way(ingress) == Some(Way::Host);
        let is_last = self.way(first) == Some(Way::Host);
        let is_control = header.kind == Kind::Probe;
        if is_control && is_from_host {
            return out.drop(DropReason::Untrusted);
        }
        let Some(tor) = self.tor.as_mut().filter(|_| is_from_host != is_last) else {
            return out.send(self.onward(header, ports));
        };
        let by_hash = hashed(ports, header.path_hash(), self.key);
        if is_last && is_control {
            tor.on_control(header, now);
            return out.consume();
        }
        if is_last {
            let source = header.source().map_or(&[][..], |host| self.next_hops.all(host));
            let Some(_) = source.first() else { return out.send(by_hash) };
            return tor.arrives(header, by_hash, now, hashed(source, header.flow_hash, self.key), out);
        }
        if header.payload == 0 {
            return out.send_with_overlay(by_hash, [0; 8]);
        }
        let to = tor.tor_of[host.index()];
        let idle = tor.paths.idle(to, header.ip_bytes);
        let paths = &tor.paths;
        let mut draw = |now| paths.draw(to, now, ctx.random());
        let tag = tor.departures.next(FlowKey(header.flow_hash), now, idle, &mut draw);
        out.send_with_overlay(ports[usize::from(tag.path[0]) % ports.len()], tag.to_bytes());
    }

    fn next_deadline(&self) -> Time {
        self.tor.as_ref().map_or(Time::MAX, |tor| tor.queues.next_due())
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        let Some(tor) = &mut self.tor else { return };
        for place in tor.queues.due(ctx.now()) {
            if let Some(queue) = tor.queues.close(place, out) {
                tor.arrivals.gave_up(&queue, ctx.now());
            }
        }
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        if let Some(tor) = &mut self.tor {
            tor.paths.renew(routes);
        }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        let flows = self.tor.as_mut().map_or(0, |tor| tor.departures.len(now) + tor.arrivals.len(now));
        TableEntries { flows, ..TableEntries::default() }
    }
}
