//! The time that a program takes for a frame, by BPF_PROG_TEST_RUN.

use aya::programs::{TestRun, TestRunOptions};
use weft_switchd::{Plane, PlaneError};

/// The interface of the frames: loopback, which always exists. Test runs send nothing.
pub const INTERFACE: u32 = 1;

/// Mean time, in nanoseconds, of `runs` runs of the program with a frame received on [`INTERFACE`]. Nothing is sent.
///
/// # Errors
/// The kernel's error.
pub fn time(plane: &Plane, frame: &[u8], runs: u32) -> Result<u64, PlaneError> {
    // `struct __sk_buff`: all zeros but for `ingress_ifindex`.
    let mut context = [0; 192];
    context[36..40].copy_from_slice(&INTERFACE.to_ne_bytes());
    let options = TestRunOptions {
        data_in: Some(frame),
        ctx_in: Some(&context),
        repeat: runs,
        ..TestRunOptions::new()
    };
    Ok(plane.program()?.test_run(options)?.duration.as_nanos() as u64)
}

/// The 10th, 50th and 90th percentile of times.
pub fn percentiles(mut took: Vec<u64>) -> [u64; 3] {
    took.sort_unstable();
    [10, 50, 90].map(|part| took.get(took.len() * part / 100).copied().unwrap_or_default())
}
