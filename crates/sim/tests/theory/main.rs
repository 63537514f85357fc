//! The engine against theory (`validation/theory`).

#[path = "../common/mod.rs"]
mod common;

mod conservation;
mod lone_flow;
mod loss;
mod queueing;
mod sharing;
