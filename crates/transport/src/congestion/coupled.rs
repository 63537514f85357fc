//! [`Coupled`]: the window of a controller whose increase depends on the other subflows of a multipath connection.
//!
//! Before a subflow processes an ACK, its controller receives the [`Path`](super::controller::Path)s of all subflows;
//! it sees later changes of the others with its next ACK. In slow start each grows like plain TCP (RFC 6356, section 3).

use super::controller::Ack;
use super::settings::Settings;
use super::window::Window;

/// The window of one subflow.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Coupled {
    pub(super) window: Window,
    /// Accumulated growth of less than a byte.
    credit: f64,
}

impl Coupled {
    pub(super) fn new(window: Window) -> Self {
        Self { window, credit: 0.0 }
    }

    /// Grows in slow start. Returns the bytes acknowledged that count for congestion avoidance, if any.
    pub(super) fn slow_start(&mut self, settings: &Settings<'_, ()>, ack: &Ack) -> Option<u32> {
        let left = if ack.may_grow { self.window.slow_start(settings, ack.bytes) } else { None };
        left.filter(|_| !self.window.in_slow_start())
    }

    /// Grows by `bytes`, or shrinks to no less than a segment.
    pub(super) fn grow(&mut self, settings: &Settings<'_, ()>, bytes: f64) {
        self.credit += bytes;
        let whole = self.credit.trunc();
        self.credit -= whole;
        let window = &mut self.window;
        if whole < 0.0 {
            window.cwnd = window.cwnd.saturating_sub(-whole as u32).max(settings.segment);
        } else {
            window.grow(whole as u32);
        }
    }

    /// Reduces the window to `bytes`, at least two segments.
    pub(super) fn reduce(&mut self, settings: &Settings<'_, ()>, bytes: u32) {
        self.window.reduce(bytes.max(2 * settings.segment));
    }
}
