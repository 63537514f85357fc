//! Sums and percentiles by traffic class, for `summary.json`.

use serde_json::{Value, json};

use super::quantile::quantile;
use crate::columns::FlowRow;

/// A sum; `None` as soon as one of its terms is unknown.
#[derive(Clone, Copy)]
struct Sum(Option<u64>);

impl Default for Sum {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl Sum {
    fn add(&mut self, value: Option<u64>) {
        self.0 = self.0.zip(value).map(|(sum, value)| sum + value);
    }
}

/// Sums over the measured flows of one class.
#[derive(Default)]
struct Class {
    flows: u64,
    unfinished: u64,
    fct_s: Vec<f64>,
    slowdown: f64,
    /// Flows with a slowdown.
    slowdowns: u64,
    throughput_bps: f64,
    out_of_order: Sum,
    received: Sum,
    retransmissions: Sum,
    timeouts: Sum,
    drops: Sum,
    resolution_s: f64,
    /// Whether the resolution time of any flow is unknown.
    unresolved: bool,
    explored: Sum,
    exploration_s: f64,
    moved_flows: Sum,
    moves: Sum,
    out_of_order_moved: Sum,
}

/// The summary of one run by class.
pub struct Summary {
    classes: Vec<Class>,
}

impl Summary {
    /// An empty summary for `classes` classes.
    pub fn new(classes: usize) -> Self {
        Self { classes: std::iter::repeat_with(Class::default).take(classes).collect() }
    }

    /// The keys of a class.
    pub fn keys() -> Vec<String> {
        let class = Class::default().json();
        class.as_object().map(|class| class.keys().cloned().collect()).unwrap_or_default()
    }

    /// Counts a flow, unless it is not `measured`.
    pub fn count(&mut self, row: &FlowRow<'_>, measured: bool) {
        let Some(class) = self.classes.get_mut(usize::from(row.flow.class)).filter(|_| measured) else {
            return;
        };
        class.flows += 1;
        class.out_of_order.add(row.out_of_order);
        class.received.add(row.first_transmissions_received);
        class.retransmissions.add(row.retransmissions);
        class.timeouts.add(row.timeouts);
        class.drops.add(row.drops);
        match row.resolution {
            Some(resolution) => class.resolution_s += resolution.as_secs_f64(),
            None => class.unresolved = true,
        }
        class.explored.add(row.moves.map(|_| u64::from(row.exploration.is_some())));
        class.exploration_s += row.exploration.map_or(0.0, |exploration| exploration.as_secs_f64());
        class.moved_flows.add(row.moves.map(|moves| u64::from(moves > 0)));
        class.moves.add(row.moves.map(u64::from));
        if row.moves != Some(0) {
            class.out_of_order_moved.add(row.out_of_order);
        }
        let Some(end) = row.end else {
            class.unfinished += 1;
            return;
        };
        let fct = end.saturating_since(row.flow.start).as_secs_f64();
        class.fct_s.push(fct);
        if fct > 0.0 {
            class.throughput_bps += row.flow.bytes as f64 * 8.0 / fct;
            if let Some(ideal) = row.ideal {
                class.slowdown += fct / ideal.as_secs_f64().max(f64::MIN_POSITIVE);
                class.slowdowns += 1;
            }
        }
    }

    /// The summary as JSON, by class name; means over finished flows, `null` if there are none.
    pub fn json(&mut self, names: &[String]) -> Value {
        let classes = self.classes.iter_mut().zip(names).filter(|(class, _)| class.flows > 0);
        classes.map(|(class, name)| (name.clone(), class.json())).collect::<serde_json::Map<_, _>>().into()
    }
}

impl Class {
    fn json(&mut self) -> Value {
        self.fct_s.sort_by(f64::total_cmp);
        let finished = self.fct_s.len() as f64;
        let mean = |sum: f64| (finished > 0.0).then(|| sum / finished);
        let share = |of: Option<u64>, all: Option<u64>| {
            of.zip(all).filter(|(_, all)| *all > 0).map(|(of, all)| of as f64 / all as f64)
        };
        json!({
            "flows": self.flows,
            "finished": self.flows - self.unfinished,
            "mean_fct_s": mean(self.fct_s.iter().sum()),
            "median_fct_s": quantile(&self.fct_s, 0.5),
            "p99_fct_s": quantile(&self.fct_s, 0.99),
            "p999_fct_s": quantile(&self.fct_s, 0.999),
            "mean_slowdown": (self.slowdowns > 0).then(|| self.slowdown / self.slowdowns as f64),
            "mean_throughput_bps": mean(self.throughput_bps),
            "out_of_order_share": share(self.out_of_order.0, self.received.0),
            "retransmissions": self.retransmissions.0,
            "timeouts": self.timeouts.0,
            "drops": self.drops.0,
            "mean_resolution_s": (self.flows > 0 && !self.unresolved)
                .then(|| self.resolution_s / self.flows as f64),
            "explored": self.explored.0,
            "mean_exploration_s": self.explored.0
                .filter(|explored| *explored > 0)
                .map(|explored| self.exploration_s / explored as f64),
            "moved_flows": self.moved_flows.0,
            "moves": self.moves.0,
            "out_of_order_moved": self.out_of_order_moved.0,
        })
    }
}
