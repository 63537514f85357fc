//! Gates of Tag-and-Forward: the paper's example, every size, wirings in any order, mistakes, given gates.

mod given;
mod paper;
mod sizes;
mod walk;
mod wiring;
