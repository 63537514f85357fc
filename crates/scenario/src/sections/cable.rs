//! `[[fabric.link]]`: a single link that differs from the others.

use weft_fabric::{FabricBuilder, FabricError};
use weft_units::{Duration, Rate};

use super::links::{LINK_KEYS, LinkSettings};
use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind, key};
use crate::section::{At, Section};

/// The keys of a `[[fabric.link]]`, in addition to those of every link.
pub(crate) const CABLE_KEYS: &[Key] = &[
    key("between", Kind::Text, "", "the two ends, such as \"e0-a1\""),
    key(
        "rate",
        Kind::Rate,
        "",
        "rate from the first end to the second, and back unless `rate_back` is given",
    ),
    key("rate_back", Kind::Rate, "", "rate from the second end to the first"),
    key("delay_back", Kind::Duration, "", "delay from the second end to the first (default: `delay`)"),
];

/// A `[[fabric.link]]`.
#[derive(Clone, Debug)]
pub(crate) struct Cable {
    between: At<String>,
    rate: Option<At<Rate>>,
    rate_back: Option<At<Rate>>,
    delay_back: Option<At<Duration>>,
    pub(crate) links: LinkSettings,
}

impl Cable {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        section.only(&[CABLE_KEYS, LINK_KEYS]);
        Some(Self {
            between: section.need("between")?,
            rate: section.get("rate"),
            rate_back: section.get("rate_back"),
            delay_back: section.get("delay_back"),
            links: LinkSettings::decode(section),
        })
    }

    pub(crate) fn apply(&self, builder: &mut FabricBuilder, problems: &Problems) {
        let rate = self.rate.map(|at| at.value);
        let back = self.rate_back.or(self.rate).map(|at| at.value);
        let changed = builder.pair_named(&self.between.value).and_then(|(a, b)| {
            let (forth, old_back) = builder.specs_between(a, b)?;
            let forth = self.links.apply(&forth, rate);
            let mut back = self.links.apply(&old_back, back);
            back.delay = self.delay_back.map_or(back.delay, |at| at.value);
            builder.respecify(a, b, &forth, &back)
        });
        if let Err(error) = changed {
            let span = match error {
                FabricError::Rate { .. } => self.rate.or(self.rate_back).map(|at| at.span),
                FabricError::Delay { .. } => self.links.delay.or(self.delay_back).map(|at| at.span),
                _ => self.links.span_of(&error),
            };
            problems.add(match span {
                Some(span) => Problem::at(span, error.to_string()),
                None => cable_problem(&self.between, &error),
            });
        }
    }
}

/// The problem for a text that does not name a cable.
pub(crate) fn cable_problem(cable: &At<String>, error: &FabricError) -> Problem {
    Problem::at(cable.span, error.to_string())
        .label("expected two nodes connected by a link; `weft fabric` shows the fabric")
}
