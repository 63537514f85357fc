//! The choice of entropy values, one file per method: which path each packet of a connection takes.
//!
//! Switches hash the entropy value together with the connection, so a value stands for one path, and several values may
//! share a path.

mod bitmap;
mod feedback;
mod mixed;
mod oblivious;
mod reps;

use weft_units::{Time, words};

use bitmap::Bitmap;
pub use feedback::Feedback;
use mixed::Mixed;
use oblivious::Oblivious;
use reps::Reps;

words! {
    /// How a sender chooses entropy values.
    pub enum EntropyChoice {
        /// Every value once a round, in an order that is random in each round; the network's answers are ignored.
        Oblivious = "oblivious",
        /// Every value once a round, but values whose packets were marked, trimmed or lost are skipped for some rounds.
        Bitmap = "bitmap",
        /// Values whose packets arrived without a mark are used once more; otherwise random ones (REPS, Bonato et al. 2024).
        Reps = "reps",
        /// A value whose packet arrived without a mark if there is one, otherwise as `bitmap`.
        Mixed = "mixed",
    }
}

/// The entropy values of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Entropies {
    Oblivious(Oblivious),
    Bitmap(Bitmap),
    Reps(Reps),
    Mixed(Mixed),
}

impl Entropies {
    /// The values `0..count`, chosen by `choice`; `random` seeds the choice.
    pub fn new(choice: EntropyChoice, count: u16, random: u64) -> Self {
        match choice {
            EntropyChoice::Oblivious => Self::Oblivious(Oblivious::new(count, random)),
            EntropyChoice::Bitmap => Self::Bitmap(Bitmap::new(count, random)),
            EntropyChoice::Reps => Self::Reps(Reps::new(count, random)),
            EntropyChoice::Mixed => Self::Mixed(Mixed::new(count, random)),
        }
    }

    /// The value for the next packet.
    pub fn choose(&mut self) -> u16 {
        match self {
            Self::Oblivious(oblivious) => oblivious.choose(),
            Self::Bitmap(bitmap) => bitmap.choose(),
            Self::Reps(reps) => reps.choose(),
            Self::Mixed(mixed) => mixed.choose(),
        }
    }

    /// Takes an answer about a packet with `value` into account.
    pub fn learn(&mut self, value: u16, feedback: Feedback, now: Time) {
        match self {
            Self::Oblivious(_) => {}
            Self::Bitmap(bitmap) => bitmap.learn(value, feedback),
            Self::Reps(reps) => reps.learn(value, feedback, now),
            Self::Mixed(mixed) => mixed.learn(value, feedback),
        }
    }
}
