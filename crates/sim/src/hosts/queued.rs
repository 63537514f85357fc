//! Hosts that send a packet as soon as they have it, or as there is space for it in the interface ([`HostQueue`]).
//!
//! [`HostQueue`]: super::host_queue::HostQueue

use weft_transport::Machine;

use super::context::Ctx;
use super::protocol::Protocol;
use super::shell::{Shell, transmit};
use crate::trace::TraceEvent;

impl<P: Protocol> Shell<P> {
    /// Sends the pending packets of an end; called after every event that may produce some.
    #[inline(always)]
    pub fn pump_queued(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        self.send(place, false, cx);
        // Without a handshake, destinations send nothing.
        if self.queue.has_waiting()
            && let Some(end) = self.ends.get(place)
            && (P::HAS_HANDSHAKE || !end.is_destination)
        {
            self.serve_queued(end.subflows.as_ref()[0].line, cx);
        }
    }

    /// Lets the ends in this line send a packet each, as long as there is space.
    #[inline(never)]
    pub fn serve_queued(&mut self, line: u32, cx: &mut Ctx<'_, '_>) {
        while let Some(place) = self.queue.next(line, cx.net) {
            if let Some(end) = self.ends.at(place) {
                end.is_waiting = false;
                cx.net.trace(|_| TraceEvent::Turn { flow: end.flow, line });
            }
            self.send(place, true, cx);
        }
        self.queue.call(line, cx.net);
    }

    /// Sends the pending packets of the end at `place`, or one of them if it is its turn.
    #[inline(always)]
    fn send(&mut self, place: u32, mut is_its_turn: bool, cx: &mut Ctx<'_, '_>) {
        let now = cx.net.now;
        self.answer(place, cx);
        let Some(end) = self.ends.at(place) else { return };
        // The first SYN does not wait.
        let waits = self.queue.is_limited() && !end.is_destination && (!P::HAS_HANDSHAKE || now > end.opened);
        while end.machine.sends_at(self.protocol.config(end.is_within)).is_some_and(|at| at <= now) {
            if waits {
                let line = end.subflows.as_ref()[0].line;
                if !end.is_waiting && !is_its_turn && !self.queue.is_free(line, cx.net) {
                    end.is_waiting = true;
                    self.queue.enter(line, place);
                    cx.net.trace(|_| TraceEvent::Waits { flow: end.flow, line, from: now });
                }
                if end.is_waiting {
                    break;
                }
                is_its_turn = false;
            }
            if !self.protocol.poll_transmit(end, &mut self.packet, now) {
                break;
            }
            let is_accepted = transmit(&self.protocol, end, 0, &self.packet, cx);
            let nic = end.subflows.as_ref()[0].nic;
            self.protocol.sent(&mut end.machine, &self.packet, nic, is_accepted, cx.net);
        }
        let is_done = P::IS_DONE_WHEN_SENT && end.progress() >= end.awaits;
        let (timeout, held) = self.protocol.deadlines(end, now);
        end.alarms.arm(place, end.subflows.as_ref()[0].nic, timeout, held, cx.net);
        if !end.is_over && (end.machine.is_closed() || end.machine.is_aborted()) {
            self.report_end(place, cx);
        }
        if is_done {
            self.report_progress(place, cx);
        }
    }
}
