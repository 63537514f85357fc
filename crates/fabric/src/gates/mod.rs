//! Gates: the numbers of Tag-and-Forward by which switches of a k-ary fat-tree forward without a table
//! (Ishimori, Cerqueira and Abelém, *Tag-And-Forward*, section III).
//!
//! Every port of a switch has a gate. A tagged frame carries two, UP and DOWN, and a switch computes the output
//! gate by [`forward`] alone. A [`GatePlan`] has the gates of a whole fabric: computed from a fabric that is wired
//! as a fat-tree ([`GatePlan::of`]), or given and checked ([`GatePlan::given`]). [`SwitchGates`] is one switch's
//! part of it; a [`Steering`] tells a flow's source switch the tag and the gate.

mod check;
mod error;
mod fat_tree;
mod gate;
mod labels;
mod mistake;
mod numbering;
mod plan;
mod recognition;
mod route;
mod switch_gates;
mod violation;
mod wiring;

pub use error::{GateError, Named};
pub use fat_tree::{FatTree, Pod};
pub use gate::{Gate, forward};
pub use mistake::WiringMistake;
pub use numbering::Numbering;
pub use plan::GatePlan;
pub use route::{Hop, Steering};
pub use switch_gates::{Direction, GateFlag, Layer, PortGate, SwitchGates, chosen};
pub use violation::{Property, Violation};
pub use weft_wire::TagWidth;

/// Tests the example of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/gates.md")]
struct Page;
