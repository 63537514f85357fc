//! The engine against theory (`validation/theory`).

pub mod conservation;
mod lone_flow;
mod loss;
mod queueing;
mod sharing;
