//! How large and how fast a fabric may be.

use weft_units::{Duration, Rate};

/// Maximum nodes of a fabric.
pub const MAX_NODES: u64 = 1 << 20;
/// Maximum cables of a fabric.
pub const MAX_CABLES: u64 = 1 << 22;
/// The slowest link.
pub const MIN_RATE: Rate = Rate::from_bps(1_000);
/// The fastest link: beyond it, a byte takes less than the resolution of a link's clock.
pub const MAX_RATE: Rate = Rate::from_gbps(10_000);
/// The longest propagation delay.
pub const MAX_DELAY: Duration = Duration::from_secs(3_600);
