//! Generators of the traffic of large language models, from published dimensions and formulas.

mod grid;
mod model;
mod one_forward_one_backward;
mod training;

pub use grid::Grid;
pub use model::{Attention, Model, Named};
pub(crate) use training::Message;
pub use training::{Precision, Training};

#[cfg(test)]
mod tests;
