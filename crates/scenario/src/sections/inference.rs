//! `inference` of a `[traffic]` group: requests to a large language model.

use weft_traffic::{Flows, Inference, Lengths, Precision, Reuse};
use weft_units::Duration;

use super::Resolver;
use super::collective::{self, RankSettings};
use super::model::{
    self, EFFICIENCY, FLOPS, MODEL_KEYS, MOST_RANKS, all_or_count, count_of, operations_per_second, positive,
    with_model,
};
use crate::key::{Key, Kind, key};
use crate::section::Section;

const REQUEST_KEYS: [Key; 14] = [
    key("tensor", Kind::Count(1), "1", "ranks that share each layer"),
    key("prefill", Kind::Count(1), "1", "groups of tensor ranks that process prompts"),
    key("decode", Kind::Count(1), "1", "groups of tensor ranks that generate answers"),
    key("requests", Kind::Count(1), "100", "number of requests"),
    key("requests_per_second", Kind::Number, "", "arrival rate of requests, a Poisson process"),
    key("prompt", Kind::Count(1), "1024", "mean number of tokens of a prompt"),
    key("output", Kind::Count(1), "128", "mean number of tokens of an answer"),
    key("lengths", Kind::Word(Lengths::WORDS), "fixed", "distribution of both"),
    key(
        "precision",
        Kind::Word(Precision::WORDS),
        "bf16",
        "numbers of parameters, activations, keys and values",
    ),
    FLOPS,
    EFFICIENCY,
    key("memory_rate", Kind::Number, "3.35e12", "bytes per second from the memory of a GPU; default: H100"),
    key("layers_per_message", Kind::Count(1), "all", "layers of a prefill whose messages are sent as one"),
    key("tokens_per_message", Kind::Count(1), "all", "tokens of an answer whose messages are sent as one"),
];

/// The keys of inference.
pub(crate) const INFERENCE_KEYS: &[Key] = &with_model::<14, { MODEL_KEYS.len() + 14 }>(REQUEST_KEYS);

/// The most requests: a result has an entry for each.
const MOST_REQUESTS: u64 = 10_000;
/// The most tokens of a prompt or an answer.
const MOST_TOKENS: u64 = 10_000_000;

/// Inference, as written.
#[derive(Clone, Debug)]
pub(crate) struct InferenceSettings {
    inference: Inference,
    ranks: RankSettings,
}

impl InferenceSettings {
    /// Keeps connections open.
    pub(crate) const fn keep_connections(&mut self) {
        self.inference.reuse = Reuse::Persistent;
    }

    /// The inference of a group; `start` and `connections` are the group's.
    pub(crate) fn decode(group: &Section<'_>, start: Duration) -> Option<Self> {
        let section = group.section("inference")?;
        model::only(&section, group, INFERENCE_KEYS);
        let model = model::decode(&section);
        let of = |name: &str, most: u64| count_of(&section, INFERENCE_KEYS, name, most);
        let [tensor, prefill, decode] =
            ["tensor", "prefill", "decode"].map(|name| of(name, MOST_RANKS).map(|count| count as u32));
        let (requests, prompt, output) =
            (of("requests", MOST_REQUESTS), of("prompt", MOST_TOKENS), of("output", MOST_TOKENS));
        let rate = section.need::<f64>("requests_per_second");
        let requests_per_second =
            rate.and_then(|_| positive(&section, INFERENCE_KEYS, "requests_per_second", 1e9));
        let (lengths, precision) =
            (section.value(INFERENCE_KEYS, "lengths"), section.value(INFERENCE_KEYS, "precision"));
        let operations_per_second = operations_per_second(&section, INFERENCE_KEYS);
        let memory_rate = positive(&section, INFERENCE_KEYS, "memory_rate", 1e24);
        let [layers_per_message, tokens_per_message] =
            [("layers_per_message", 1_000), ("tokens_per_message", MOST_TOKENS)]
                .map(|(name, most)| all_or_count(&section, INFERENCE_KEYS, name, most));
        let reuse = collective::reuse(group);
        let ranks = RankSettings::decode(group);
        let inference = Inference {
            model: model?,
            tensor: tensor?,
            prefill: prefill?,
            decode: decode?,
            requests: requests?,
            requests_per_second: requests_per_second?,
            prompt: prompt?,
            output: output?,
            lengths: lengths?,
            precision: precision?,
            operations_per_second: operations_per_second?,
            memory_rate: memory_rate?,
            layers_per_message: layers_per_message?,
            tokens_per_message: tokens_per_message?,
            start,
            reuse: reuse?,
        };
        Some(Self { inference, ranks: ranks? })
    }

    /// The inference on its hosts.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Flows> {
        Some(Flows::Inference(self.inference, self.ranks.resolve(resolver)?))
    }
}
