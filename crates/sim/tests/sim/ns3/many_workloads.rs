//! The engine's means compared with those in ns-3's order of events, over many workloads.
//!
//! In a stored case, a mean over a hundred flows depends on which of them has a timeout of a second, and that
//! on the order of simultaneous events. [`crate::ns3::in_order`] reproduces ns-3's times flow by flow, so it can
//! replace ns-3 on workloads that ns-3 never ran: like the stored cases, with other seeds.

use std::fmt::{Display, Formatter, Result};

use rayon::prelude::*;

use crate::ns3::case::{CLASSES, Input};
use crate::ns3::generated::{KINDS, Kind, Workload};
use crate::ns3::{in_order, run};

/// The congestion controllers of all workloads.
pub const TCPS: [&str; 3] = ["newreno", "newreno-sack", "cubic"];

/// Completion times of one class in one workload, in seconds.
#[derive(Clone, Copy, Default)]
struct Sums {
    flows: u32,
    in_order: f64,
    engine: f64,
}

/// One workload under both engines, by class; the last entry is for all flows.
fn compare(input: &Input) -> [Sums; CLASSES.len() + 1] {
    let (theirs, ours) = (in_order::run(input), run::run(input));
    let mut sums = [Sums::default(); CLASSES.len() + 1];
    for flow in &input.flows {
        let [theirs, ours] = [&theirs, &ours].map(|outcomes| outcomes[&flow.id].fct.unwrap().as_secs_f64());
        for class in [usize::from(flow.class), CLASSES.len()] {
            sums[class].flows += 1;
            sums[class].in_order += theirs;
            sums[class].engine += ours;
        }
    }
    sums
}

/// Both means of one class over all workloads, in seconds, and their ratio with the half-width of its
/// 95 % confidence interval.
pub struct Row {
    class: &'static str,
    workloads: usize,
    flows: u32,
    in_order: f64,
    engine: f64,
    ratio: f64,
    half_width: f64,
}

/// The columns of `validation/ns3/order.md` after the case's name.
impl Display for Row {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self { class, workloads, flows, in_order, engine, ratio, half_width } = self;
        let (low, high) = (ratio - half_width, ratio + half_width);
        let (in_order, engine) = (in_order * 1e6, engine * 1e6);
        write!(out, "| {class} | {workloads} | {flows} | {in_order:.1} | {engine:.1} ")?;
        write!(out, "| {ratio:.3} | {low:.3} to {high:.3} |")
    }
}

impl Row {
    /// The ratio of the pooled means; its variance by the delta method, from the workloads' residuals
    /// (Cochran, "Sampling Techniques", 1977, 6.4).
    fn new(class: &'static str, workloads: &[Sums]) -> Self {
        let count = workloads.len() as f64;
        let flows = workloads.iter().map(|sums| sums.flows).sum();
        let in_order: f64 = workloads.iter().map(|sums| sums.in_order).sum();
        let engine: f64 = workloads.iter().map(|sums| sums.engine).sum();
        let ratio = engine / in_order;
        let residuals: f64 = workloads.iter().map(|sums| (sums.engine - ratio * sums.in_order).powi(2)).sum();
        let deviation = (residuals * count / (count - 1.0)).sqrt() / in_order;
        let (in_order, engine) = (in_order / f64::from(flows), engine / f64::from(flows));
        let half_width = student_t(count - 1.0) * deviation;
        Self { class, workloads: workloads.len(), flows, in_order, engine, ratio, half_width }
    }

    /// Whether the ratio is within `tolerance` of 1, or too uncertain to say otherwise.
    fn agrees(&self, tolerance: f64) -> bool {
        let error = (self.ratio - 1.0).abs();
        if self.half_width < tolerance { error < tolerance } else { error < tolerance + self.half_width }
    }
}

/// The 97.5 % quantile of Student's t (Abramowitz and Stegun, 26.7.5).
fn student_t(freedom: f64) -> f64 {
    let z: f64 = 1.959_964;
    z + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom.powi(2))
}

/// The rows of `kind` with `tcp` over the workloads of the first `count` seeds.
pub fn rows(kind: &Kind, tcp: &str, count: u64) -> Vec<Row> {
    let workloads: Vec<_> =
        (0..count).into_par_iter().map(|seed| compare(&kind.input(tcp, 1000 + seed))).collect();
    let row = |(class, &name): (usize, &&'static str)| {
        let sums: Vec<_> = workloads.iter().map(|sums| sums[class]).filter(|sums| sums.flows > 0).collect();
        (!sums.is_empty()).then(|| Row::new(name, &sums))
    };
    CLASSES.iter().chain(&["all"]).enumerate().filter_map(row).collect()
}

/// The allowed difference of the means: with spraying, random paths differ.
fn tolerance(kind: &Kind) -> f64 {
    if kind.scheme() == "spray" { 0.10 } else { 0.05 }
}

#[test]
fn the_engines_means_over_some_permutations_agree_with_ns3s_order() {
    for kind in KINDS.iter().filter(|kind| matches!(kind.workload, Workload::Permutation)) {
        for (tcp, row) in
            TCPS.iter().flat_map(|tcp| rows(kind, tcp, 6).into_iter().map(move |row| (tcp, row)))
        {
            assert!(row.agrees(tolerance(kind)), "| {}.{tcp} {row}", kind.name);
        }
    }
}
