//! Hosts with Ultra Ethernet whose receivers grant credit, in turn on each link ([`Granters`](super::granter::Granters)).

use weft_transport::uec::Reply;
use weft_transport::{OneWay, Packet};

use super::context::Ctx;
use super::pacer::PacedSource;
use super::shell::{Shell, transmit};
use super::uec::Uec;

impl Shell<Uec> {
    /// Puts the end at `place` in line if it is a receiver whose sender waits for credit.
    #[inline(never)]
    pub fn want_credit(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        if let Some((number, nic)) = self.line_up(place, cx) {
            self.grant(number, nic, cx);
        }
    }

    /// The turn of a granter that was called.
    pub fn granter_called(&mut self, number: u32, cx: &mut Ctx<'_, '_>) {
        self.protocol.granters.at(number).called();
        if let Some(nic) = cx.net.turns.link(number) {
            self.grant(number, nic, cx);
        }
    }

    /// Puts the end at `place` in the line of its link if it may grant credit. Returns the granter's number and link if its
    /// sender waits.
    fn line_up(&mut self, place: u32, cx: &Ctx<'_, '_>) -> Option<(u32, u32)> {
        let end = self.ends.at(place).filter(|end| !end.is_waiting)?;
        let OneWay::Destination(receiver, _) = &mut end.machine else { return None };
        let nic = end.subflows[0].nic;
        let number = cx.net.turns.number(nic)?;
        let turn = PacedSource { flow: end.flow, place };
        if receiver.wants_credit() {
            end.is_waiting = true;
            self.protocol.granters.at(number).add(turn);
            return Some((number, nic));
        }
        let most = self.protocol.parameters.of(end.is_within).most_credit(cx.net.rate(cx.net.id(nic)));
        if !receiver.is_in_line && receiver.may_grant_in_advance(most) {
            receiver.is_in_line = true;
            self.protocol.granters.at(number).add_idle(turn);
        }
        None
    }

    /// Lets the receivers of the link `nic` grant credit, as far as it is their turn.
    fn grant(&mut self, number: u32, nic: u32, cx: &mut Ctx<'_, '_>) {
        while let Some((turn, is_idle)) = self.protocol.granters.at(number).take(cx.net.now) {
            let Some(end) = self.ends.at(turn.place).filter(|end| end.flow == turn.flow) else { continue };
            let is_within = end.is_within;
            let OneWay::Destination(receiver, _) = &mut end.machine else { continue };
            if is_idle {
                receiver.is_in_line = false;
                if end.is_waiting {
                    continue;
                }
            }
            end.is_waiting = false;
            if receiver.is_done() {
                continue;
            }
            let (bytes, update) = receiver.grant(self.protocol.parameters.of(is_within));
            transmit(&self.protocol, end, 0, &Packet::Answer(Reply::Credit(update)), cx);
            let granter = self.protocol.granters.at(number);
            granter.grant(self.protocol.parameters.of(is_within), nic, bytes, cx.net);
            // Its host may have chosen another link since.
            if let Some((other, nic)) = self.line_up(turn.place, cx)
                && other != number
            {
                self.grant(other, nic, cx);
            }
        }
        self.protocol.granters.at(number).call(number, nic, cx.net);
    }
}
