//! Sums and percentiles by traffic class, for `summary.json`.

use serde_json::{Value, json};

use crate::record::FlowRecord;

/// The flows of one class that count, as far as a summary needs them.
#[derive(Default)]
struct Class {
    flows: u64,
    unfinished: u64,
    fct_s: Vec<f64>,
    slowdown: f64,
    throughput_bps: f64,
    out_of_order: u64,
    received: u64,
    retransmissions: u64,
    timeouts: u64,
    drops: u64,
    resolution_s: f64,
    explored: u64,
    exploration_s: f64,
    moved_flows: u64,
    moves: u64,
    out_of_order_moved: u64,
}

/// The summary of one run by class.
pub struct Summary {
    classes: Vec<Class>,
}

impl Summary {
    /// An empty summary of `classes` classes.
    pub fn new(classes: usize) -> Self {
        Self { classes: std::iter::repeat_with(Class::default).take(classes).collect() }
    }

    /// Counts a flow; one that is not `measured` is left out.
    pub fn count(&mut self, record: &FlowRecord, measured: bool) {
        let Some(class) = self.classes.get_mut(usize::from(record.flow.class)).filter(|_| measured) else {
            return;
        };
        class.flows += 1;
        class.out_of_order += record.out_of_order;
        class.received += record.first_transmissions_received;
        class.retransmissions += record.retransmissions;
        class.timeouts += record.timeouts;
        class.drops += record.drops;
        class.resolution_s += record.resolution.as_secs_f64();
        if let Some(exploration) = record.exploration {
            class.explored += 1;
            class.exploration_s += exploration.as_secs_f64();
        }
        if record.moves > 0 {
            class.moved_flows += 1;
            class.moves += u64::from(record.moves);
            class.out_of_order_moved += record.out_of_order;
        }
        let Some(end) = record.end else {
            class.unfinished += 1;
            return;
        };
        let fct = end.saturating_since(record.flow.start).as_secs_f64();
        class.fct_s.push(fct);
        if fct > 0.0 {
            class.throughput_bps += record.flow.bytes as f64 * 8.0 / fct;
            class.slowdown += fct / record.ideal.as_secs_f64().max(f64::MIN_POSITIVE);
        }
    }

    /// The summary as JSON, by class name; means over finished flows, `null` where there is none.
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
        let percentile = |share: f64| {
            let rank = (share * finished).ceil().max(1.0) as usize - 1;
            self.fct_s.get(rank).copied()
        };
        json!({
            "flows": self.flows,
            "finished": self.flows - self.unfinished,
            "mean_fct_s": mean(self.fct_s.iter().sum()),
            "median_fct_s": percentile(0.5),
            "p99_fct_s": percentile(0.99),
            "mean_slowdown": mean(self.slowdown),
            "mean_throughput_bps": mean(self.throughput_bps),
            "out_of_order_share": (self.received > 0)
                .then(|| self.out_of_order as f64 / self.received as f64),
            "retransmissions": self.retransmissions,
            "timeouts": self.timeouts,
            "drops": self.drops,
            "mean_resolution_s": (self.flows > 0).then(|| self.resolution_s / self.flows as f64),
            "explored": self.explored,
            "mean_exploration_s": (self.explored > 0).then(|| self.exploration_s / self.explored as f64),
            "moved_flows": self.moved_flows,
            "moves": self.moves,
            "out_of_order_moved": self.out_of_order_moved,
        })
    }
}
