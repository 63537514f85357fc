//! A group with random flows: their sizes, arrivals and pairs.

use weft_traffic::{Arrivals, Drawn, Intensity, LoadOf};
use weft_units::Duration;

use super::Resolver;
use super::pairs::{self, PairsSettings};
use super::sizes::{self, SizesSettings};
use crate::key::{Key, Kind, key};
use crate::section::Section;
use crate::tree::shown;

/// The largest load: more is a percentage, written as a number.
const MOST_LOAD: f64 = 10.0;

/// The keys of a group with random flows.
pub(crate) const DRAWN_KEYS: &[Key] = &[
    key(
        "sizes",
        Kind::Either(&[Kind::Choice(sizes::names), Kind::Table(sizes::FORMS)]),
        "",
        "flow sizes: a published distribution or your own",
    ),
    key("truncate", Kind::Bytes, "", "leave out larger flows"),
    key("clamp", Kind::Bytes, "", "cap larger flows at this size"),
    key("scale_to_mean", Kind::Bytes, "", "scale all sizes to this mean"),
    key("arrivals", Kind::Word(Arrivals::WORDS), "poisson", "arrival process"),
    key("load", Kind::Number, "", "offered load, as a fraction of link capacity"),
    key("load_of", Kind::Word(LoadOf::WORDS), "fabric-uplinks", "links whose capacity the load refers to"),
    key("flows_per_second", Kind::Number, "", "arrival rate, instead of a load"),
    key("flows", Kind::Count(0), "", "number of flows; with a load, the maximum"),
    key(
        "pairs",
        Kind::Either(&[
            Kind::Word(pairs::WORDS),
            Kind::Table(pairs::FORMS),
            Kind::List(&Kind::Pair(&Kind::Text)),
        ]),
        "inter-leaf",
        "pattern of sources and destinations",
    ),
    key("start", Kind::Duration, "0 s", "earliest flow start of the group"),
    key("jitter", Kind::Duration, "0 s", "upper bound of a random delay added to every start"),
];

/// How the flows of a group are drawn.
#[derive(Clone, Debug)]
pub(crate) struct DrawnSettings {
    pub(crate) sizes: SizesSettings,
    arrivals: Arrivals,
    intensity: Option<Intensity>,
    flows: Option<u64>,
    pairs: PairsSettings,
    start: Duration,
    jitter: Duration,
}

impl DrawnSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let sizes = SizesSettings::decode(section);
        let pairs = section.node_or_default(DRAWN_KEYS, "pairs");
        let pairs = pairs.and_then(|node| PairsSettings::decode(section, &node));
        let arrivals = section.value(DRAWN_KEYS, "arrivals");
        let intensity = decode_intensity(section);
        let flows = section.get::<u64>("flows").map(|flows| flows.value);
        let (start, jitter) = (section.value(DRAWN_KEYS, "start"), section.value(DRAWN_KEYS, "jitter"));
        Some(Self {
            sizes: sizes?,
            arrivals: arrivals?,
            intensity: intensity?,
            flows,
            pairs: pairs?,
            start: start?,
            jitter: jitter?,
        })
    }

    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Drawn> {
        let (sizes, pairs) = (self.sizes.resolve(resolver), self.pairs.resolve(resolver));
        Some(Drawn {
            sizes: sizes?,
            arrivals: self.arrivals,
            intensity: self.intensity,
            count: self.flows,
            pairs: pairs?,
            start: self.start,
            jitter: self.jitter,
        })
    }
}

/// Load or flows per second; the outer `None` means invalid.
fn decode_intensity(section: &Section<'_>) -> Option<Option<Intensity>> {
    if let (Some(node), None) = (section.node("load_of"), section.node("load")) {
        section.problem(node.span, "`load_of` has no effect without `load`", "expected `load` as well");
    }
    let of = section.value(DRAWN_KEYS, "load_of")?;
    if let (Some(_), Some(rate)) = (section.node("load"), section.node("flows_per_second")) {
        let label = "expected `load` or `flows_per_second`, not both";
        section.problem(rate.span, "the arrival rate is given twice", label);
    }
    for key in ["load", "flows_per_second"] {
        if section.node(key).is_none() {
            continue;
        }
        let number = section.get::<f64>(key)?;
        if number.value <= 0.0 {
            let message = format!("`{}` is {}", section.path_of(key), shown(number.value));
            let label = match key {
                "load" => "expected a fraction above 0, such as 0.4",
                _ => "expected a number above 0",
            };
            section.problem(number.span, message, label);
            return None;
        }
        if key == "load" && number.value > MOST_LOAD {
            let message = format!(
                "`{}` is {}, {} times the capacity",
                section.path_of(key),
                shown(number.value),
                shown(number.value)
            );
            let label = format!(
                "a load is a fraction: for {} % write {}",
                shown(number.value),
                shown(number.value / 100.0)
            );
            section.problem(number.span, message, label);
            return None;
        }
        return Some(Some(match key {
            "load" => Intensity::Load { share: number.value, of },
            _ => Intensity::FlowsPerSecond(number.value),
        }));
    }
    Some(None)
}
