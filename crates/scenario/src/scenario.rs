//! [`Scenario`]: the file with `--set` changes, expanded into points, each of which becomes a [`Plan`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weft_switching::{Descriptor, Schemes};
use weft_transport::ControllerInfo;

use crate::baseline::Baselines;
use crate::diagnostic::{Diagnostics, Problems};
use crate::fingerprint::{OF_VIEW, fingerprint, is_of_view};
use crate::nearest::suggest;
use crate::overload::{self, Ground};
use crate::plan::Plan;
use crate::planning;
use crate::point::Point;
use crate::scheme_names::schemes_of;
use crate::section::Section;
use crate::sections::Loader;
use crate::sections::run::Run;
use crate::sets::read;
use crate::settings::{Settings, root};
use crate::source::{Sources, Span};
use crate::sweep::{self, Combination, VARIANT};
use crate::tree::{Node, Table, Value};
use crate::variant::{self, Variant};
use crate::{path, warnings};

/// Maximum number of runs of a scenario.
const MAX_RUNS: usize = 1_000_000;

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
}

impl Scenario {
    /// Reads a scenario. `file` is the name of the text in messages; its last part without `.toml` is the
    /// default name of the scenario.
    ///
    /// # Errors
    /// All errors at any point of its sweep.
    pub fn parse(text: &str, file: &str) -> Result<Self, Diagnostics> {
        Self::parse_with(text, file, &[])
    }

    /// Reads a scenario with changed keys, each as `key=value` of `--set`.
    ///
    /// # Errors
    /// All errors in it or in `sets`.
    pub fn parse_with(text: &str, file: &str, sets: &[String]) -> Result<Self, Diagnostics> {
        Self::parse_among(text, file, sets, Schemes::default())
    }

    /// Reads a scenario that may name other schemes than the registry's.
    ///
    /// # Errors
    /// As [`Scenario::parse_with`].
    pub fn parse_among(
        text: &str,
        file: &str,
        sets: &[String],
        schemes: Schemes,
    ) -> Result<Self, Diagnostics> {
        let mut sources = Sources::default();
        let problems = Problems::default();
        let table = read(text, file, sets, &mut sources, &problems);
        if !problems.is_empty() {
            problems.finish((), &sources)?;
            return Err(Diagnostics { errors: Vec::new() });
        }
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file).trim_end_matches(".toml");
        let of_results = sets.iter().filter(|set| !is_of_view(set)).cloned().collect();
        let mut scenario = Self::expand(table, sources.clone(), (of_results, schemes), stem, &problems);
        scenario.given = sets.to_vec();
        problems.finish(scenario, &sources)
    }

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

    /// Plans a point; returns what its overloads depend on and its warnings.
    fn planned(&self, point: &Point, loader: Loader<'_>) -> Result<(Ground, Vec<String>), Diagnostics> {
        let Plan { fabric, events, traffic, warnings, .. } = self.plan(point, loader)?;
        let of_file = fabric.notes().to_vec();
        let own = warnings.into_iter().filter(|warning| !of_file.contains(warning));
        let own: Vec<String> = own.map(|warning| format!("{}: {warning}", point.label)).collect();
        Ok((Ground { fabric, events, offers: traffic.offers }, [of_file, own].concat()))
    }

    /// The warnings of a point that differs from a planned one in its scheme alone.
    fn warnings_on(&self, point: &Point, ground: &Ground) -> Vec<String> {
        let combination = self.combinations.get(point.combination);
        let Some(settings) = combination.and_then(|of| self.settings(of, &Problems::default())) else {
            return Vec::new();
        };
        let overloads = overload::by_split(ground, &settings).into_iter();
        let warnings = overloads.map(|overload| overload.to_string()).chain(warnings::of_settings(&settings));
        warnings.map(|warning| format!("{}: {warning}", point.label)).collect()
    }

    /// Plans every point of the sweep with its first seed and returns the warnings: what `weft run` does
    /// before anything is written. Of points that differ only in the scheme, one is planned, unless one of
    /// the schemes does not run on every fabric; the others only give warnings that need no plan of their own.
    ///
    /// # Errors
    /// The errors of the first point that cannot be planned.
    pub fn check(&self, loader: Loader<'_>) -> Result<Vec<String>, Diagnostics> {
        let seed = self.points.first().map(|point| point.seed);
        let all = self.schemes.iter().any(|scheme| scheme.is_choosy());
        // Points that share a plan come together, so that one fabric is kept at a time.
        let mut groups: Vec<Vec<(usize, &Point)>> = Vec::new();
        let mut numbers: HashMap<Vec<String>, usize> = HashMap::new();
        let points = self.points.iter().filter(|point| Some(point.seed) == seed);
        for (at, point) in points.enumerate() {
            let rest: Vec<String> = point
                .overrides
                .iter()
                .filter(|(key, _)| all || !key.starts_with("scheme"))
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            let next = numbers.len();
            let number = *numbers.entry(rest).or_insert(next);
            if number == next {
                groups.push(Vec::new());
            }
            groups[number].push((at, point));
        }
        let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for group in groups {
            let mut ground = None;
            for (at, point) in group {
                let warnings = match &ground {
                    Some(ground) => self.warnings_on(point, ground),
                    None => {
                        let (first, warnings) = self.planned(point, loader)?;
                        ground = Some(first);
                        warnings
                    }
                };
                found.insert(at, warnings);
            }
        }
        // What a file says is the same at all points.
        let mut seen = HashSet::new();
        let mut warnings: Vec<String> =
            found.into_values().flatten().filter(|warning| seen.insert(warning.clone())).collect();
        let settings = self.combinations.iter().filter_map(|of| self.settings(of, &Problems::default()));
        warnings.extend(warnings::of_cold_starts(settings));
        Ok(warnings)
    }

    /// Reads the sweep and every point of it; errors go to `problems`.
    fn expand(
        mut table: Table,
        sources: Sources,
        (sets, available): (Vec<String>, Schemes),
        stem: &str,
        problems: &Problems,
    ) -> Self {
        let fingerprint = fingerprint(&table);
        let (sweep, variants) = (table.remove("sweep"), table.remove(VARIANT));
        let root = root(&table, problems);
        let text = |key: &str| match root.node(key).map(|node| &node.value) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let (mut name, description) = (text("name"), text("description"));
        if name.trim().is_empty() {
            stem.clone_into(&mut name);
        }
        let mut axes = match sweep.as_ref().map(|entry| (entry, &entry.node.value)) {
            None => Vec::new(),
            Some((entry, Value::Table(table))) => {
                sweep::decode(&Section { path: "sweep".into(), table, span: entry.span, problems })
            }
            Some((entry, _)) => {
                let message = format!("`sweep` is {}, not a table", entry.node.describe());
                root.problem(entry.node.span, message, "expected a section [sweep]");
                Vec::new()
            }
        };
        let of_sweep = problems.len();
        let variants = match variants.as_ref().map(|entry| (entry, &entry.node.value)) {
            None if axes.iter().any(|axis| axis.key == VARIANT) => {
                let span =
                    axes.iter().find(|axis| axis.key == VARIANT).map_or_else(Span::default, |axis| axis.span);
                root.problem(
                    span,
                    "the scenario has no variants",
                    "expected sections such as [variant.roce]",
                );
                Vec::new()
            }
            None => Vec::new(),
            Some((entry, Value::Table(of))) => {
                let section = Section { path: VARIANT.into(), table: of, span: entry.span, problems };
                let found = variant::decode(&section, &table, &axes);
                variant::add_axis(&section, &found, &mut axes);
                found
            }
            Some((entry, _)) => {
                let message = format!("`variant` is {}, not a table", entry.node.describe());
                root.problem(entry.node.span, message, "expected sections such as [variant.roce]");
                Vec::new()
            }
        };
        // Bad variants are no reason to leave out the problems of the others.
        let of_variants = problems.len() - of_sweep;
        let schemes = schemes_of(&table, &axes, &variants, &available);
        let fallback = schemes.first().map_or("run", |scheme| scheme.name);
        let combinations = sweep::combinations(&axes, problems, fallback);
        let sweep_is_good = problems.len() == of_variants;
        let seeds = Run::decode_seeds(&root.section_or_empty("run"));
        let baseline = root.section("measure").and_then(|measure| measure.get::<String>("baseline"));
        if let Some(baseline) = &baseline {
            let baselines = Baselines::of(&axes, &combinations, fallback);
            if !baselines.has(&baseline.value) {
                let kind = if variants.is_empty() { "schemes" } else { "variants" };
                let message =
                    format!("the baseline `{}` is not one of this scenario's {kind}", baseline.value);
                let names = baselines.names();
                let label = suggest(&baseline.value, names.iter().map(String::as_str));
                root.problem(baseline.span, message, label);
            }
        }
        if combinations.len().saturating_mul(seeds.len()) > MAX_RUNS {
            let message = format!("{} points with {} seeds", combinations.len(), seeds.len());
            let span = sweep.as_ref().map_or_else(Span::default, |entry| entry.span);
            root.problem(span, message, format!("expected at most {MAX_RUNS} runs"));
        }
        let mut scenario = Self {
            sources,
            sets,
            given: Vec::new(),
            name,
            description,
            baseline: baseline.map(|baseline| baseline.value),
            table: Table::default(),
            variants,
            fingerprint,
            combinations,
            points: Vec::new(),
            available,
            schemes,
            controllers: Vec::new(),
            files: BTreeSet::new(),
        };
        scenario.table = table;
        if sweep_is_good {
            let (mut files, mut controllers) = (BTreeSet::new(), Vec::new());
            for settings in scenario.combinations.iter().filter_map(|of| scenario.settings(of, problems)) {
                files.extend(settings.files());
                controllers.extend(
                    settings.transport.protocol.controller().filter(|info| !controllers.contains(info)),
                );
            }
            (scenario.files, scenario.controllers) = (files, controllers);
        }
        if problems.is_empty() {
            let numbered = scenario.combinations.iter().enumerate();
            scenario.points = numbered
                .flat_map(|(at, of)| seeds.iter().map(move |seed| (at, of, *seed)))
                .map(|(at, of, seed)| Point::new(at, of, seed, &scenario.sets))
                .collect();
        }
        scenario
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
