//! [`RoutedSwitch`]: routes for stations that have one, ARP-Path for all others.
//!
//! Used by Linux switches with routes (modes `ecmp` and `spray`): unconfigured hosts are learnt at their own switch,
//! announced and explored, and have one path; hosts with routes have many. Simulated fabrics have a route to every
//! host and do not need this.

use weft_units::{PortId, Time};

use crate::arp_path::ArpPathSwitch;
use crate::header::{Header, Kind};
use crate::snooping::Membership;
use crate::{Actions, Context, DropReason, Switch, TableEntries};

/// The result of a route lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hop {
    /// The station has no route.
    Unrouted,
    /// No port of the route is usable.
    Gone,
    /// Forward by this port.
    Port(PortId),
}

/// Selects the next hops of stations.
pub trait Routes: Send {
    /// The next hop of a unicast frame.
    fn hop<C: Context>(&mut self, ctx: &mut C, header: &Header) -> Hop;
}

/// A routed switch.
pub struct RoutedSwitch<R> {
    base: ArpPathSwitch,
    routes: R,
}

impl<R: Routes> RoutedSwitch<R> {
    /// A switch with `routes`, and `base` for everything else.
    pub const fn new(base: ArpPathSwitch, routes: R) -> Self {
        Self { base, routes }
    }

    /// The forwarding for stations without a route.
    pub const fn base(&self) -> &ArpPathSwitch {
        &self.base
    }

    /// A frame says this about groups ([`ArpPathSwitch::hear_membership`]).
    pub fn hear_membership(&mut self, ingress: PortId, header: &Header, message: Membership, now: Time) {
        self.base.hear_membership(ingress, header, message, now);
    }

    /// The routes.
    pub const fn routes_mut(&mut self) -> &mut R {
        &mut self.routes
    }
}

impl<R: Routes> Switch for RoutedSwitch<R> {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let plain = matches!(header.kind, Kind::Tcp | Kind::Other | Kind::ArpRequest | Kind::ArpReply);
        if !plain || header.dst.is_group() || header.src.is_group() {
            return self.base.receive(ctx, ingress, header, out);
        }
        let hop = self.routes.hop(ctx, header);
        if hop == Hop::Unrouted {
            return self.base.receive(ctx, ingress, header, out);
        }
        if !self.base.accept(ctx, ingress, header, out) {
            return;
        }
        match hop {
            Hop::Port(port) if port == ingress => out.drop(DropReason::SamePort),
            Hop::Port(port) => out.send(port),
            Hop::Gone | Hop::Unrouted => out.drop(DropReason::NoRoute),
        }
    }

    fn port_changed<C: Context>(&mut self, ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        self.base.port_changed(ctx, port, up, out);
    }

    fn next_deadline(&self) -> Time {
        self.base.next_deadline()
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        self.base.on_deadline(ctx, out);
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        self.base.table_entries(now)
    }
}
