//! Integration tests of the simulator: the engine end to end, against theory and against ns-3, and results on disk.

mod common;
mod engine;
mod ns3;
mod sweeps;
mod theory;
