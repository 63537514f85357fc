//! [`Scenario`]: the file with `--set` changes, expanded into points, each of which becomes a [`Plan`].

mod check;
mod parse;

use std::collections::{BTreeMap, BTreeSet};

use weft_switching::{Descriptor, Schemes};
use weft_transport::ControllerInfo;

use crate::diagnostic::{Diagnostics, Problems};
use crate::fingerprint::OF_VIEW;
use crate::path;
use crate::plan::Plan;
use crate::planning;
use crate::point::Point;
use crate::sections::Loader;
use crate::sets::read;
use crate::settings::Settings;
use crate::source::{Sources, Span};
use crate::sweep::{Combination, VARIANT};
use crate::tree::{Node, Table, Value};
use crate::variant::Variant;

/// A scenario, checked as far as possible without its files.
#[derive(Clone, Debug)]
pub struct Scenario {
    sources: Sources,
    sets: Vec<String>,
    /// The changed keys and the seeds.
    given: Vec<String>,
    name: String,
    description: String,
    baseline: Option<String>,
    /// The file with `--set` changes, without `[sweep]` and `[variant]`.
    table: Table,
    variants: Vec<Variant>,
    fingerprint: String,
    combinations: Vec<Combination>,
    points: Vec<Point>,
    /// The schemes that it may name.
    available: Schemes,
    /// Those that it runs.
    schemes: Vec<&'static Descriptor>,
    /// The congestion controllers of modules that it runs.
    controllers: Vec<&'static ControllerInfo>,
    files: BTreeSet<String>,
    /// Warnings of comparisons between points.
    comparisons: Vec<String>,
}

impl Scenario {
    /// The text of the file, exactly.
    pub fn text(&self) -> &str {
        self.sources.text(0)
    }

    /// The file name in messages.
    pub fn file(&self) -> &str {
        self.sources.name(0)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The `--set` changes, except seeds and the baseline.
    pub fn sets(&self) -> &[String] {
        &self.sets
    }

    /// All `--set` changes.
    pub fn given(&self) -> &[String] {
        &self.given
    }

    /// All keys with their values in the order of the file, the `--set` changes applied, as JSON.
    pub fn content(&self) -> String {
        let table = read(self.text(), "", &self.given, &mut Sources::default(), &Problems::default());
        Node { value: Value::Table(table), span: Span::default() }.to_ordered_json()
    }

    /// The scheme that summaries compare others with.
    pub fn baseline(&self) -> Option<&str> {
        self.baseline.as_deref()
    }

    /// SHA-256 of all keys except seeds and the baseline, in hexadecimal: two scenarios with the same fingerprint
    /// and the same [files](Self::files) have the same results.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The differences from an earlier `text` with earlier `sets`: each key with its values, as in
    /// `traffic.load (0.2 -> 0.4)`. Empty if there are none.
    pub fn changes_since(&self, text: &str, sets: &[String]) -> Vec<String> {
        let values = |text: &str, sets: &[String]| {
            let mut values = BTreeMap::new();
            let table = read(text, "", sets, &mut Sources::default(), &Problems::default());
            table.flatten("", &mut values);
            values.retain(|key, _| !OF_VIEW.contains(&key.as_str()));
            values
        };
        let (before, now) = (values(text, sets), values(self.text(), &self.sets));
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let spell = |value: Option<&String>| value.map_or_else(|| "none".to_owned(), Clone::clone);
        let changed = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
        changed.map(|key| format!("{key} ({} -> {})", spell(before.get(key)), spell(now.get(key)))).collect()
    }

    /// All runs: every point of the sweep with every seed, the first key of the sweep changing slowest
    /// and the seed fastest.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The run with this id.
    ///
    /// # Errors
    /// A message: there is no such run.
    pub fn point(&self, id: &str) -> Result<&Point, String> {
        let found = self.points.iter().find(|point| point.id == id);
        found.ok_or_else(|| match self.points.first() {
            Some(first) => format!("the scenario has no run `{id}`: its first run is `{}`", first.id),
            None => "the scenario has no runs".to_owned(),
        })
    }

    /// The congestion controllers of modules that it runs.
    pub fn controllers(&self) -> &[&'static ControllerInfo] {
        &self.controllers
    }

    /// The schemes that it runs.
    pub fn schemes(&self) -> &[&'static Descriptor] {
        &self.schemes
    }

    /// The files that it names at any point of its sweep, as written there.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Warnings of comparisons between its points: no run alone has them.
    pub fn comparisons(&self) -> &[String] {
        &self.comparisons
    }

    /// Everything that the run `point` needs. `loader` returns the bytes of the files that the scenario
    /// names, by the path written there.
    ///
    /// # Errors
    /// All errors in the fabric, the traffic or the files.
    pub fn plan(&self, point: &Point, loader: Loader<'_>) -> Result<Plan, Diagnostics> {
        let problems = Problems::default();
        let settings = self.combinations.get(point.combination).and_then(|of| self.settings(of, &problems));
        let plan =
            settings.and_then(|settings| planning::plan(&self.name, point, settings, loader, &problems));
        match problems.finish(plan, &self.sources)? {
            Some(plan) => Ok(plan),
            None => Err(Diagnostics { errors: Vec::new() }),
        }
    }

    /// The settings at a point of the sweep.
    fn settings(&self, combination: &Combination, problems: &Problems) -> Option<Settings> {
        let mut table = self.table.clone();
        let values = self.values(combination);
        let mut is_set = true;
        for (key, span, node) in &values {
            if let Err(problem) = path::set(&mut table, key, *span, node) {
                problems.add(problem);
                is_set = false;
            }
        }
        if !is_set {
            return None;
        }
        let mut settings = Settings::decode(&table, &self.available, &self.schemes, problems)?;
        settings.swept = values.iter().map(|(key, _, _)| key.clone()).collect();
        Some(settings)
    }

    /// The keys that a point sets: those of its variant, then the swept ones.
    fn values<'a>(&'a self, combination: &'a Combination) -> Vec<&'a (String, Span, Node)> {
        let (chosen, swept): (Vec<_>, Vec<_>) =
            combination.values.iter().partition(|(key, _, _)| key == VARIANT);
        let of = |(_, _, node): &(String, Span, Node)| {
            self.variants
                .iter()
                .find(|variant| matches!(&node.value, Value::Text(name) if *name == variant.name))
        };
        let variant = chosen.into_iter().find_map(of);
        variant.into_iter().flat_map(|variant| &variant.values).chain(swept).collect()
    }
}
