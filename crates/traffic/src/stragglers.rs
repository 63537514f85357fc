//! [`Stragglers`]: ranks that compute more slowly than the others.

use rand_core::RngCore;
use weft_units::{Duration, HostId, plural};

use crate::dependencies::{Node, StepKind};
use crate::program::Program;
use crate::random::shuffle;
use crate::words::there_are;

/// Ranks that compute more slowly than the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stragglers {
    /// Their number.
    pub count: u64,
    /// How many times as long they compute, at least 1.
    pub factor: f64,
}

impl Stragglers {
    /// No stragglers.
    pub const NONE: Self = Self { count: 0, factor: 1.0 };

    /// Draws the stragglers among the hosts of a program, and makes their computations longer: those of processors, and the delays
    /// of what starts at them.
    ///
    /// # Errors
    /// More stragglers than ranks, or ranks that compute nothing, for the reason `idle`.
    pub(crate) fn slow(
        &self,
        program: &mut Program,
        rng: &mut impl RngCore,
        idle: impl FnOnce() -> String,
    ) -> Result<(), String> {
        if self.count == 0 {
            return Ok(());
        }
        let mut hosts: Vec<HostId> = program.flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        if self.count > hosts.len() as u64 {
            let asked = plural(self.count, "straggler");
            return Err(format!("there cannot be {asked}: {}", there_are(hosts.len() as u64, "rank")));
        }
        shuffle(rng, &mut hosts);
        hosts.truncate(self.count as usize);
        hosts.sort_unstable();
        let is_slow = |host: HostId| hosts.binary_search(&host).is_ok();
        let longer = |time: Duration| Duration::from_ps((time.ps() as f64 * self.factor) as u64);
        let mut computes = false;
        let mut extend = |time: &mut Duration, host: HostId| {
            computes |= *time > Duration::ZERO;
            if is_slow(host) {
                *time = longer(*time);
            }
        };
        for need in &mut program.needs {
            let host = match need.waiting {
                Node::Flow(flow) => program.flows[flow as usize].src,
                Node::Step(step) => program.steps[step as usize].host,
            };
            extend(&mut need.delay, host);
        }
        for step in &mut program.steps {
            if let StepKind::Work { takes, .. } = &mut step.kind {
                extend(takes, step.host);
            }
        }
        for (flow, series) in &mut program.series {
            extend(&mut series.compute, program.flows[*flow as usize].dst);
        }
        match computes {
            true => Ok(()),
            false => Err(idle()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Algorithm, Collective};
    use crate::connections::Reuse;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn stragglers_take_longer_to_compute_and_nothing_else_changes() {
        for reuse in [Reuse::PerMessage, Reuse::Persistent] {
            let compute = Duration::from_us(10);
            let ring = Collective { reuse, compute, ..Collective::new(Algorithm::RingAllReduce, 1_000, 1) };
            let even = ring.round(8);
            let slow = |count, seed| {
                let mut program = even.clone();
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                Stragglers { count, factor: 2.5 }.slow(&mut program, &mut rng, String::new).map(|()| program)
            };
            let program = slow(2, 1).unwrap();
            let delays = program.needs.iter().map(|need| need.delay);
            let all: Vec<Duration> =
                delays.chain(program.series.iter().map(|(_, series)| series.compute)).collect();
            let is_slow = all.iter().filter(|delay| **delay == Duration::from_us(25)).count();
            assert_eq!(is_slow * 4, all.len(), "a quarter of the ranks: {all:?}");
            assert!(all.iter().all(|delay| [10, 25].map(Duration::from_us).contains(delay)));
            assert_eq!(program.flows, even.flows);
            assert_ne!(slow(2, 1), slow(2, 2));
            assert_eq!(slow(0, 1), Ok(even.clone()));
            assert_eq!(slow(9, 1), Err("there cannot be 9 stragglers: there are 8 ranks".into()));
        }
        let mut idle = Collective::new(Algorithm::RingAllReduce, 1_000, 1).round(4);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let why = Stragglers { count: 1, factor: 2.0 }.slow(&mut idle, &mut rng, || "idle".into());
        assert_eq!(why, Err("idle".into()));
    }
}
