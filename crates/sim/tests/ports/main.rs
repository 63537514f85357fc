//! Tests of served ports: marking, cut packets, flow control, shared buffers. Separate from the other tests, because they
//! need neither the schemes of the registry nor minutes of compilation:
//! `cargo test -p weft-sim --no-default-features --test ports`.

mod bare;
mod deadlock;
mod lossless;
mod pausing;
mod telemetry;
mod trial;
mod trimming;
