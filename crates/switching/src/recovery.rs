//! Path recovery of TCP-Path.
//!
//! The switches on both sides of a failure send Path Fail towards the ends that they still reach; each hop removes
//! the flow. The edge from which the flow was explored then explores again with a Path Recovery Request, which the
//! other edge answers with a Path Recovery Reply (section III-D of the paper). The same exchange moves a working
//! flow to a better path.

use rand_core::RngCore;
use weft_units::{PortId, Time};

use crate::hash::pick;
use crate::header::{Header, Kind};
use crate::leaving::MOST;
use crate::path_table::{CONFIRMED, FlowKey, LOCKED, PathEntry, milliseconds};
use crate::tcp_path::{TcpPathSwitch, about};
use crate::{Actions, Context, DropReason, Rewrite};

/// Minimum age of an entry that a Path Fail without an exploration id removes, in milliseconds: such a frame comes
/// from a switch without an entry, and may be older than a path found since.
const UNNAMED_AGE: u32 = 1_000;

/// Whether a Path Fail about exploration `id` applies to `entry`. Id 0 means that its sender had no entry, but may
/// also be a SYN's sequence number.
const fn is_named(entry: &PathEntry, id: u32, now: Time) -> bool {
    entry.id == id || id == 0 && milliseconds(now).wrapping_sub(entry.made) >= UNNAMED_AGE
}

impl TcpPathSwitch {
    /// `port` is dead: every flow with an entry on it is broken.
    pub(crate) fn break_port<C: Context>(&mut self, ctx: &mut C, port: PortId, out: &mut Actions) {
        let entries = self.paths.iter(ctx.now()).filter(|(_, entry)| entry.port == port);
        let mut broken: Vec<FlowKey> = entries.map(|(key, _)| *key).collect();
        // The table's own order is arbitrary.
        broken.sort_unstable();
        for key in broken {
            self.break_path(ctx, key, out);
        }
    }

    /// The link of `port` loses frames: flows explored from here search for another path while the present one stays in use.
    /// For flows explored from the other end, that edge is notified, and on the way up between switches both edges.
    pub(crate) fn leave_port<C: Context>(&mut self, ctx: &mut C, port: PortId, out: &mut Actions) {
        let now = ctx.now();
        let entries = self.paths.iter(now).filter(|(_, entry)| entry.port == port);
        let mut leaving: Vec<(FlowKey, u32)> = entries.map(|(key, entry)| (*key, entry.id)).collect();
        leaving.sort_unstable();
        let most = leaving.len().min(MOST);
        if most < leaving.len() {
            let first = pick(ctx.random().next_u64(), leaving.len());
            leaving.rotate_left(first);
        }
        let goes_up = self.under.base.ports.has_better_up(port, now);
        for &(key, id) in &leaving[..most] {
            let back = key.reversed();
            let Some(other) = self.paths.get(&back, now).copied() else { continue };
            let ports = &self.under.base.ports;
            if ports.is_host(other.port, now) {
                match other.initiator {
                    true => self.recover(ctx, back, other.port, out),
                    false => out.emit(port, about(Kind::PathFail, back, other.id)),
                }
            } else if goes_up && ports.is_fabric(other.port, now) {
                out.emit(other.port, about(Kind::PathFail, key, id));
                out.emit(port, about(Kind::PathFail, back, other.id));
            }
        }
    }

    /// The entry of `key` leads nowhere: removes the flow and notifies the other end's edge.
    pub(crate) fn break_path<C: Context>(&mut self, ctx: &mut C, key: FlowKey, out: &mut Actions) {
        let now = ctx.now();
        let other = self.paths.get(&key.reversed(), now).copied();
        let id = self.paths.get(&key, now).map_or(0, |entry| entry.id);
        self.paths.remove(&key);
        self.paths.remove(&key.reversed());
        match other {
            Some(other) if self.under.base.ports.is_fabric(other.port, now) => {
                out.emit(other.port, about(Kind::PathFail, key, id));
            }
            Some(other) if other.initiator && self.under.base.ports.is_host(other.port, now) => {
                self.recover(ctx, key.reversed(), other.port, out);
            }
            _ => {}
        }
    }

    /// Path Fail: the source can no longer be reached over the ingress port.
    pub(crate) fn on_path_fail<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        let (broken, reached) = (FlowKey::to_source(header), FlowKey::to_destination(header));
        let named = |entry: &PathEntry| is_named(entry, header.exploration_id(), now);
        if !self.paths.get(&broken, now).is_some_and(|entry| entry.port == ingress && named(entry)) {
            return out.drop(DropReason::Stale);
        }
        self.paths.remove(&broken);
        // A newer exploration's entry belongs to a path that still works.
        let Some(entry) = self.paths.get(&reached, now).copied().filter(named) else {
            return out.consume();
        };
        self.paths.remove(&reached);
        if self.under.base.ports.is_fabric(entry.port, now) && entry.port != ingress {
            out.rewrite(Rewrite::Hop);
            return out.send(entry.port);
        }
        out.consume();
        if entry.initiator && self.under.base.ports.is_host(entry.port, now) {
            self.recover(ctx, reached, entry.port, out);
        }
    }

    /// Searches for a path for the flow of `key.host`, which is on the host port `port`, if possible.
    pub(crate) fn recover<C: Context>(&mut self, ctx: &mut C, key: FlowKey, port: PortId, out: &mut Actions) {
        if self.may_recover(key, ctx.now()) {
            self.look_for_path(ctx, key, port, out);
        }
    }

    /// Searches for a path because of a host's frames, within its port's exploration limit.
    pub(crate) fn recover_for_host<C: Context>(
        &mut self,
        ctx: &mut C,
        key: FlowKey,
        port: PortId,
        out: &mut Actions,
    ) {
        if self.may_recover(key, ctx.now()) && self.admit_exploration(port, ctx.now()) {
            self.look_for_path(ctx, key, port, out);
        }
    }

    /// Whether a flow's other end is on another switch, and no search for it is in progress.
    fn may_recover(&self, key: FlowKey, now: Time) -> bool {
        self.under.attached(key.peer.station(), now).is_none() && self.paths.class(&key, now) != Some(LOCKED)
    }

    fn look_for_path<C: Context>(&mut self, ctx: &mut C, key: FlowKey, port: PortId, out: &mut Actions) {
        let now = ctx.now();
        let id = ctx.random().next_u32();
        let header = about(Kind::RecoveryRequest, key, id);
        if self.under.base.floods.note_own(&self.under.base.ports, &header, now).is_err() {
            return;
        }
        self.lock(key, port, id, now);
        self.under.base.ports.flood_own(ctx, &self.under.base.config, &header, out);
    }

    /// At the edge of the flow of `key.host`: searches for a better path if the present one is old.
    pub(crate) fn refresh_path<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        key: FlowKey,
        out: &mut Actions,
    ) {
        let now = ctx.now();
        let Some(entry) = self.paths.get(&key, now).copied() else { return };
        let age = u64::from(milliseconds(now).wrapping_sub(entry.made)) * 1_000_000_000;
        let confirmed = self.paths.class(&key, now) == Some(CONFIRMED);
        let here = entry.initiator && entry.port == ingress && self.under.base.ports.is_host(ingress, now);
        if here && confirmed && age >= self.under.base.config.refresh_after.ps() {
            self.recover_for_host(ctx, key, ingress, out);
        }
    }
}
