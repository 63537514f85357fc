//! [`Delivery`]: the frames that a port still receives from a neighbour whose Hello messages have stopped (`hold.rs`).

/// The frames received on a port whose neighbour sends no Hello messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Frames received up to the last check, if there was one.
    pub(super) frames: Option<u64>,
    /// Whether any arrived between two checks.
    pub(super) any: bool,
    /// When the next check is due; 0: at once.
    pub(super) next: u64,
    /// Frames received before this time are ignored: a Hello arrived that is not the neighbour's.
    pub(super) distrusted: u64,
    /// When frames of a neighbour that had fallen silent arrived again: its Hello messages are due within a hold time.
    pub(super) again: Option<u64>,
    /// Whether the role was extended since the last Hello because the daemon was late.
    pub(super) extended: bool,
}

impl Delivery {
    /// Records the number of frames received so far; returns whether it has grown since the last check.
    pub(super) const fn look(&mut self, frames: u64, now: u64) -> bool {
        let more = matches!(self.frames, Some(before) if frames > before) && now >= self.distrusted;
        self.frames = Some(frames);
        self.any |= more;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_from_the_second_look_on_and_not_while_the_sender_is_distrusted() {
        let mut delivery = Delivery::default();
        assert!(!delivery.look(1000, 0), "frames before the first check do not count");
        assert!(!delivery.look(1000, 1));
        assert!(delivery.look(1001, 2) && delivery.any);
        let mut delivery = Delivery { distrusted: 10, ..Delivery::default() };
        delivery.look(0, 0);
        assert!(!delivery.look(5, 9) && !delivery.any);
        assert!(!delivery.look(5, 10), "earlier frames are not counted afterwards");
        assert!(delivery.look(6, 11));
    }
}
