//! The check of all points of a scenario, before any of them runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Scenario;
use crate::diagnostic::{Diagnostics, Problems};
use crate::overload::{self, Ground};
use crate::plan::Plan;
use crate::point::Point;
use crate::sections::Loader;
use crate::warnings;

impl Scenario {
    /// Plans every point of the sweep with its first seed and returns the warnings, as `weft run` does
    /// before it writes anything. Of points that differ only in the scheme, one is planned, unless one of
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
        // A file's content is the same at all points.
        let mut seen = HashSet::new();
        let mut warnings: Vec<String> =
            found.into_values().flatten().filter(|warning| seen.insert(warning.clone())).collect();
        warnings.extend_from_slice(self.comparisons());
        Ok(warnings)
    }

    /// Plans a point; returns the inputs of its overloads and its warnings.
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
}
