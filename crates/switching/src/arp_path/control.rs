//! Frames of switches about the path between two stations: Path Fail, Path Request and Path Reply.

use weft_units::{PortId, Time};
use weft_wire::Mac;

use super::switch::ArpPathSwitch;
use crate::header::{Header, Kind};
use crate::hello::Hosts;
use crate::{Actions, Context, DropReason, Rewrite};

impl ArpPathSwitch {
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
                if self.floods.note_location(&self.ports, ingress, header, now) {
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

    /// The source of a reply is found, and confirms the requester, its destination.
    #[cold]
    pub(super) fn on_answer(&mut self, ingress: PortId, header: &Header, now: Time) {
        if self.ports.is_fabric(ingress, now) && self.attached(header.src, now).is_none() {
            self.learn(header.src, ingress, now);
        }
        self.repairs.remove(&header.src);
        self.confirm_station(header.dst, now);
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
        self.ports.flood(ctx, &self.config, ingress, Hosts::None, out);
    }

    /// The source's edge searches for a path between two stations.
    #[cold]
    pub(super) fn look_for<C: Context>(
        &mut self,
        ctx: &mut C,
        from: Mac,
        to: Mac,
        id: u32,
        out: &mut Actions,
    ) {
        if let Some(port) = self.attached(from, ctx.now()) {
            // This makes returning copies late.
            self.lock(from, port, ctx.now());
            self.flood_own(ctx, &Header::about_path(Kind::PathRequest, from, to, id), out);
        }
    }

    pub(super) fn flood_own<C: Context>(&mut self, ctx: &mut C, header: &Header, out: &mut Actions) {
        if self.floods.note_own(&self.ports, header, ctx.now()).is_ok() {
            self.ports.flood_own(ctx, &self.config, header, out);
        }
    }
}
