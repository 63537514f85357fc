//! [`ResultWriter`]: the directory of one run while it is being written.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use serde::Serialize;
use thiserror::Error;
use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_units::{LinkId, NodeId, reason};

use super::steady::GrowthTest;
use super::summary::Summary;
use super::table::{Cell, Column, Table};
use super::temporary::{Temporary, temporary_of};
use crate::columns::{FLOWS, FlowRecord, FlowRow};
use crate::jobs::{PATHS, PathRecord, RANKS, RING_STEPS, RankRecord, RingStepRecord, WORKS, WorkRecord};
use crate::record::Recorder;
use crate::sample::{Entity, SERIES, Sample};

/// Why a result could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {}", path.display(), reason(source))]
pub struct ResultError {
    /// The file or directory.
    pub path: PathBuf,
    /// The I/O error.
    pub source: io::Error,
}

/// Bytes of JSON per write.
const JSON_BUFFER: usize = 1 << 16;

/// The files of a result.
pub const FILES: [&str; 4] = ["flows.parquet", "series.parquet", "summary.json", "scenario.toml"];
/// Files that only some results have: of processors, and of jobs.
pub const MORE_FILES: [&str; 4] = [WORK, RANK, PATH, RING_STEP];
const WORK: &str = "work.parquet";
const RANK: &str = "ranks.parquet";
const PATH: &str = "critical_path.parquet";
const RING_STEP: &str = "ring_steps.parquet";

/// Writes a result under a temporary name next to its final one. Dropped, also by a panic, it leaves nothing.
pub struct ResultWriter<'a> {
    plan: &'a Plan,
    target: PathBuf,
    temporary: Temporary,
    flows: Table,
    series: Table,
    /// The tables that not every result has, by the name of their file.
    more: BTreeMap<&'static str, Table>,
    summary: Summary,
    steady: GrowthTest<'a>,
    /// The labels of all links, once one is sampled: those of large fabrics are not.
    link_labels: OnceCell<Vec<String>>,
    failure: Option<ResultError>,
}

impl<'a> ResultWriter<'a> {
    /// Starts the result `target` of a run of `plan`. Flows that [`Measure::counts`](weft_scenario::Measure::counts) are
    /// marked as measured.
    ///
    /// # Errors
    /// The result cannot be created.
    pub fn create(target: &Path, plan: &'a Plan) -> Result<Self, ResultError> {
        let temporary = temporary_of(target);
        let created = fs::create_dir_all(&temporary);
        created.map_err(|source| ResultError { path: temporary.clone(), source })?;
        let temporary = Temporary(temporary);
        let flows = table(&temporary.0.join("flows.parquet"), FLOWS)?;
        let series = table(&temporary.0.join("series.parquet"), SERIES)?;
        Ok(Self {
            plan,
            target: target.to_owned(),
            temporary,
            flows,
            series,
            more: BTreeMap::new(),
            summary: Summary::new(plan.traffic.classes.len()),
            steady: GrowthTest::new(plan),
            link_labels: OnceCell::new(),
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
    pub const fn steady(&self) -> &GrowthTest<'a> {
        &self.steady
    }

    /// Completes the tables, adds `summary.json` and the text of the scenario, and gives the result its final name.
    ///
    /// # Errors
    /// The first error, now or while writing rows; the partial result is removed.
    pub fn finish(self, summary: &impl Serialize, scenario: &str) -> Result<(), ResultError> {
        let Self { target, temporary, flows, series, more, failure, .. } = self;
        failure.map_or(Ok(()), Err)?;
        let ended = |name: &str, table: Table| {
            table.finish().map_err(|error| parquet_error(&temporary.0.join(name), error))
        };
        ended("flows.parquet", flows)?;
        ended("series.parquet", series)?;
        more.into_iter().try_for_each(|(name, table)| ended(name, table))?;
        let path = temporary.0.join("summary.json");
        write_json(&path, summary).map_err(|source| ResultError { path, source })?;
        let path = temporary.0.join("scenario.toml");
        fs::write(&path, scenario).map_err(|source| ResultError { path, source })?;
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

    /// Writes a row of a table that not every result has: the first one creates it.
    fn more_row(&mut self, name: &'static str, columns: &[Column], row: &[Cell<'_>]) {
        if self.failure.is_some() {
            return;
        }
        if !self.more.contains_key(name) {
            match table(&self.temporary.0.join(name), columns) {
                Ok(table) => drop(self.more.insert(name, table)),
                Err(error) => self.failure = Some(error),
            }
        }
        if let Some(table) = self.more.get_mut(name) {
            let outcome = table.push(row);
            self.note(name, outcome);
        }
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
        self.summary.count(row, row.is_measured(self.plan));
        self.steady.add(row);
        let outcome = self.flows.push(&row.cells(self.plan));
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
        let labels = || link_labels(&self.plan.fabric);
        let entity = match sample.metric.entity() {
            Entity::Link => &self.link_labels.get_or_init(labels)[sample.entity as usize],
            Entity::Class => &self.plan.traffic.classes[sample.entity as usize],
            Entity::Switch => &self.plan.fabric.node(NodeId(sample.entity)).name,
            Entity::All => "all",
        };
        let outcome = self.series.push(&sample.cells(entity));
        self.note("series.parquet", outcome);
    }

    fn work(&mut self, record: &WorkRecord) {
        self.more_row(WORK, WORKS, &record.cells(self.plan));
    }

    fn rank(&mut self, record: &RankRecord) {
        self.more_row(RANK, RANKS, &record.cells(self.plan));
    }

    fn part(&mut self, record: &PathRecord) {
        self.more_row(PATH, PATHS, &record.cells(self.plan));
    }

    fn ring_step(&mut self, record: &RingStepRecord) {
        self.more_row(RING_STEP, RING_STEPS, &record.cells(self.plan));
    }
}

/// Starts a table in a new file.
fn table(path: &Path, columns: &[Column]) -> Result<Table, ResultError> {
    let file = File::create(path).map_err(|source| ResultError { path: path.to_owned(), source })?;
    Table::new(file, columns).map_err(|error| parquet_error(path, error))
}

/// The labels of all links, in order of their ids.
fn link_labels(fabric: &Fabric) -> Vec<String> {
    (0..fabric.links().len() as u32).map(|id| fabric.link_label(LinkId(id))).collect()
}

/// Writes `value` as indented JSON.
fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(JSON_BUFFER, File::create(path)?);
    serde_json::to_writer_pretty(&mut file, value)?;
    file.flush()
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
