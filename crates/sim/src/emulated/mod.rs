//! Results of emulated runs: turns a load generator's records and observations of a network of Linux
//! switches into the same result directory that a simulation writes.
//!
//! The flows, their ideal completion times and the measurement window come from the plan, as in a
//! simulation; unknown values are null. See docs/results.md.

mod error;
mod observed;
mod records;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use weft_fabric::EqualCost;
use weft_scenario::{LinkStates, Plan, Point, Scenario};
use weft_units::{Duration, LinkId, Time};

use crate::columns::FlowRow;
use crate::ideal::Ideal;
use crate::record::Recorder;
use crate::results::{Account, EventAccount, ResultWriter, summary};
use crate::sample::{Metric, Sample};
use crate::sweep_directory::Directory;

pub use error::EmulatedError;
use observed::Observed;
use records::Records;

/// Writes the result of the run `point` into `directory`, from the load generator's `records` and the
/// `observed` network.
///
/// # Errors
/// One of the files is invalid, or the result cannot be written; no partial result is left.
pub fn write(
    scenario: &Scenario,
    point: &Point,
    directory: &Directory,
    records: &Path,
    observed: &Path,
) -> Result<(), EmulatedError> {
    let target = directory.target(point);
    if target.exists() {
        return Err(EmulatedError::Exists { path: target });
    }
    let plan = scenario.plan(point, &|path| directory.load(path))?;
    let records = Records::read(records, &plan)?;
    let observed = Observed::read(observed, &plan)?;
    let run =
        Run { plan: &plan, end: observed.end.max(records.end()), records: &records, observed: &observed };
    run.write(&target, scenario.text())
}

/// An emulated run.
struct Run<'a> {
    plan: &'a Plan,
    records: &'a Records,
    observed: &'a Observed,
    end: Time,
}

impl Run<'_> {
    fn write(&self, target: &Path, scenario: &str) -> Result<(), EmulatedError> {
        let plan = self.plan;
        let classes = &plan.traffic.classes;
        let mut writer = ResultWriter::create(target, plan)?;
        self.flows(&mut writer);
        self.series().iter().for_each(|sample| writer.sample(sample));
        let by_class = writer.summary().json(classes);
        let steady = writer.steady().json(None);
        Ok(writer.finish(&summary(plan, &self.account(), by_class, steady), scenario)?)
    }

    /// Writes the rows of all flows, in order of flow number.
    fn flows(&self, writer: &mut ResultWriter<'_>) {
        let plan = self.plan;
        let ideal = Ideal::new(&plan.fabric, &plan.transport.protocol);
        let epochs = epochs(plan);
        for (flow, record) in plan.traffic.flows.iter().zip(&self.records.flows) {
            // The planned start time counts: a late start is not caused by the network.
            let end = record.fct().map(|fct| flow.start + fct);
            let epoch = epochs.partition_point(|(from, _)| *from <= flow.start).saturating_sub(1);
            let (ideal, hops) = ideal.fct(&plan.fabric, &epochs[epoch].1, flow);
            let seen = self.observed.flows.get(&flow.id.0);
            let path = seen.map_or_else(String::new, |seen| seen.path.join(" "));
            let counts = &record.counts;
            let whole = counts.retransmissions == Some(0);
            writer.row(&FlowRow {
                end,
                ideal: (hops > 0).then_some(ideal),
                hops: Some(hops),
                // Always plain TCP: plans with Multipath TCP are not exported.
                subflows: Some(1),
                packets_sent: counts.packets_sent,
                retransmissions: counts.retransmissions,
                timeouts: counts.timeouts,
                first_transmissions_received: counts.segments_received.filter(|_| whole),
                ecn_marks: counts.ecn_marks,
                drops: record.drops(),
                resolution: seen.and_then(|seen| seen.resolution_ps).map(Duration::from_ps),
                exploration: seen.and_then(|seen| seen.exploration_ps).map(Duration::from_ps),
                moves: seen.and_then(|seen| seen.moves),
                path: &path,
                ..FlowRow::unknown(*flow)
            });
        }
    }

    /// Samples of links and switches, and samples derived from the flows, in order of time.
    fn series(&self) -> Vec<Sample> {
        let mut series = self.observed.series.clone();
        series.extend(self.records.throughput.iter().copied());
        series.extend(self.active_flows());
        series.sort_by_key(|sample| sample.time);
        series
    }

    /// The number of flows started and not finished, at every sampling time.
    fn active_flows(&self) -> Vec<Sample> {
        let mut begun: Vec<Time> = self.records.flows.iter().filter_map(|record| record.start).collect();
        let mut ended: Vec<Time> = self.records.flows.iter().filter_map(|record| record.end).collect();
        begun.sort_unstable();
        ended.sort_unstable();
        let mut samples = Vec::new();
        let mut time = Time::ZERO + self.plan.measure.interval;
        while time <= self.end {
            let until = |times: &[Time]| times.partition_point(|at| *at <= time) as f64;
            let value = until(&begun) - until(&ended);
            samples.push(Sample { time, metric: Metric::ActiveFlows, entity: 0, value });
            time += self.plan.measure.interval;
        }
        samples
    }

    fn account(&self) -> Account {
        let plan = self.plan;
        let mut state = LinkStates::of(&plan.fabric);
        let happened = plan.events.iter().take_while(|event| event.at <= self.end);
        let events = happened.map(|event| {
            state.apply(&event.change);
            EventAccount { at: event.at, cost: None }
        });
        let events = events.collect();
        let ids = (0..plan.fabric.links().len() as u32).map(LinkId);
        Account {
            end: self.end,
            window: self.observed.window.unwrap_or(plan.measure.window),
            flows_started: self.records.flows.iter().filter(|record| record.start.is_some()).count() as u64,
            flows_finished: self.records.flows.iter().filter(|record| record.end.is_some()).count() as u64,
            packets: self.observed.packets(&plan.fabric),
            links: ids.map(|id| self.observed.link(id, state.is_up(id))).collect(),
            events,
            controller: None,
            multipath: None,
            deadlock: None,
            jobs: Vec::new(),
            emulated: Some(self.emulated()),
        }
    }

    /// Values that only an emulation has: observations that fit no table, and the kernel's count of
    /// segments that arrived while an earlier one was missing.
    fn emulated(&self) -> Value {
        let mut classes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (flow, record) in self.plan.traffic.flows.iter().zip(&self.records.flows) {
            let sums = classes.entry(&self.plan.traffic.classes[usize::from(flow.class)]).or_default();
            sums.0 += record.counts.segments_received.unwrap_or(0);
            sums.1 += record.counts.out_of_order.unwrap_or(0);
        }
        let classes: BTreeMap<&str, Value> = classes
            .into_iter()
            .map(|(class, (received, early))| {
                (class, json!({ "segments_received": received, "rcv_ooopack": early }))
            })
            .collect();
        let mut emulated = self.observed.rest.clone();
        emulated.insert("classes".to_owned(), json!(classes));
        emulated.insert("errors".to_owned(), json!(self.records.errors));
        Value::Object(emulated)
    }
}

/// The shortest paths from the start and after every event.
fn epochs(plan: &Plan) -> Vec<(Time, EqualCost)> {
    let mut state = LinkStates::of(&plan.fabric);
    let paths = |state: &LinkStates<'_>| EqualCost::compute_where(&plan.fabric, |link| state.is_up(link));
    let mut epochs = vec![(Time::ZERO, paths(&state))];
    for event in &plan.events {
        state.apply(&event.change);
        epochs.push((event.at, paths(&state)));
    }
    epochs
}
