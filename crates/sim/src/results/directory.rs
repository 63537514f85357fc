//! [`ResultWriter`]: the directory of one run while it is being written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;
use weft_scenario::Plan;
use weft_units::{Duration, Time};

use super::columns::{Cell, Column, Table};
use super::row::FlowRow;
use super::steady::Steady;
use super::summary::Summary;
use super::temporary::{Temporary, temporary_of};
use crate::record::{FlowRecord, Metric, Recorder, Sample};

/// Why a result could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct ResultError {
    /// The file or directory.
    pub path: PathBuf,
    /// The I/O error.
    pub source: io::Error,
}

/// The files of a result.
pub const FILES: [&str; 4] = ["flows.parquet", "series.parquet", "summary.json", "scenario.toml"];

/// Writes a result under a temporary name next to its final one. Dropped, also by a panic, it leaves nothing.
pub struct ResultWriter<'a> {
    plan: &'a Plan,
    target: PathBuf,
    temporary: Temporary,
    flows: Table,
    series: Table,
    summary: Summary,
    steady: Steady<'a>,
    link_labels: Vec<String>,
    failure: Option<ResultError>,
}

impl<'a> ResultWriter<'a> {
    /// Starts the result `target` of a run of `plan`. Flows that [`Measure::counts`](weft_scenario::Measure::counts) are
    /// marked as measured.
    ///
    /// # Errors
    /// The result cannot be created.
    pub fn create(target: &Path, plan: &'a Plan) -> Result<Self, ResultError> {
        let fabric = &plan.fabric;
        let temporary = temporary_of(target);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| ResultError { path, source }
        };
        fs::create_dir_all(&temporary).map_err(at(&temporary))?;
        let temporary = Temporary(temporary);
        let table = |name: &str, columns| {
            let path = temporary.0.join(name);
            let file = File::create(&path).map_err(at(&path))?;
            Table::new(file, columns).map_err(|error| parquet_error(&path, error))
        };
        let long = || Column::Long(Default::default());
        let int = || Column::Int(Default::default());
        let flows = table(
            "flows.parquet",
            vec![
                ("flow", long()),
                ("src", Column::name()),
                ("dst", Column::name()),
                ("sport", int()),
                ("dport", int()),
                ("class", Column::name()),
                ("dscp", int()),
                ("bytes", long()),
                ("start_ps", long()),
                ("end_ps", long()),
                ("fct_ps", long()),
                ("ideal_fct_ps", long()),
                ("measured", Column::Flag(Default::default())),
                ("hops", int()),
                ("subflows", int()),
                ("packets_sent", long()),
                ("retransmissions", long()),
                ("timeouts", long()),
                ("out_of_order", long()),
                ("first_transmissions_received", long()),
                ("drops", long()),
                ("ecn_marks", long()),
                ("delay_ps", long()),
                ("jitter_ps", long()),
                ("resolution_ps", long()),
                ("exploration_ps", long()),
                ("moves", int()),
                ("path", Column::name()),
            ],
        )?;
        let series = table(
            "series.parquet",
            vec![
                ("time_ps", long()),
                ("metric", Column::name()),
                ("entity", Column::name()),
                ("value", Column::Real(Default::default())),
            ],
        )?;
        let link_labels =
            (0..fabric.links().len() as u32).map(|id| fabric.link_label(weft_units::LinkId(id)));
        Ok(Self {
            plan,
            target: target.to_owned(),
            temporary,
            flows,
            series,
            summary: Summary::new(plan.traffic.classes.len()),
            steady: Steady::new(plan),
            link_labels: link_labels.collect(),
            failure: None,
        })
    }

    /// The first error while writing rows, if any.
    pub const fn failure(&self) -> Option<&ResultError> {
        self.failure.as_ref()
    }

    /// The sums by class so far.
    pub const fn summary(&mut self) -> &mut Summary {
        &mut self.summary
    }

    /// Whether the flows so far were in a steady state.
    pub const fn steady(&self) -> &Steady<'a> {
        &self.steady
    }

    /// Completes the tables, adds the text files and gives the result its final name.
    ///
    /// # Errors
    /// The first error, now or while writing rows; the partial result is removed.
    pub fn finish(self, texts: &[(&str, &str)]) -> Result<(), ResultError> {
        let Self { target, temporary, flows, series, failure, .. } = self;
        failure.map_or(Ok(()), Err)?;
        let ended = |name: &str, table: Table| {
            table.finish().map_err(|error| parquet_error(&temporary.0.join(name), error))
        };
        ended("flows.parquet", flows)?;
        ended("series.parquet", series)?;
        for (name, text) in texts {
            debug_assert!(FILES.contains(name), "FILES lists every file of a result");
            let path = temporary.0.join(name);
            fs::write(&path, text).map_err(|source| ResultError { path, source })?;
        }
        fs::rename(&temporary.0, &target).map_err(|source| ResultError { path: target, source })
    }

    /// The switches on a flow's path.
    fn path(&self, record: &FlowRecord) -> String {
        let mut path = String::new();
        for link in record.path.iter().skip(1) {
            let space = if path.is_empty() { "" } else { " " };
            path.extend([space, &self.plan.fabric.node(self.plan.fabric.link(*link).from).name]);
        }
        path
    }

    fn note(&mut self, name: &str, outcome: Result<(), ParquetError>) {
        if let Err(error) = outcome
            && self.failure.is_none()
        {
            self.failure = Some(parquet_error(&self.temporary.0.join(name), error));
        }
    }
}

impl ResultWriter<'_> {
    /// Writes a row of `flows.parquet` and counts it.
    pub fn row(&mut self, row: &FlowRow<'_>) {
        if self.failure.is_some() {
            return;
        }
        let flow = &row.flow;
        let long = |value: u64| Cell::Long(i64::try_from(value).ok());
        let count = |value: Option<u64>| Cell::Long(value.and_then(|value| i64::try_from(value).ok()));
        let fct = row.end.map(|end| end.saturating_since(flow.start).ps());
        let measured = self.plan.measure.counts(flow.start, self.plan.traffic.arriving.has(flow.id));
        self.summary.count(row, measured);
        self.steady.add(row);
        let outcome = self.flows.push(&[
            long(u64::from(flow.id.0)),
            Cell::Name(Some(self.plan.fabric.host_name(flow.src))),
            Cell::Name(Some(self.plan.fabric.host_name(flow.dst))),
            Cell::Int(Some(i32::from(flow.sport))),
            Cell::Int(Some(i32::from(flow.dport))),
            Cell::Name(Some(&self.plan.traffic.classes[usize::from(flow.class)])),
            Cell::Int(Some(i32::from(flow.dscp))),
            long(flow.bytes),
            long(flow.start.ps()),
            count(row.end.map(Time::ps)),
            count(fct),
            count(row.ideal.map(Duration::ps)),
            Cell::Flag(measured),
            Cell::Int(Some(row.hops as i32)),
            Cell::Int(row.subflows.map(|subflows| subflows as i32)),
            count(row.packets_sent),
            count(row.retransmissions),
            count(row.timeouts),
            count(row.out_of_order),
            count(row.first_transmissions_received),
            count(row.drops),
            count(row.ecn_marks),
            count(row.delay.map(Duration::ps)),
            count(row.jitter.map(Duration::ps)),
            count(row.resolution.map(Duration::ps)),
            count(row.exploration.map(Duration::ps)),
            Cell::Int(row.moves.map(|moves| moves as i32)),
            Cell::Name(Some(row.path).filter(|path| !path.is_empty())),
        ]);
        self.note("flows.parquet", outcome);
    }
}

impl Recorder for ResultWriter<'_> {
    fn flow(&mut self, record: &FlowRecord) {
        let path = self.path(record);
        self.row(&FlowRow::new(record, &path));
    }

    fn sample(&mut self, sample: &Sample) {
        if self.failure.is_some() {
            return;
        }
        let entity = match sample.metric {
            Metric::Throughput => &self.plan.traffic.classes[sample.entity as usize],
            Metric::ActiveFlows => "all",
            Metric::FlowEntries | Metric::StationEntries | Metric::GroupEntries => {
                &self.plan.fabric.node(weft_units::NodeId(sample.entity)).name
            }
            _ => &self.link_labels[sample.entity as usize],
        };
        let outcome = self.series.push(&[
            Cell::Long(i64::try_from(sample.time.ps()).ok()),
            Cell::Name(Some(sample.metric.name())),
            Cell::Name(Some(entity)),
            Cell::Real(sample.value),
        ]);
        self.note("series.parquet", outcome);
    }
}

fn parquet_error(path: &Path, error: ParquetError) -> ResultError {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    };
    ResultError { path: path.to_owned(), source }
}
