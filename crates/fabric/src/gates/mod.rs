//! Gates: the numbers of Tag-and-Forward by which switches of a k-ary fat-tree forward without a table
//! (Ishimori, Cerqueira and Abelém, *Tag-And-Forward*, section III).
//!
//! Every port of a switch has a gate. A tagged frame carries two, UP and DOWN, and a switch computes the output
//! gate by [`forward`] alone. A [`GatePlan`] has the gates of a whole fabric: computed from a fabric that is wired
//! as a fat-tree ([`GatePlan::of`]), or given and checked ([`GatePlan::given`]). [`SwitchGates`] is one switch's
//! part of it; a [`Steering`] tells a flow's source switch what to do.

mod check;
mod error;
mod fat_tree;
mod gate;
mod labels;
mod numbering;
mod plan;
mod route;
mod switch_gates;
mod wiring;

pub use check::{Property, Violation};
pub use error::{GateError, Named};
pub use fat_tree::{FatTree, Pod};
pub use gate::{Gate, forward};
pub use numbering::Numbering;
pub use plan::GatePlan;
pub use route::{Hop, Steering};
pub use switch_gates::{Direction, GateFlag, Layer, PortGate, SwitchGates, chosen};
pub use weft_wire::TagWidth;
pub use wiring::WiringMistake;

/// Tests the example of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/gates.md")]
struct Page;
