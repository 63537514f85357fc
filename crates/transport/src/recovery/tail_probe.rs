//! Tail loss probes (RFC 8985, section 7).

use weft_units::Time;

use super::ack_info::AckInfo;
use super::loss::TailProbe;
use crate::config::Config;
use crate::congestion::Cause;
use crate::departures::Piece;
use crate::sender::{Phase, Sender};
use crate::seq::before;
use crate::tick::Tick;

impl Sender {
    /// A tail loss probe (RFC 8985, section 7.3): new data if there is any, otherwise the last segment again. Once it has
    /// left, call [`Self::tail_probe_left`].
    pub(crate) fn tail_probe(&mut self, cfg: &Config, now: Time) -> Option<Piece> {
        // Linux (`skb_still_in_host_queue`): a segment that has not left the host cannot have been lost.
        let waits = self.loss.as_ref().is_some_and(|loss| loss.small_queue.holds_last(now));
        if self.snd_una == self.snd_nxt || self.phase != Phase::Open || waits {
            self.start_timer(cfg, now);
            return None;
        }
        let len = self.next_len(cfg);
        if len > 0 && len <= self.room() {
            return Some(Piece::Next(len));
        }
        let loss = self.split(cfg, now);
        let (start, len) = loss.sent.tail(cfg.segment())?;
        loss.sent.resent(start, Tick::at(now));
        Some(Piece::Again { start, len })
    }

    /// The tail loss probe `piece` has left.
    pub(crate) fn tail_probe_left(&mut self, cfg: &Config, now: Time, piece: Piece) {
        let (end, retransmission) = (Some(self.snd_nxt), !matches!(piece, Piece::Next(_)));
        self.loss.get_or_insert_default().probe = TailProbe { end, retransmission };
        self.start_timer(cfg, now);
    }
}

/// RFC 8985, section 7.4: an ACK for the probe without a reported duplicate means that the probe repaired a loss.
pub(super) fn answered(tx: &mut Sender, cfg: &Config, ack: u32, info: &AckInfo, flight: u32) {
    let Some(loss) = &mut tx.loss else { return };
    let Some(end) = loss.probe.end else { return };
    if before(ack, end) {
        return;
    }
    let repaired = loss.probe.retransmission && !info.dsack;
    loss.probe = TailProbe::default();
    if repaired && matches!(tx.phase, Phase::Open | Phase::Disorder) && info.advanced > 0 {
        let controller = tx.congestion.controller(cfg);
        let before = controller.window();
        controller.on_congestion_event(cfg, Cause::Loss, flight);
        controller.on_recovery(before.min(controller.window()));
    }
}
