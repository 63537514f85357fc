//! Undoes reductions that were not necessary (RFC 3522, RFC 3708, RFC 4015).

use crate::config::Config;
use crate::sender::Sender;

/// Undoes a reduction if all retransmissions were unnecessary, or if the `original` of a retransmitted segment arrived.
/// Returns whether it did.
pub(super) fn try_undo(tx: &mut Sender, cfg: &Config, original: bool) -> bool {
    let Some(loss) = &tx.loss else { return false };
    let proven = loss.undo.marker.is_some() && (loss.undo.pending == Some(0) || original);
    if cfg.undo && proven {
        restore(tx, cfg);
    }
    cfg.undo && proven
}

/// Restores the window from before the reduction.
pub(super) fn restore(tx: &mut Sender, cfg: &Config) {
    let Some(loss) = &mut tx.loss else { return };
    loss.undo.marker = None;
    if let Some(prior) = loss.undo.prior.take()
        && cfg.undo
    {
        tx.congestion.controller(cfg).on_spurious(cfg, prior);
    }
}

/// Segments that count as lost are in flight after all.
pub(super) fn forget_losses(tx: &mut Sender) {
    if let Some(loss) = &mut tx.loss {
        loss.sent.unlose_all();
    }
}
