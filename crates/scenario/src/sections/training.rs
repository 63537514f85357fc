//! `training` of a `[traffic]` group: steps of the training of a transformer.

use weft_traffic::{Flows, Grid, Precision, Reuse, Training};
use weft_units::Duration;

use super::Resolver;
use super::collective::{self, RankSettings};
use super::model::{
    self, EFFICIENCY, FLOPS, MODEL_KEYS, MOST_RANKS, all_or_count, count_of, operations_per_second,
    with_model,
};
use crate::key::{Key, Kind, key};
use crate::section::Section;

const STEP_KEYS: [Key; 13] = [
    key("tensor", Kind::Count(1), "1", "ranks that share each layer"),
    key("pipeline", Kind::Count(1), "1", "stages of the pipeline, each with a part of the layers"),
    key("expert", Kind::Count(1), "1", "ranks that share the experts of each layer"),
    key("data", Kind::Count(1), "the ranks that are left", "replicas; with `expert`, of each expert"),
    key("micro_batches", Kind::Count(1), "8", "micro-batches of each replica in a step"),
    key("micro_batch", Kind::Count(1), "1", "sequences of a micro-batch"),
    key("sequence", Kind::Count(1), "4096", "tokens of a sequence"),
    key("precision", Kind::Word(Precision::WORDS), "bf16", "numbers of activations and their gradients"),
    key("gradient_precision", Kind::Word(Precision::WORDS), "fp32", "numbers of the gradients of parameters"),
    FLOPS,
    EFFICIENCY,
    key(
        "layers_per_message",
        Kind::Count(1),
        "all of a stage",
        "layers of a stage whose messages between tensor ranks, and for experts, are sent as one",
    ),
    key("steps", Kind::Count(1), "1", "number of steps, one after the other"),
];

/// The keys of training.
pub(crate) const TRAINING_KEYS: &[Key] = &with_model::<13, { MODEL_KEYS.len() + 13 }>(STEP_KEYS);

/// The most steps: a result has an entry for each.
const MOST_STEPS: u64 = 10_000;

/// Training, as written.
#[derive(Clone, Debug)]
pub(crate) struct TrainingSettings {
    training: Training,
    /// Whether the number of replicas is given.
    has_data: bool,
    ranks: RankSettings,
}

impl TrainingSettings {
    /// Keeps connections open.
    pub(crate) const fn keep_connections(&mut self) {
        self.training.reuse = Reuse::Persistent;
    }

    /// The training of a group; `start` and `connections` are the group's.
    pub(crate) fn decode(group: &Section<'_>, start: Duration) -> Option<Self> {
        let section = group.section("training")?;
        model::only(&section, group, TRAINING_KEYS);
        let model = model::decode(&section);
        let of = |name: &str, most: u64| count_of(&section, TRAINING_KEYS, name, most);
        let has_data = section.node("data").is_some();
        let data = if has_data { of("data", MOST_RANKS) } else { Some(1) };
        let (tensor, pipeline, expert) =
            (of("tensor", MOST_RANKS), of("pipeline", MOST_RANKS), of("expert", MOST_RANKS));
        let (micro_batches, micro_batch) = (of("micro_batches", 100_000), of("micro_batch", 100_000));
        let (sequence, steps) = (of("sequence", 10_000_000), of("steps", MOST_STEPS));
        let layers_per_message = all_or_count(&section, TRAINING_KEYS, "layers_per_message", 1_000);
        let (precision, gradient_precision) =
            (section.value(TRAINING_KEYS, "precision"), section.value(TRAINING_KEYS, "gradient_precision"));
        let operations_per_second = operations_per_second(&section, TRAINING_KEYS);
        let reuse = collective::reuse(group);
        let ranks = RankSettings::decode(group);
        let [tensor, pipeline, expert, data] = [tensor?, pipeline?, expert?, data?].map(|count| count as u32);
        let training = Training {
            model: model?,
            grid: Grid { tensor, expert, data, pipeline },
            micro_batches: micro_batches?,
            micro_batch: micro_batch?,
            sequence: sequence?,
            precision: precision?,
            gradient_precision: gradient_precision?,
            operations_per_second: operations_per_second?,
            layers_per_message: layers_per_message?,
            steps: steps?,
            start,
            reuse: reuse?,
        };
        Some(Self { training, has_data, ranks: ranks? })
    }

    /// The training on its hosts: replicas take the ranks that are left.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Flows> {
        let (mut training, ranks) = (self.training, self.ranks.resolve(resolver)?);
        if !self.has_data {
            let count = ranks.count(resolver.fabric.host_count() as u64);
            training.grid.data = (count / training.grid.ranks()).clamp(1, MOST_RANKS) as u32;
        }
        Some(Flows::Training(training, ranks))
    }
}
