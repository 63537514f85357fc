//! [`Gate`] and the forwarding function.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a port of a switch, above 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gate(pub u32);

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The gate through which a switch whose gates are `divisor` apart sends a frame that carries `gate`: the smallest
/// multiple of the divisor that is not below it (section III-C, equation 3). `None` if the divisor is 0 or the
/// multiple exceeds 32 bits.
#[inline]
pub const fn forward(gate: Gate, divisor: u32) -> Option<Gate> {
    if divisor == 0 {
        return None;
    }
    if gate.0.is_multiple_of(divisor) {
        return Some(gate);
    }
    match (gate.0 / divisor + 1).checked_mul(divisor) {
        Some(next) => Some(Gate(next)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_gives_the_next_multiple() {
        // The first four are the paper's (section IV).
        for (gate, divisor, expected) in [
            (48, 4, Some(48)),
            (30, 8, Some(32)),
            (30, 4, Some(32)),
            (30, 2, Some(30)),
            (1, 8, Some(8)),
            (0, 8, Some(0)),
            (7, 0, None),
            (u32::MAX, 2, None),
            (u32::MAX, 1, Some(u32::MAX)),
        ] {
            assert_eq!(forward(Gate(gate), divisor), expected.map(Gate), "f({gate}, {divisor})");
        }
    }
}
