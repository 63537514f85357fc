//! Counters of frames.

use weft_switching::DropReason;

use crate::mirror::mirrored;

/// Why a frame was dropped: by a decision of the switch, or because it could not be parsed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// A decision of the switch.
    Switch(DropReason),
    /// A parse error, by the name of its counter in `weft-wire`, or a kernel reason: `no_memory`, `gso` or `too_long`.
    Reader(&'static str),
}

/// Parse errors and kernel reasons, in the order of `enum reason`, after those of the switch.
const READER: [&str; 8] = ["short", "version", "type", "no_memory", "missing", "repeated", "gso", "too_long"];

/// The number of counted reasons.
const REASONS: usize = DropReason::ALL.len() + READER.len();

impl Reason {
    /// Every reason, in the order of `enum reason`.
    pub fn all() -> impl Iterator<Item = Self> {
        DropReason::ALL.map(Self::Switch).into_iter().chain(READER.map(Self::Reader))
    }

    /// The name of its counter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch(reason) => reason.name(),
            Self::Reader(name) => name,
        }
    }
}

mirrored! {
    /// `struct counters` of one CPU.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Counts = "counters" {
        dropped: [u64; REASONS],
        consumed: u64,
        forwarded: u64,
    }

    /// `struct port_counters` of one CPU or, summed up, the traffic of a port since the program was loaded.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct PortCounts = "port_counters" {
        /// Frames received; a GSO frame counts as one.
        pub received: u64,
        /// Their bytes.
        pub received_bytes: u64,
        /// Frames handed to the port.
        pub sent: u64,
        /// Their bytes.
        pub sent_bytes: u64,
        /// Received frames that were dropped.
        pub dropped: u64,
        /// GSO frames among these, which cannot be tagged.
        pub gso: u64,
        /// Frames not handed to the port, as its link does not take frames of their length.
        pub too_long: u64,
    }
}

impl PortCounts {
    /// The sum over all CPUs.
    pub(crate) fn sum(cpus: &[Self]) -> Self {
        cpus.iter().fold(Self::default(), |sum, cpu| Self {
            received: sum.received + cpu.received,
            received_bytes: sum.received_bytes + cpu.received_bytes,
            sent: sum.sent + cpu.sent,
            sent_bytes: sum.sent_bytes + cpu.sent_bytes,
            dropped: sum.dropped + cpu.dropped,
            gso: sum.gso + cpu.gso,
            too_long: sum.too_long + cpu.too_long,
        })
    }
}

/// Counters of frames since the program was loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Frames dropped, by reason; reasons with a count of 0 are left out.
    pub dropped: Vec<(Reason, u64)>,
    /// Frames for the switch itself.
    pub consumed: u64,
    /// Frames forwarded, flooded ones once.
    pub forwarded: u64,
}

impl Counters {
    /// The sum over all CPUs.
    pub(crate) fn sum(cpus: &[Counts]) -> Self {
        let sum = |of: &dyn Fn(&Counts) -> u64| cpus.iter().map(of).sum::<u64>();
        let dropped = Reason::all().enumerate().map(|(at, reason)| (reason, sum(&|cpu| cpu.dropped[at])));
        Self {
            dropped: dropped.filter(|(_, count)| *count > 0).collect(),
            consumed: sum(&|cpu| cpu.consumed),
            forwarded: sum(&|cpu| cpu.forwarded),
        }
    }
}
