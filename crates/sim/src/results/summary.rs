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
        })
    }
}
