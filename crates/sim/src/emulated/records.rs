//! [`Records`]: the load generator's output, one line per flow (docs/loadgen.md).

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use weft_scenario::Plan;
use weft_units::{Duration, Time, plural};

use super::error::EmulatedError;
use crate::sample::{Metric, Sample};

/// Kinds of errors counted separately; further kinds are counted together.
const MAX_ERRORS: usize = 100;

/// The record of a flow. If two machines recorded it, their lines are merged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// When its connection was opened.
    pub start: Option<Time>,
    /// When the receiving application read the last byte.
    pub end: Option<Time>,
    /// Its counts.
    pub counts: Counts,
}

/// Declares the counts of a flow in its record.
macro_rules! counts {
    ($(#[doc = $doc:literal] $name:ident,)*) => {
        /// The counts of a flow, as far as they are known.
        #[derive(Clone, Copy, Debug, Default, Deserialize)]
        pub struct Counts { $(#[doc = $doc] pub $name: Option<u64>,)* }

        impl Counts {
            /// The counts of a flow that never started.
            const ZERO: Self = Self { $($name: Some(0),)* };

            /// These, and of the unknown ones those of `other`.
            fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }
        }
    };
}

counts! {
    /// Data segments sent.
    packets_sent,
    /// Data segments retransmitted.
    retransmissions,
    /// Retransmission timeouts.
    timeouts,
    /// Segments that arrived while an earlier one was missing.
    out_of_order,
    /// Data segments that arrived.
    segments_received,
    /// Segments that the receiver reported as ECN-marked.
    ecn_marks,
}

impl Record {
    /// Time from opening the connection to the last byte.
    pub fn fct(&self) -> Option<Duration> {
        Some(self.end?.saturating_since(self.start?))
    }

    /// Data segments lost, if the flow finished and both ends were recorded.
    pub fn drops(&self) -> Option<u64> {
        self.fct()?;
        Some(self.counts.packets_sent?.saturating_sub(self.counts.segments_received?))
    }

    fn add(&mut self, line: &Line) {
        self.start = self.start.or(line.start_ps.map(Time::from_ps));
        self.end = self.end.or(line.end_ps.map(Time::from_ps));
        self.counts = self.counts.or(line.counts);
    }
}

/// A line: a flow record or a sample.
#[derive(Deserialize)]
struct Line {
    flow: Option<u32>,
    start_ps: Option<u64>,
    end_ps: Option<u64>,
    #[serde(flatten)]
    counts: Counts,
    error: Option<String>,
    time_ps: Option<u64>,
    class: Option<String>,
    delivered_bytes: Option<u64>,
}

/// The load generator's output.
#[derive(Debug)]
pub struct Records {
    /// One record per flow of the plan, in plan order.
    pub flows: Vec<Record>,
    /// Samples of delivered bit/s, by class.
    pub throughput: Vec<Sample>,
    /// Number of errors by kind (the message without ports and addresses).
    pub errors: BTreeMap<String, u64>,
}

impl Records {
    /// Reads the records of a plan's flows.
    ///
    /// # Errors
    /// A line is not a valid record, or names a flow or class that the plan does not have.
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, EmulatedError> {
        let unreadable = |source| EmulatedError::Unreadable { path: path.to_owned(), source };
        let lines = BufReader::new(File::open(path).map_err(unreadable)?).lines();
        let mut builder = Builder::new(plan);
        for (at, line) in lines.enumerate() {
            let line = line.map_err(unreadable)?;
            let wrong = |why| EmulatedError::Record { path: path.to_owned(), line: at + 1, why };
            if !line.trim().is_empty() {
                let line = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
                builder.take(&line).map_err(wrong)?;
            }
        }
        Ok(builder.finish())
    }

    /// When the last flow ended.
    pub fn end(&self) -> Time {
        let ends = self.flows.iter().filter_map(|record| record.end);
        ends.chain(self.throughput.iter().map(|sample| sample.time)).max().unwrap_or(Time::ZERO)
    }
}

struct Builder<'a> {
    classes: HashMap<&'a str, u32>,
    flows: Vec<Option<Record>>,
    /// Delivered bytes, by time and class.
    delivered: BTreeMap<(u64, u32), u64>,
    errors: BTreeMap<String, u64>,
}

impl<'a> Builder<'a> {
    fn new(plan: &'a Plan) -> Self {
        let classes = plan.traffic.classes.iter().map(String::as_str).zip(0..).collect();
        let flows = vec![None; plan.traffic.flows.len()];
        Self { classes, flows, delivered: BTreeMap::new(), errors: BTreeMap::new() }
    }

    fn take(&mut self, line: &Line) -> Result<(), String> {
        let Some(flow) = line.flow else { return self.take_sample(line) };
        let flows = self.flows.len();
        let record = self.flows.get_mut(flow as usize);
        let record = record.ok_or_else(|| {
            format!("flow {flow}: the run has {}, numbered from 0", plural(flows as u64, "flow"))
        })?;
        record.get_or_insert_default().add(line);
        if let Some(error) = &line.error {
            let kind = kind_of(error);
            let kind = match self.errors.len() {
                MAX_ERRORS.. if !self.errors.contains_key(&kind) => "others".to_owned(),
                _ => kind,
            };
            *self.errors.entry(kind).or_default() += 1;
        }
        Ok(())
    }

    /// Adds a sample; samples of two machines are summed.
    fn take_sample(&mut self, line: &Line) -> Result<(), String> {
        let (Some(time), Some(class), Some(bytes)) = (line.time_ps, &line.class, line.delivered_bytes) else {
            return Err(
                "expected a record with `flow` or a sample with `time_ps`, `class` and `delivered_bytes`"
                    .to_owned(),
            );
        };
        let number = self.classes.get(class.as_str());
        let number = number.ok_or_else(|| format!("the run has no class `{class}`"))?;
        *self.delivered.entry((time, *number)).or_default() += bytes;
        Ok(())
    }

    fn finish(self) -> Records {
        let mut throughput = Vec::new();
        let mut before = 0;
        let mut now = 0;
        for ((time, class), bytes) in self.delivered {
            if time != now {
                (before, now) = (now, time);
            }
            let seconds = (now - before) as f64 * 1e-12;
            throughput.push(Sample {
                time: Time::from_ps(time),
                metric: Metric::Throughput,
                entity: class,
                value: if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 },
            });
        }
        // A flow without a connection sent nothing; for a flow without a record nothing is known.
        let flows = self.flows.into_iter().map(|record| match record {
            Some(Record { start: None, end: None, .. }) => {
                Record { counts: Counts::ZERO, ..Record::default() }
            }
            record => record.unwrap_or_default(),
        });
        Records { flows: flows.collect(), throughput, errors: self.errors }
    }
}

/// The kind of an error: its message without addresses, ports and counts.
fn kind_of(error: &str) -> String {
    let mut kind = String::new();
    let mut in_number = false;
    for c in error.chars().take(200) {
        match c {
            '0'..='9' => {
                if !in_number {
                    kind.push('#');
                }
                in_number = true;
            }
            '.' | ':' if in_number => {}
            c => {
                in_number = false;
                kind.push(c);
            }
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_kind_are_counted_together() {
        assert_eq!(
            kind_of("connect to 10.0.0.1:5001: Connection refused (os error 111)"),
            "connect to # Connection refused (os error #)"
        );
        assert_eq!(kind_of("the run's time limit was reached"), "the run's time limit was reached");
    }
}
