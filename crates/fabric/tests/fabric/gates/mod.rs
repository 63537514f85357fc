//! Gates of Tag-and-Forward: the paper's example, every size, wirings of any order, mistakes, gates from others.

mod given;
mod paper;
mod sizes;
mod walk;
mod wiring;
