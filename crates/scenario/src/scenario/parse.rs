//! From the text of a scenario to its points: everything is checked that needs no files.

use std::collections::BTreeSet;

use weft_switching::Schemes;
use weft_units::plural;

use super::Scenario;
use crate::baseline::Baselines;
use crate::diagnostic::{Diagnostics, Problems};
use crate::fingerprint::{fingerprint, is_of_view};
use crate::nearest::suggest;
use crate::point::Point;
use crate::scheme_names::schemes_of;
use crate::section::Section;
use crate::sections::run::Run;
use crate::sets::read;
use crate::settings::root;
use crate::source::{Sources, Span};
use crate::sweep::{self, VARIANT};
use crate::tree::{Table, Value};
use crate::variant;
use crate::warnings::{ColdStarts, Transports};

/// Maximum number of runs of a scenario.
const MAX_RUNS: usize = 1_000_000;

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
        let mut scenario = Self::expand(table, sources.clone(), of_results, schemes, stem, &problems);
        scenario.given = sets.to_vec();
        problems.finish(scenario, &sources)
    }

    /// Reads the sweep and every point of it; errors go to `problems`.
    fn expand(
        mut table: Table,
        sources: Sources,
        sets: Vec<String>,
        available: Schemes,
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
                let label = match baselines.unswept(&baseline.value) {
                    Some(key) => {
                        format!("`{key}` is not swept: the swept keys are {}", baselines.swept())
                    }
                    None => suggest(&baseline.value, names.iter().map(String::as_str)),
                };
                root.problem(baseline.span, message, label);
            }
        }
        if combinations.len().saturating_mul(seeds.len()) > MAX_RUNS {
            let message =
                format!("{} with {}", plural(combinations.len(), "point"), plural(seeds.len(), "seed"));
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
            comparisons: Vec::new(),
        };
        scenario.table = table;
        if sweep_is_good {
            let (mut files, mut controllers) = (BTreeSet::new(), Vec::new());
            let (mut starts, mut transports) = (ColdStarts::default(), Transports::default());
            for settings in scenario.combinations.iter().filter_map(|of| scenario.settings(of, problems)) {
                files.extend(settings.files());
                starts.add(&settings);
                transports.add(&settings);
                controllers.extend(
                    settings.transport.protocol.controller().filter(|info| !controllers.contains(info)),
                );
            }
            (scenario.files, scenario.controllers) = (files, controllers);
            scenario.comparisons = starts.warning().into_iter().chain(transports.warning()).collect();
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
}
