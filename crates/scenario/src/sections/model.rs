//! The dimensions of a transformer, as keys of `training` and `inference`, and their other numbers.

use weft_traffic::{Attention, Model, Named};

use super::collective::RANK_KEYS;
use crate::key::{Key, Kind, key};
use crate::nearest::list;
use crate::section::{At, Section};
use crate::tree::shown;

/// The keys of a model's dimensions, with their upper bounds.
macro_rules! dimensions {
    ($(($name:literal, $least:literal, $most:literal, $doc:literal),)+) => {
        pub(crate) const MODEL_KEYS: [Key; 10] = [
            key(
                "model",
                Kind::Word(Named::WORDS),
                "",
                "published model; the keys of dimensions change single ones, or describe a model of your own",
            ),
            $(key($name, Kind::Count($least), "", $doc),)+
        ];
        const RANGES: &[(&str, u64, u64)] = &[$(($name, $least, $most),)+];
    };
}

dimensions! {
    ("layers", 1, 1_000, "layers of the model"),
    ("hidden", 1, 100_000, "width of a token's vector"),
    ("heads", 1, 10_000, "query heads of a layer, each as wide as `hidden` over `heads`"),
    ("kv_heads", 1, 10_000, "heads of keys and values of a layer; as many as `heads` in a model of your own"),
    ("ffn", 1, 1_000_000, "inner width of the feed-forward network, or of an expert"),
    ("matrices", 1, 3, "matrices of a feed-forward network: 2, or 3 with a gate; 3 in a model of your own"),
    ("vocabulary", 0, 10_000_000, "tokens of the vocabulary; 0 in a model of your own"),
    ("experts", 0, 10_000, "experts of a layer; 0: a feed-forward network"),
    ("experts_per_token", 1, 100, "experts of each token; 1 in a model of your own"),
}

/// Rejects keys of `section` that are none of `keys`; those of its group are to be written there.
pub(crate) fn only(section: &Section<'_>, group: &Section<'_>, keys: &[Key]) {
    let above = RANK_KEYS.iter().map(|key| key.name).chain(["start", "connections", "class", "dscp"]);
    section.only_below(&[keys], group, &above.collect::<Vec<_>>());
}

/// The most of any kind of ranks.
pub(crate) const MOST_RANKS: u64 = 1_000_000;

/// The keys of dimensions, then these.
pub(crate) const fn with_model<const OWN: usize, const ALL: usize>(own: [Key; OWN]) -> [Key; ALL] {
    let mut keys = [MODEL_KEYS[0]; ALL];
    let mut at = 0;
    while at < ALL {
        keys[at] = if at < MODEL_KEYS.len() { MODEL_KEYS[at] } else { own[at - MODEL_KEYS.len()] };
        at += 1;
    }
    keys
}

/// The model of a section.
pub(crate) fn decode(section: &Section<'_>) -> Option<Model> {
    let given = |name: &str| match section.node(name) {
        None => Some(None),
        Some(_) => {
            let (_, least, most) = *RANGES.iter().find(|(range, _, _)| *range == name)?;
            count(section, section.get::<u64>(name)?, name, least, most).map(Some)
        }
    };
    let (layers, hidden, heads, kv_heads) =
        (given("layers"), given("hidden"), given("heads"), given("kv_heads"));
    let (ffn, matrices, vocabulary) = (given("ffn"), given("matrices"), given("vocabulary"));
    let (experts, experts_per_token) = (given("experts"), given("experts_per_token"));
    let named = match section.node("model") {
        None => None,
        Some(_) => Some(section.get::<Named>("model")?.value.model()),
    };
    let (layers, hidden, heads, ffn) = (layers?, hidden?, heads?, ffn?);
    let base = match (named, layers, hidden, heads, ffn) {
        (Some(model), ..) => model,
        (None, Some(layers), Some(hidden), Some(heads), Some(ffn)) => {
            let attention = Attention::Grouped { kv_heads: heads, width: hidden / heads };
            let (vocabulary, experts, shared_experts) = (0, 0, 0);
            let (matrices, experts_per_token) = (3, 1);
            Model {
                layers,
                hidden,
                heads,
                attention,
                ffn,
                matrices,
                vocabulary,
                experts,
                experts_per_token,
                shared_experts,
            }
        }
        _ => {
            let message = format!("{} has no `model`", section.title());
            let names = list(Named::WORDS.iter().copied());
            let label = format!("expected one of {names}; or `layers`, `hidden`, `heads` and `ffn`");
            section.problem(section.span, message, label);
            return None;
        }
    };
    let (hidden, heads) = (hidden.unwrap_or(base.hidden), heads.unwrap_or(base.heads));
    let own = named.is_none() || hidden != base.hidden || heads != base.heads;
    if own && !hidden.is_multiple_of(heads) {
        let message = format!("{heads} heads do not divide a width of {hidden}");
        section.problem(section.span, message, "expected `hidden` to be a multiple of `heads`");
        return None;
    }
    let attention = match (base.attention, kv_heads?) {
        (Attention::Grouped { kv_heads, width }, count) => {
            let width = if own { hidden / heads } else { width };
            Attention::Grouped { kv_heads: count.unwrap_or(kv_heads), width }
        }
        (latent, None) => latent,
        (Attention::Latent { .. }, Some(_)) => {
            let span = section.node("kv_heads").map_or(section.span, |node| node.span);
            let message = "the attention of this model has no heads of keys and values";
            section.problem(span, message, "remove `kv_heads`: it keeps one vector for all heads");
            return None;
        }
    };
    Some(Model {
        layers: layers.unwrap_or(base.layers),
        hidden,
        heads,
        attention,
        ffn: ffn.unwrap_or(base.ffn),
        matrices: matrices?.unwrap_or(base.matrices),
        vocabulary: vocabulary?.unwrap_or(base.vocabulary),
        experts: experts?.unwrap_or(base.experts),
        experts_per_token: experts_per_token?.unwrap_or(base.experts_per_token),
        ..base
    })
}

/// A whole number within these limits.
fn count(section: &Section<'_>, count: At<u64>, name: &str, least: u64, most: u64) -> Option<u64> {
    if (least..=most).contains(&count.value) {
        return Some(count.value);
    }
    let message = format!("`{}` is {}", section.path_of(name), count.value);
    section.problem(count.span, message, format!("expected {least} to {most}"));
    None
}

/// The operations per second of a GPU.
pub(crate) const FLOPS: Key = key(
    "flops",
    Kind::Number,
    "989e12",
    "floating-point operations per second of a GPU; default: H100, bf16",
);
/// The share of these.
pub(crate) const EFFICIENCY: Key =
    key("efficiency", Kind::Number, "0.5", "share of `flops` that computations reach");

/// The operations per second that a GPU reaches.
pub(crate) fn operations_per_second(section: &Section<'_>, keys: &[Key]) -> Option<f64> {
    let flops = positive(section, keys, FLOPS.name, 1e24);
    let efficiency = positive(section, keys, EFFICIENCY.name, 1.0);
    Some(flops? * efficiency?)
}

/// A number above 0, or its default.
pub(crate) fn positive(section: &Section<'_>, keys: &[Key], name: &str, most: f64) -> Option<f64> {
    let value = section.get_or_default::<f64>(keys, name)?;
    if value.value > 0.0 && value.value <= most {
        return Some(value.value);
    }
    let message = format!("`{}` is {}", section.path_of(name), shown(value.value));
    section.problem(value.span, message, format!("expected a number above 0, at most {}", shown(most)));
    None
}

/// A whole number above 0, or its default.
pub(crate) fn count_of(section: &Section<'_>, keys: &[Key], name: &str, most: u64) -> Option<u64> {
    count(section, section.get_or_default::<u64>(keys, name)?, name, 1, most)
}

/// A whole number above 0; 0 if it is not given.
pub(crate) fn all_or_count(section: &Section<'_>, keys: &[Key], name: &str, most: u64) -> Option<u64> {
    if section.node(name).is_some() { count_of(section, keys, name, most) } else { Some(0) }
}
