//! [`Actions`]: all that a switch does because of a frame or an event, as data.

use weft_units::PortId;

use crate::action::{Action, Report, Rewrite};
use crate::drop_reason::DropReason;
use crate::header::Header;

/// The actions of a switch on a frame, reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    first: Option<Action>,
    rest: Vec<Action>,
    rewrite: Rewrite,
    queue: u8,
    emitted: Vec<(PortId, Header)>,
    /// Whether emitted frames leave before the frame itself.
    ahead: bool,
    reports: Vec<Report>,
    /// Held frames that leave their slots, in order.
    released: Vec<(u32, Action)>,
    /// The number of them that leave before the frame itself.
    released_ahead: usize,
    /// Whether there is more than a single send or drop of the frame, unchanged but for its overlay.
    more: bool,
}

impl Actions {
    /// The number of frames that a switch can hold: a slot is below it.
    pub const SLOTS: u32 = 1 << 16;

    /// Sends the frame (a copy of it, after the first) out of `port`. Copies leave in this order.
    #[inline]
    pub fn send(&mut self, port: PortId) {
        self.push(Action::Send(port));
    }

    /// Sends the frame with this overlay ([`Header::overlay`]); other copies keep theirs.
    #[inline]
    pub fn send_with_overlay(&mut self, port: PortId, overlay: [u8; 8]) {
        self.push(Action::SendWith(port, overlay));
    }

    /// Sends the frame (a copy of it, after the first) out of the host port `port` as its host sent it.
    pub fn deliver(&mut self, port: PortId) {
        self.push(Action::Deliver(port));
        self.more = true;
    }

    /// Drops the frame.
    #[inline]
    pub fn drop(&mut self, reason: DropReason) {
        self.push(Action::Drop(reason));
    }

    /// Ends the frame here: it was addressed to the switch.
    pub fn consume(&mut self) {
        self.push(Action::Consume);
        self.more = true;
    }

    /// Holds the frame (a copy of it, after the first) in a slot of the switch below [`Actions::SLOTS`], where it stays
    /// until [`Actions::release`] or [`Actions::discard`]. A frame already in the slot, or in place of a slot beyond the
    /// limit this one, is dropped ([`DropReason::NotReleased`]).
    pub fn hold(&mut self, slot: u32) {
        self.push(Action::Hold(slot));
        self.more = true;
    }

    /// Holds the frame without space in the switch's buffers and in accounts of flow control.
    pub fn hold_aside(&mut self, slot: u32) {
        self.push(Action::HoldAside(slot));
        self.more = true;
    }

    /// Sends the frame held in `slot` out of `port`. An empty slot stays empty. Calls before the first action on the
    /// switch's present frame take effect before it, later calls after it and after emitted frames, all in order.
    pub fn release(&mut self, slot: u32, port: PortId) {
        self.let_go(slot, Action::Send(port));
    }

    /// Drops the frame held in `slot`; order as for [`Actions::release`].
    pub fn discard(&mut self, slot: u32, reason: DropReason) {
        self.let_go(slot, Action::Drop(reason));
    }

    fn let_go(&mut self, slot: u32, action: Action) {
        self.released.push((slot, action));
        self.released_ahead += usize::from(self.first.is_none());
        self.more = true;
    }

    /// Changes the frame before it is sent.
    pub fn rewrite(&mut self, rewrite: Rewrite) {
        self.rewrite = rewrite;
        self.more = true;
    }

    /// Sends the frame through this egress queue, numbered like a tag's QID. With 0, the port chooses.
    #[inline]
    pub fn queue(&mut self, queue: u8) {
        if queue != 0 {
            self.queue = queue;
            self.more = true;
        }
    }

    /// Sends a frame made by the switch out of `port`.
    pub fn emit(&mut self, port: PortId, header: Header) {
        self.emitted.push((port, header));
        self.more = true;
    }

    /// Sends emitted frames before the frame itself, so that every neighbour receives them first.
    pub fn emit_ahead(&mut self) {
        self.ahead = true;
        self.more = true;
    }

    /// Whether emitted frames leave before the frame itself.
    pub const fn emits_ahead(&self) -> bool {
        self.ahead
    }

    /// Sends a report to the central controller.
    pub fn report(&mut self, report: Report) {
        self.reports.push(report);
        self.more = true;
    }

    #[inline]
    fn push(&mut self, action: Action) {
        if self.first.is_none() {
            self.first = Some(action);
        } else {
            self.rest.push(action);
            self.more = true;
        }
    }

    /// Takes the action if it is the only one: the frame is sent, unchanged but for its overlay, or dropped, and the
    /// switch emits nothing.
    #[inline]
    pub fn take_only(&mut self) -> Option<Action> {
        if self.more { None } else { self.first.take() }
    }

    /// All actions for the frame, in order.
    pub fn all(&self) -> impl Iterator<Item = Action> {
        self.first.into_iter().chain(self.rest.iter().copied())
    }

    /// How to change the frame.
    pub const fn rewriting(&self) -> Rewrite {
        self.rewrite
    }

    /// The egress queue of the frame.
    pub const fn queued(&self) -> u8 {
        self.queue
    }

    /// The frames made by the switch, in order.
    pub fn emitted(&self) -> &[(PortId, Header)] {
        &self.emitted
    }

    /// The reports to the central controller, in order.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The slots of held frames that leave before the frame itself, in order, each with a send or a drop.
    pub fn released_ahead(&self) -> &[(u32, Action)] {
        &self.released[..self.released_ahead]
    }

    /// The slots of held frames that leave after it, in order, each with a send or a drop.
    pub fn released_behind(&self) -> &[(u32, Action)] {
        &self.released[self.released_ahead..]
    }

    /// Removes all actions.
    pub fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
        self.rewrite = Rewrite::Keep;
        self.queue = 0;
        self.emitted.clear();
        self.ahead = false;
        self.reports.clear();
        self.released.clear();
        self.released_ahead = 0;
        self.more = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_send_and_one_with_an_overlay_are_taken_whole() {
        let mut out = Actions::default();
        out.send_with_overlay(PortId(1), [7; 8]);
        assert_eq!(out.take_only(), Some(Action::SendWith(PortId(1), [7; 8])));
        out.send(PortId(2));
        assert_eq!(out.take_only(), Some(Action::Send(PortId(2))));
        out.send(PortId(2));
        out.send_with_overlay(PortId(3), [7; 8]);
        assert_eq!(out.take_only(), None);
    }

    #[test]
    fn a_wish_to_emit_ahead_does_not_pass_to_the_next_frame() {
        let mut out = Actions::default();
        out.send(PortId(1));
        out.emit_ahead();
        assert_eq!(out.take_only(), None, "emitted frames would leave first");
        out.clear();
        out.send(PortId(1));
        assert!(out.take_only().is_some() && !out.emits_ahead());
    }

    #[test]
    fn held_frames_are_released_before_or_after_the_frame_as_called() {
        let mut out = Actions::default();
        out.release(4, PortId(1));
        out.discard(2, DropReason::Stale);
        out.send(PortId(1));
        out.release(3, PortId(1));
        assert_eq!(out.take_only(), None);
        let send = Action::Send(PortId(1));
        assert_eq!(out.released_ahead(), [(4, send), (2, Action::Drop(DropReason::Stale))]);
        assert_eq!(out.released_behind(), [(3, send)]);
        out.clear();
        assert!(out.released_ahead().is_empty() && out.released_behind().is_empty());
        assert_eq!(out.all().next(), None);
    }
}
