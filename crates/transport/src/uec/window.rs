//! [`Window`]: the bytes that a sender may have in flight.

use weft_units::{Rate, Time};

use super::config::{Config, Congestion};
use super::nscc::Nscc;
use super::signal::Signal;

/// The window of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Fixed(u64),
    Nscc(Nscc),
}

impl Window {
    /// The window of a host whose link has `rate`.
    pub fn new(config: &Config, rate: Rate) -> Self {
        match config.congestion {
            Congestion::Fixed => Self::Fixed(u64::from(config.window) * u64::from(config.mtu)),
            Congestion::Nscc => Self::Nscc(Nscc::new(config, rate)),
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Nscc(nscc) => nscc.window(),
        }
    }

    pub fn acknowledged(&mut self, signal: Signal, now: Time) {
        if let Self::Nscc(nscc) = self {
            nscc.acknowledged(signal, now);
        }
    }

    pub fn trimmed(&mut self, signal: Signal, now: Time) {
        if let Self::Nscc(nscc) = self {
            nscc.trimmed(signal, now);
        }
    }

    pub fn timed_out(&mut self, bytes: u64) {
        if let Self::Nscc(nscc) = self {
            nscc.timed_out(bytes);
        }
    }
}
