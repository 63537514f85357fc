//! [`Origin`]: how the results of a sweep are produced.

use serde_json::{Value, json};

/// The key that marks a list of emulated results.
const EMULATED: &str = "emulated";

/// How the results of a sweep are produced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Produced by the simulator.
    Simulated,
    /// Measured on a network of Linux switches and hosts.
    Emulated,
}

impl Origin {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Emulated => "emulated",
        }
    }

    /// The origin given in a list of runs.
    pub(crate) fn of(list: &Value) -> Self {
        if list[EMULATED] == json!(true) { Self::Emulated } else { Self::Simulated }
    }

    /// Marks a new list of runs.
    pub(crate) fn enter(self, list: &mut Value) {
        if self == Self::Emulated {
            list[EMULATED] = json!(true);
        }
    }
}
