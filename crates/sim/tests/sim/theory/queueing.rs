//! A link's queue compared with queueing theory: mean waits, losses and marks for Poisson arrivals.
//!
//! Packets are fed directly to a link, without a transport that would react to congestion.

use crate::common::statistics::holds;
use crate::common::wire::Wire;
use crate::common::{Uniform, at};
use weft_fabric::{ClassSpec, Limit, LinkSpec, Overhead, QueueSpec, Scheduler};
use weft_transport::Ecn;
use weft_units::{Duration, Rate, Time};

/// Packets of this size take 10 us on the link.
const BYTES: u16 = 1_250;
const SERVICE: f64 = 10e-6;
const DELAY: Duration = Duration::from_us(3);
const UNLIMITED: QueueSpec = QueueSpec::fifo(Limit::Packets(u32::MAX));

fn link(queue: QueueSpec) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(1), DELAY).with_overhead(Overhead::None).with_queue(queue)
}

/// Measurements of one kind of packet.
#[derive(Clone, Copy, Default)]
struct Met {
    offered: u64,
    dropped: u64,
    passed: u64,
    marked: u64,
    waited: f64,
}

impl Met {
    fn mean_wait(&self) -> f64 {
        self.waited / self.passed as f64
    }
}

/// A kind of packet: its share of the arrivals, its size and its DSCP.
type Kind = (f64, u16, u8);

/// Offers `packets` packets as a Poisson stream at load `load` and returns the measurements of each kind.
fn poisson(spec: &LinkSpec, kinds: &[Kind], load: f64, packets: u32, seed: u64) -> Vec<Met> {
    let mut random = Uniform::new(seed, "arrivals");
    let mut wire = Wire::new(spec);
    let service = |bytes: u16| f64::from(bytes) * SERVICE / f64::from(BYTES);
    let mean_gap = kinds.iter().map(|(share, bytes, _)| share * service(*bytes)).sum::<f64>() / load;
    let mut met = vec![Met::default(); kinds.len()];
    let mut offered: Vec<(Time, u8)> = Vec::with_capacity(packets as usize);
    let mut now = 0.0;
    for tag in 0..packets {
        now += random.exponential(mean_gap);
        let mut draw = random.unit();
        let kind = kinds.iter().position(|(share, ..)| {
            draw -= share;
            draw < 0.0
        });
        let kind = kind.unwrap_or(0);
        let (_, bytes, dscp) = kinds[kind];
        let time = at(Duration::from_secs_f64(now));
        met[kind].offered += 1;
        met[kind].dropped += u64::from(wire.offer(time, tag, bytes, dscp, Ecn::Ect0).is_err());
        offered.push((time, kind as u8));
    }
    wire.run_until(Time::MAX);
    for passed in &wire.passed {
        let (time, kind) = offered[passed.tag as usize];
        let (_, bytes, _) = kinds[usize::from(kind)];
        let met = &mut met[usize::from(kind)];
        met.passed += 1;
        met.marked += u64::from(passed.marked);
        met.waited += (passed.arrived - time).as_secs_f64() - DELAY.as_secs_f64() - service(bytes);
    }
    met
}

#[test]
fn the_mean_wait_of_m_d_1_is_rho_s_over_2_1_minus_rho() {
    let seed = 1;
    for (load, packets) in [(0.1, 300_000), (0.3, 300_000), (0.5, 300_000), (0.7, 400_000), (0.9, 1_500_000)]
    {
        let met = poisson(&link(UNLIMITED), &[(1.0, BYTES, 0)], load, packets, seed);
        let expected = load * SERVICE / (2.0 * (1.0 - load));
        let what = format!("M/D/1 mean wait at load {load}, us");
        holds(&what, met[0].mean_wait() * 1e6, expected * 1e6, 0.03, seed);
    }
}

/// Pollaczek and Khinchine: W = lambda E[S^2] / (2 (1 - rho)), the same for packets of all sizes.
#[test]
fn the_mean_wait_of_two_packet_sizes_is_that_of_m_g_1() {
    let seed = 2;
    let kinds = [(0.5, 1_500, 0), (0.5, 64, 0)];
    let service = |bytes: u16| f64::from(bytes) * SERVICE / f64::from(BYTES);
    let (mean, square) = kinds.iter().fold((0.0, 0.0), |(mean, square), (share, bytes, _)| {
        (mean + share * service(*bytes), square + share * service(*bytes).powi(2))
    });
    for load in [0.4, 0.8] {
        let met = poisson(&link(UNLIMITED), &kinds, load, 500_000, seed);
        let expected = load / mean * square / (2.0 * (1.0 - load));
        for (met, (_, bytes, _)) in met.iter().zip(&kinds) {
            let what = format!("M/G/1 mean wait of {bytes} B packets at load {load}, us");
            holds(&what, met.mean_wait() * 1e6, expected * 1e6, 0.03, seed);
        }
    }
}

/// Cobham 1954, without preemption: with the residual service time R = rho S / 2 that an arrival finds,
/// urgent packets wait R / (1 - rho1) and the others R / ((1 - rho1) (1 - rho)).
#[test]
fn the_mean_waits_of_strict_priority_are_cobhams() {
    let seed = 3;
    let queue = QueueSpec {
        classes: vec![ClassSpec { weight: 1 }; 2],
        scheduler: Scheduler::StrictPriority,
        ..UNLIMITED
    };
    for (load, urgent_share) in [(0.6, 0.5), (0.85, 0.3)] {
        let kinds = [(urgent_share, BYTES, 56), (1.0 - urgent_share, BYTES, 0)];
        let met = poisson(&link(queue.clone()), &kinds, load, 600_000, seed);
        let rest = load * SERVICE / 2.0;
        let urgent = rest / (1.0 - load * urgent_share);
        for (name, met, expected) in [("urgent", met[0], urgent), ("other", met[1], urgent / (1.0 - load))] {
            let what = format!("M/D/1 with priority at load {load}, mean wait of {name} packets, us");
            holds(&what, met.mean_wait() * 1e6, expected * 1e6, 0.03, seed);
        }
    }
}

/// The probability that an arrival finds n packets in an M/D/1 system with `places` places,
/// n = 0..=places, from the chain embedded at departures (Cooper, Introduction to Queueing Theory, 5.9).
fn m_d_1_k(load: f64, places: usize) -> Vec<f64> {
    let arrivals: Vec<f64> = (0..places)
        .scan((-load).exp(), |chance, j| {
            let now = *chance;
            *chance *= load / (j + 1) as f64;
            Some(now)
        })
        .collect();
    // The state left behind by a departure; each level follows from those below it.
    let mut left = vec![1.0];
    for level in 0..places - 1 {
        let from_below: f64 = (1..=level).map(|i| left[i] * arrivals[level + 1 - i]).sum();
        let inflow = left[0] * arrivals[level] + from_below;
        left.push((left[level] - inflow) / arrivals[0]);
    }
    let total: f64 = left.iter().sum();
    let empty = left[0] / total;
    let mut found: Vec<f64> = left.iter().map(|share| share / total / (empty + load)).collect();
    found.push(1.0 - 1.0 / (empty + load));
    found
}

#[test]
fn drop_tail_loses_the_share_of_m_d_1_k() {
    let seed = 4;
    for (load, waiting) in [(0.7, 3), (0.9, 8), (1.2, 10)] {
        for limit in [Limit::Packets(waiting), Limit::Bytes(u64::from(waiting) * u64::from(BYTES))] {
            let met = poisson(&link(QueueSpec::fifo(limit)), &[(1.0, BYTES, 0)], load, 600_000, seed);
            let found = m_d_1_k(load, waiting as usize + 1);
            // Both limits exclude the packet on the line.
            let expected = found[found.len() - 1];
            let measured = met[0].dropped as f64 / met[0].offered as f64;
            let what = format!("M/D/1/K loss at load {load}, queue of {limit}, %");
            holds(&what, measured * 100.0, expected * 100.0, 0.03, seed);
        }
    }
}

#[test]
fn packets_are_marked_in_the_share_that_finds_the_threshold_reached() {
    let seed = 5;
    for (load, waiting, threshold) in [(0.8, 20, 2), (0.9, 12, 5)] {
        let queue = QueueSpec::fifo(Limit::Packets(waiting)).marking(Limit::Packets(threshold));
        let met = poisson(&link(queue), &[(1.0, BYTES, 0)], load, 600_000, seed);
        let found = m_d_1_k(load, waiting as usize + 1);
        let (taken, refused) = found.split_at(found.len() - 1);
        let expected = taken[threshold as usize + 1..].iter().sum::<f64>() / (1.0 - refused[0]);
        let measured = met[0].marked as f64 / met[0].passed as f64;
        let what = format!("M/D/1/K marks from {threshold} packets on at load {load}, %");
        holds(&what, measured * 100.0, expected * 100.0, 0.03, seed);
    }
}
