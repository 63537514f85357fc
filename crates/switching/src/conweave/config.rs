//! [`Config`]: the parameters of ConWeave.

use weft_units::Duration;

use crate::param::ParamInfo;
use crate::spec::{Contradiction, SchemeSpec};

/// The parameters as users see them.
pub(super) const PARAMS: &[ParamInfo] = &[
    ParamInfo::duration("cutoff", "4 us", "time beyond the idle round trip after which an answer is late"),
    ParamInfo::duration(
        "pause",
        "16 us",
        "time for which flows do not change to a path reported as congested",
    )
    .elsewhere("conweave-ns3 8 us (class), 16 us (script)"),
    ParamInfo::duration(
        "wait",
        "200 us",
        "time for which packets of a new path wait if nothing is known of the old one",
    )
    .elsewhere("conweave-ns3 200 us on leaf-spine fabrics, on fat-trees 300 us (IRN), 600 us (lossless)"),
    ParamInfo::duration("slack", "16 us", "time by which they wait longer than predicted")
        .elsewhere("conweave-ns3 8 us (class), 16 us (script), on lossless fat-trees 64 us"),
    ParamInfo::duration("expiry", "300 us", "pause after which a flow may change its path without notice")
        .elsewhere("conweave-ns3 300 us on leaf-spine fabrics, 1 ms on fat-trees"),
    ParamInfo::duration(
        "aging",
        "2 ms",
        "age from which a flow without packets is forgotten, and a missing `CLEAR` given up",
    ),
    ParamInfo::count("flow_table", "65536", "entries of each of a switch's two tables of flows"),
    ParamInfo::choice(
        "waiting",
        &["charged", "aside"],
        "charged",
        "accounting of waiting packets: charged to buffers and flow control, or in memory of their own",
    )
    .elsewhere("conweave-ns3 `aside`"),
    ParamInfo::count(
        "queues",
        "1024",
        "queues of waiting packets in a switch; without one, packets do not wait",
    ),
];

/// The largest table of flows.
const MOST_FLOWS: u64 = 1 << 24;
/// The most queues.
const MOST_QUEUES: u64 = 1 << 16;

/// The parameters of a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) cutoff: Duration,
    pub(super) pause: Duration,
    pub(super) wait: Duration,
    pub(super) slack: Duration,
    pub(super) expiry: Duration,
    pub(super) aging: Duration,
    pub(super) flows: usize,
    pub(super) queues: usize,
    /// Whether waiting packets are not charged.
    pub(super) aside: bool,
}

impl Config {
    /// Those of `spec`, or the defaults.
    pub(super) fn new(spec: &SchemeSpec) -> Self {
        let us = |name, default| spec.duration(name).unwrap_or(Duration::from_us(default));
        let count = |name, default| spec.count(name).unwrap_or(default) as usize;
        Self {
            cutoff: us("cutoff", 4),
            pause: us("pause", 16),
            wait: us("wait", 200),
            slack: us("slack", 16),
            expiry: us("expiry", 300),
            aging: us("aging", 2_000),
            flows: count("flow_table", 65_536),
            queues: count("queues", 1_024),
            aside: spec.word("waiting") == Some("aside"),
        }
    }

    /// No packet waits longer.
    pub(super) fn longest_wait(&self) -> Duration {
        self.wait.max(self.expiry) + self.slack
    }
}

/// The first contradiction among the parameters of `spec`.
pub(super) fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let config = Config::new(spec);
    if config.aging <= config.longest_wait() {
        // The fault is in a parameter that was chosen.
        let chosen = |name| Some((spec.duration(name)?, name));
        let longest = || ["wait", "expiry", "slack"].into_iter().filter_map(chosen).max();
        let (value, param) = chosen("aging").or_else(longest).unwrap_or((config.aging, "aging"));
        let expected = match param {
            "aging" => {
                let wait = config.longest_wait();
                format!("expected more than `slack` plus the longer of `wait` and `expiry`, {wait}")
            }
            _ => {
                let aging = config.aging;
                format!("expected `slack` plus the longer of `wait` and `expiry` below `aging`, {aging}")
            }
        };
        return Some(Contradiction { param, message: format!("`{param}` cannot be {value}"), expected });
    }
    if config.aging > LONGEST {
        return Some(Contradiction {
            param: "aging",
            message: format!("`aging` cannot be {}", config.aging),
            expected: format!("expected at most {LONGEST}, the range of times in packets"),
        });
    }
    spec.out_of_range("flow_table", 1..=MOST_FLOWS).or_else(|| spec.out_of_range("queues", 1..=MOST_QUEUES))
}

/// Below the range of [`super::overlay::Stamp`].
const LONGEST: Duration = Duration::from_ms(4);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamValue;

    #[test]
    fn the_parameter_that_was_chosen_is_to_blame_if_packets_wait_too_long() {
        type Chosen = &'static [(&'static str, u64)];
        let cases: [(Chosen, Option<&str>); 6] = [
            (&[], None),
            (&[("slack", 1)], None),
            (&[("slack", 2)], Some("slack")),
            (&[("wait", 3), ("expiry", 1)], Some("wait")),
            (&[("wait", 3), ("aging", 2)], Some("aging")),
            (&[("aging", 5)], Some("aging")),
        ];
        for (chosen, expected) in cases {
            let params = chosen
                .iter()
                .map(|(name, value)| ((*name).to_owned(), ParamValue::Duration(Duration::from_ms(*value))));
            let spec = SchemeSpec { name: "conweave".to_owned(), params: params.collect() };
            assert_eq!(contradiction(&spec).map(|found| found.param), expected, "{chosen:?}");
        }
    }
}
