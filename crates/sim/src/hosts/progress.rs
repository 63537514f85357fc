//! Reporting how far flows and messages are.

use weft_transport::Machine;

use super::context::Ctx;
use super::flow_end::NONE;
use super::protocol::Protocol;
use super::reports::{report, report_done, report_received};
use super::shell::{Shell, transmit};
use super::stream::Counts;
use crate::journal::News;

impl<P: Protocol> Shell<P> {
    /// Sends the packets of an end that do not wait for the interface, and reports its progress.
    #[inline(always)]
    pub fn answer(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        let Some(end) = self.ends.at(place) else { return };
        while self.protocol.poll_answer(end, &mut self.packet, cx.net.now) {
            transmit(&self.protocol, end, 0, &self.packet, cx);
        }
        if end.progress() >= end.awaits {
            self.report_progress(place, cx);
        }
    }

    /// Reports that a flow, or which messages on a shared connection, are received or, at the source, acknowledged.
    #[cold]
    pub fn report_progress(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        let Some(end) = self.ends.at(place) else { return };
        let (owner, to, world) = (end.owner(), end.progress(), cx.world);
        if world.connections.last(owner.flow).is_some() {
            let mut counts = Counts { stats: end.machine.stats(), delays: &mut end.delays };
            end.awaits = self.messages.reach(owner, to, &mut counts, cx.net, world);
            if owner.side == 1 {
                end.machine.read_all();
            }
            return;
        }
        end.awaits = NONE;
        match (P::HAS_HANDSHAKE, owner.side) {
            (true, 0) => report(cx.net, world, owner, News::Acknowledged(owner.flow)),
            (true, _) => {
                end.machine.close();
                report(cx.net, world, owner, News::Received(owner.flow));
            }
            (false, 0) => report_done(cx.net, world, owner.flow),
            (false, _) => report_received(cx.net, world, owner.flow),
        }
    }

    /// Reports that an end has closed or given up, if it has not before.
    #[cold]
    pub fn report_end(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        let Some(end) = self.ends.at(place).filter(|end| !end.is_over) else { return };
        end.is_over = true;
        let (owner, world) = (end.owner(), cx.world);
        let news = match end.machine.is_aborted() {
            true if world.connections.last(owner.flow).is_some() => {
                return self.messages.abort(owner, cx.net, world);
            }
            true => News::Aborted(owner.flow),
            false => News::Closed(owner.flow, owner.side),
        };
        report(cx.net, world, owner, news);
    }
}
