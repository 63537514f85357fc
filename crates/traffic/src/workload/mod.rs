//! Generators of the traffic of large language models, from published dimensions and formulas.

mod grid;
mod inference;
mod model;
mod one_forward_one_backward;
mod training;

pub use grid::Grid;
pub(crate) use inference::{Counts, Kind};
pub use inference::{Inference, Lengths};
pub use model::{Attention, Model, Named, Precision};
pub(crate) use training::Message;
pub use training::Training;

#[cfg(test)]
mod tests;
