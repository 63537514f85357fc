//! [`Config`]: the parameters of ConWeave.

use weft_units::{Duration, params, words};

use crate::spec::{Contradiction, SchemeSpec};

/// The largest table of flows.
const MOST_FLOWS: usize = 1 << 24;
/// The most queues.
const MOST_QUEUES: usize = 1 << 16;

words! {
    /// The accounting of waiting packets.
    pub(super) enum Waiting {
        /// To buffers and flow control.
        Charged = "charged",
        /// In memory of their own.
        Aside = "aside",
    }
}

params! {
    /// The parameters of a scenario.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Config {
        /// time beyond the idle round trip after which an answer is late
        cutoff: Duration = Duration::from_us(4);
        /// time for which flows do not change to a path reported as congested
        pause: Duration = Duration::from_us(16), elsewhere "conweave-ns3 8 us (class), 16 us (script)";
        /// time for which packets of a new path wait if nothing is known of the old one
        wait: Duration = Duration::from_us(200),
            elsewhere "conweave-ns3 200 us on leaf-spine fabrics, on fat-trees 300 us (IRN), 600 us (lossless)";
        /// time by which they wait longer than predicted
        slack: Duration = Duration::from_us(16),
            elsewhere "conweave-ns3 8 us (class), 16 us (script), on lossless fat-trees 64 us";
        /// pause after which a flow may change its path without notice
        expiry: Duration = Duration::from_us(300),
            elsewhere "conweave-ns3 300 us on leaf-spine fabrics, 1 ms on fat-trees";
        /// age from which a flow without packets is forgotten, and a missing `CLEAR` given up
        aging: Duration = Duration::from_us(2_000);
        /// entries of each of a switch's two tables of flows
        flow_table: usize = 65_536, in 1..=MOST_FLOWS;
        /// accounting of waiting packets: charged to buffers and flow control, or in memory of their own
        waiting: Waiting = Waiting::Charged, elsewhere "conweave-ns3 `aside`";
        /// queues of waiting packets in a switch; without one, packets do not wait
        queues: usize = 1_024, in 1..=MOST_QUEUES;
    }
}

impl Config {
    /// The longest time that a packet is held.
    pub(super) fn longest_wait(&self) -> Duration {
        self.wait.max(self.expiry) + self.slack
    }
}

/// The first contradiction among the parameters of `spec`.
pub(super) fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let config = Config::of(&spec.params);
    if config.aging <= config.longest_wait() {
        // The fault is in a parameter that was chosen.
        let chosen = |name| Some((spec.get::<Duration>(name)?, name));
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
        return Some(Contradiction::of(param, value, expected));
    }
    let expected = || format!("expected at most {LONGEST}, the range of times in packets");
    (config.aging > LONGEST).then(|| Contradiction::of("aging", config.aging, expected()))
}

/// Below the range of [`super::overlay::Stamp`].
const LONGEST: Duration = Duration::from_ms(4);

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::ParamValue;

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
