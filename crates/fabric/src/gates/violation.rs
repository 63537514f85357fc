//! [`Violation`]: a property that given gates lack.

use std::fmt;

use weft_units::PortId;

use super::Gate;

/// A required property of gates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// Every port of every switch has a gate, with the direction, flag and peer given by the cables.
    Complete,
    /// P1: the gates of servers form one arithmetic progression that starts at an even number above 0; so do those
    /// of external links. Numbers of empty places are left out.
    P1,
    /// P2: the gates of a switch are distinct, and no UP number is a DOWN number.
    P2,
    /// P3: the gate to a switch is the greatest gate of that switch (or that of its last, empty place).
    P3,
    /// P4: all switches of a layer have the same gate spacing.
    P4,
    /// A gate is a multiple of its switch's divisor, and a divisor is a factor of the divisors of layers numbered
    /// later. The paper only requires an even first number; but with 44 instead of 42 for the first external link,
    /// the gate of as1 to cs1 is 46, and f(46, 4) = 48.
    Aligned,
    /// The number fits the tag.
    Fits,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Complete => "completeness",
            Self::P1 => "P1 (one arithmetic progression)",
            Self::P2 => "P2 (gates differ)",
            Self::P3 => "P3 (the greatest gate of the next switch)",
            Self::P4 => "P4 (one difference per layer)",
            Self::Aligned => "alignment (multiples of the difference)",
            Self::Fits => "the tag's bits",
        })
    }
}

/// A violated property, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The property.
    pub property: Property,
    /// The switch.
    pub switch: String,
    /// The port, if it concerns one port's gate.
    pub port: Option<PortId>,
    /// The gates that violate it.
    pub gates: Vec<Gate>,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is broken at {}", self.property, self.switch)?;
        if let Some(port) = self.port {
            write!(f, "-eth{port}")?;
        }
        write!(f, ": {}", self.why)
    }
}
