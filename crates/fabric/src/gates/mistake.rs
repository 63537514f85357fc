//! [`WiringMistake`]: a difference between a fabric and the intended fat-tree.

use std::fmt;

use weft_units::PortId;

/// A misplaced cable, seen from its lower end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WiringMistake {
    /// A cable leads to the wrong switch.
    Misled {
        /// The switch at the lower end.
        switch: String,
        /// Its port.
        port: PortId,
        /// The node the link leads to.
        leads_to: String,
        /// The node it should lead to.
        expected: String,
    },
    /// An extra cable.
    Extra {
        /// The switch at the lower end.
        switch: String,
        /// Its port.
        port: PortId,
        /// The node the link leads to.
        leads_to: String,
    },
    /// A missing cable.
    Missing {
        /// The switch at the lower end.
        switch: String,
        /// The node a link should lead to.
        expected: String,
    },
}

impl fmt::Display for WiringMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misled { switch, port, leads_to, expected } => {
                write!(f, "{switch}-eth{port} goes to {leads_to}, expected {expected}")
            }
            Self::Extra { switch, port, leads_to } => {
                write!(f, "{switch}-eth{port} goes to {leads_to}, expected no link")
            }
            Self::Missing { switch, expected } => write!(f, "{switch} has no link to {expected}"),
        }
    }
}
