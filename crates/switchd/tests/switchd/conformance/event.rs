//! [`Step`]: an event of a sequence.

use std::fmt;

/// An event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A frame arrives.
    Frame(u16, Vec<u8>),
    /// A port goes down or comes up.
    Up(u16, bool),
    /// The daemon looks up the flows of dead ports, which the next [`Event::Tend`] breaks.
    Look,
    /// The daemon sweeps tables, breaks the flows of dead ports, and moves flows off ports whose links lose frames.
    Tend,
    /// The neighbour of a port says which stations it does not reach: the bits of a number.
    Reach(u16, u8),
}

/// An event after a wait.
#[derive(Clone, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds since the previous step.
    pub wait: u64,
    pub event: Event,
}

/// As a Rust expression that constructs it.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event {
            Event::Frame(port, bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                write!(f, "frame({}, {port}, \"{hex}\")", self.wait)
            }
            Event::Up(port, up) => write!(f, "port({}, {port}, {up})", self.wait),
            Event::Look => write!(f, "look({})", self.wait),
            Event::Tend => write!(f, "tend({})", self.wait),
            Event::Reach(port, unreached) => write!(f, "reach({}, {port}, {unreached})", self.wait),
        }
    }
}
