//! Frames of hosts: they locate their source, and are forwarded, flooded, or start a repair.

use rand_core::RngCore;
use weft_units::{PortId, Time};

use super::switch::ArpPathSwitch;
use crate::announcement::Announcement;
use crate::exploration::{Announce, OnUnknown};
use crate::header::{Header, Kind};
use crate::hello::Hosts;
use crate::{Actions, Context, DropReason, Rewrite};

impl ArpPathSwitch {
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
                self.announce_station(ctx, ingress, header, out);
                return true;
            }
        }
        false
    }

    /// A station is new at a host port, or moved there. The switch announces it to the others, unless its own request
    /// does. If the port's limit of new stations or floods is reached, the station is not learnt and its next frame
    /// tries again: a station known here but not announced would be sought at its old port.
    #[cold]
    fn announce_station<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
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

    /// A frame to a group: learns its sender on a host port. If it is a request, its source is locked to the port of
    /// the first copy.
    #[cold]
    pub(super) fn on_broadcast<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        let fabric = self.ports.is_fabric(ingress, now);
        if !fabric && !self.admits_broadcast(ingress, header, now) {
            return out.drop(DropReason::RateLimited);
        }
        if let Err(reason) = self.floods.note(&self.ports, ingress, header, now) {
            return out.drop(reason);
        }
        if !fabric && !self.refresh_at_home(ingress, header, now) {
            self.announce_station(ctx, ingress, header, out);
        }
        if fabric && header.kind == Kind::ArpRequest {
            self.lock(header.src, ingress, now);
        }
        let hosts = match self.snooping.listeners(header.dst, header.is_report(), now) {
            Some(listeners) => Hosts::At(listeners),
            None => Hosts::All,
        };
        self.ports.flood(ctx, &self.config, ingress, hosts, out);
    }

    /// Whether a host port may flood a frame to a group. The copies of a known station, or of a flood that goes on, need
    /// no more than a look at the port that they arrive on.
    fn admits_broadcast(&mut self, ingress: PortId, header: &Header, now: Time) -> bool {
        self.limits.admit_bytes(ingress, header.frame_bytes(), now)
            && (self.port_of(header.src, now) == Some(ingress)
                || self.floods.goes_on(ingress, header, now)
                || self.limits.admit_flood(ingress, now))
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
        if floods
            && self.ports.is_host(ingress, now)
            && !self.limits.admit_bytes(ingress, header.frame_bytes(), now)
        {
            return out.drop(DropReason::RateLimited);
        }
        // A repair started by another sender announced its own pair to other switches, not that floods of this pair
        // start here. Other switches may still expect copies from elsewhere, even if this switch lost its memory.
        let goes_on = floods && self.floods.goes_on_unknown(&self.ports, ingress, header, now);
        let searches = !(goes_on && repairing) && self.limits.admit_flood(ingress, now);
        if !goes_on && !searches {
            return out.drop(DropReason::RateLimited);
        }
        if floods {
            self.flood_unknown(ctx, ingress, header, out);
        } else {
            out.drop(DropReason::NoRoute);
        }
        if !searches {
            return;
        }
        if !repairing {
            self.repairs.insert(header.dst, (), 0, now);
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
    /// misdirected it.
    fn flood_unknown<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        self.floods.note_unknown(&self.ports, ingress, header, now);
        out.rewrite(match out.rewriting() {
            Rewrite::Unwrap => Rewrite::UnwrapAndMark,
            _ => Rewrite::Mark,
        });
        let from = Some(ingress).filter(|&port| self.ports.is_host(port, now));
        let own = self.attached(header.src, now);
        self.ports.flood_unknown(ctx, &self.config, from, own, out);
    }
}
