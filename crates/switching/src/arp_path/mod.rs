//! ARP-Path: stations are located by racing their ARP Requests through the fabric.
//!
//! The first copy of a request locks its source to the ingress port; copies on other ports are late. The reply follows
//! the locks back and confirms them. Other broadcasts follow the same rule, separately from requests. A frame to an
//! unknown station starts a repair: Path Fail is flooded, the source's edge answers with a flooded Path Request for the
//! two stations, the destination's edge with a Path Reply (Ibáñez et al., IEEE Communications Letters 15(7), 2011).

mod control;
mod hosts;
mod switch;

use weft_units::{PortId, Time};
use weft_wire::Mac;

pub use self::switch::{ATTACHED, ArpPathSwitch, LEARNT, LOCKED};
pub use crate::announcement::TOGETHER;
use crate::descriptor::{Descriptor, Explores, Need};
use crate::exploration::{self, Exploration};
pub use crate::floods::{Flood, FloodKind, SETTLE};
use crate::header::{Header, Kind};
use crate::hello_loss::HelloCount;
use crate::{Actions, Context, Kept, KeptPort, Reception, Switch, TableEntries};

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

impl ArpPathSwitch {
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
                self.ports.hear_count(ingress, HelloCount::of(header), now);
                if self.ports.heard(ingress, Reception::of(header), now, out) {
                    self.dead.push((ingress, now));
                }
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
            self.limits.refill(port);
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
