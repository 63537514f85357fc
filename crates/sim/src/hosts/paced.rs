//! Hosts that send a packet when it is its turn on the link ([`Pacers`](super::pacers::Pacers)).

use weft_transport::Machine;
use weft_units::Time;

use super::context::Ctx;
use super::pacer::PacedSource;
use super::pacers::Pacers;
use super::protocol::{ConfigOf, End, Protocol};
use super::shell::{Shell, transmit};
use crate::network::Network;
use crate::trace::TraceEvent;

/// Gives a source at `place` a turn if it has something to send; returns whether the turn is new.
#[inline(always)]
fn give_turn<P: Protocol>(
    end: &mut End<P>,
    place: u32,
    config: &ConfigOf<P>,
    pacers: &mut Pacers,
    net: &mut Network<'_>,
) -> bool {
    if end.is_waiting {
        return false;
    }
    let Some(at) = end.machine.sends_at(config) else { return false };
    end.is_waiting = true;
    let turn = PacedSource { flow: end.flow, place };
    let line = end.subflows.as_ref()[0].line;
    pacers.at(line).add(turn, at, net.now);
    net.trace(|_| TraceEvent::Waits { flow: end.flow, line, from: at });
    true
}

/// Has a source at `place` woken at its timeout. For an eager protocol, a pending event is never too late: packets sent since
/// are due later, and when it comes it is set again.
#[inline(always)]
fn arm<P: Protocol>(protocol: &mut P, end: &mut End<P>, place: u32, net: &mut Network<'_>) {
    if !(P::IS_EAGER && end.alarms.has_timeout()) {
        let (timeout, _) = protocol.deadlines(end, net.now);
        end.alarms.arm(place, end.subflows.as_ref()[0].nic, timeout, Time::MAX, net);
    }
}

impl<P: Protocol> Shell<P> {
    /// Sends the answers of the end at `place`. Gives a source a turn if it has something to send, and sends the
    /// packets that its link takes.
    #[inline]
    pub fn pump_paced(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        self.answer(place, cx);
        let Some(end) = self.ends.at(place).filter(|end| !end.is_destination) else { return };
        let pacer = end.subflows.as_ref()[0].line;
        let is_new = give_turn(end, place, self.protocol.config(end.is_within), &mut self.pacers, cx.net);
        if !is_new || P::IS_EAGER {
            arm(&mut self.protocol, end, place, cx.net);
        }
        if is_new || P::IS_EAGER {
            self.serve_paced(pacer, cx);
        }
    }

    /// Sends a packet of each source that waits for a link, in turn, as long as the link is free.
    pub fn serve_paced(&mut self, number: u32, cx: &mut Ctx<'_, '_>) {
        let now = cx.net.now;
        let nic = self.pacers.at(number).nic;
        loop {
            let free = cx.net.departure(nic).max(now);
            let pacer = self.pacers.at(number);
            if free > now {
                return pacer.arm(free, cx.net);
            }
            let Some(turn) = pacer.take(now) else { return pacer.arm(free, cx.net) };
            let Some(end) = self.ends.at(turn.place).filter(|end| end.flow == turn.flow) else {
                continue;
            };
            let subflow = &end.subflows.as_ref()[0];
            let other = subflow.line;
            if other != number {
                // Its host has chosen another link since.
                if P::IS_EAGER || end.machine.sends_at(self.protocol.config(end.is_within)).is_some() {
                    self.pacers.at(other).add(turn, now, now);
                    self.serve_paced(other, cx);
                } else {
                    end.is_waiting = false;
                    arm(&mut self.protocol, end, turn.place, cx.net);
                }
                continue;
            }
            if !cx.net.can_send(nic, subflow.template.traffic_class) {
                pacer.pause(turn);
                continue;
            }
            end.is_waiting = false;
            cx.net.trace(|_| TraceEvent::Turn { flow: end.flow, line: number });
            if self.protocol.poll_transmit(end, &mut self.packet, now) {
                let is_accepted = transmit(&self.protocol, end, 0, &self.packet, cx);
                self.protocol.sent(&mut end.machine, &self.packet, nic, is_accepted, cx.net);
                give_turn(end, turn.place, self.protocol.config(end.is_within), &mut self.pacers, cx.net);
            }
            arm(&mut self.protocol, end, turn.place, cx.net);
        }
    }
}
