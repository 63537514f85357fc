//! [`Header`]: the first line of a workload, which names its kind and the numbers of ranks.

use std::collections::BTreeSet;

use weft_units::alternatives;

use super::grid::Grid;
use crate::dependencies::MAX_ORDERED;
use crate::trace::error::TraceError;
use crate::trace::value::{is_too_large, too_large};
use crate::words::short;

/// The kind of a workload: the word that it begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A transformer, among tensor ranks and replicas.
    Transformer,
    /// A transformer whose backward pass repeats parts of the forward pass.
    Repeating,
    /// Replicas of a model.
    Data,
    /// Collectives of all ranks, one after the other.
    Micro,
}

/// The words of the kinds.
const KINDS: [(&str, Kind); 4] = [
    ("HYBRID_TRANSFORMER", Kind::Transformer),
    ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", Kind::Repeating),
    ("DATA", Kind::Data),
    ("MICRO", Kind::Micro),
];

/// The first line.
pub struct Header {
    pub kind: Kind,
    pub grid: Grid,
    /// The layers from which a forward pass is repeated.
    pub checkpoints: BTreeSet<u64>,
    /// The layers before whose gradients it is repeated.
    pub initiates: BTreeSet<u64>,
    /// The parts of the line that Weft ignores.
    pub ignored: Vec<String>,
}

/// The words after the first one.
struct Words<'a, I: Iterator<Item = &'a str>> {
    words: I,
    line: u64,
}

impl<'a, I: Iterator<Item = &'a str>> Words<'a, I> {
    fn refuse(&self, why: String) -> TraceError {
        TraceError::line(self.line, why)
    }

    /// The number after a name.
    fn number(&mut self, name: &str) -> Result<u64, TraceError> {
        let text =
            self.words.next().ok_or_else(|| self.refuse(format!("`{}` has no number", short(name))))?;
        let name = name.trim_end_matches(':');
        text.parse().map_err(|error| match is_too_large(&error) {
            true => self.refuse(too_large(name, text)),
            false => self.refuse(format!("{}: `{}` is not a whole number", short(name), short(text))),
        })
    }

    /// The layers after a name and their number.
    fn layers(&mut self, name: &str) -> Result<BTreeSet<u64>, TraceError> {
        (0..self.number(name)?).map(|_| self.number(name)).collect()
    }
}

/// Reads the first line. A file without `all_gpus` has as many ranks as the scenario.
pub fn read(line: &str, number: u64, scenario_ranks: u64) -> Result<Header, TraceError> {
    let refuse = |why: String| TraceError::line(number, why);
    let mut words = Words { words: line.split_whitespace(), line: number };
    let first = words.words.next().unwrap_or_default();
    let Some((_, kind)) = KINDS.iter().find(|(word, _)| *word == first) else {
        let expected = alternatives(&KINDS.map(|(word, _)| format!("`{word}`")));
        return Err(refuse(format!("the workload is `{}`; expected {expected}", short(first))));
    };
    let is_transformer = matches!(kind, Kind::Transformer | Kind::Repeating);
    let mut tensor = (!is_transformer).then_some(1);
    let (mut expert, mut pipeline, mut ranks) = (1, 1, None);
    let (mut checkpoints, mut initiates) = (BTreeSet::new(), BTreeSet::new());
    let mut ignored = Vec::new();
    while let Some(word) = words.words.next() {
        match word.trim_end_matches(':') {
            "model_parallel_NPU_group" if is_transformer => tensor = Some(words.number(word)?),
            "ep" if is_transformer => expert = words.number(word)?,
            "pp" if is_transformer => pipeline = words.number(word)?,
            "all_gpus" => ranks = Some(words.number(word)?),
            "checkpoints" if is_transformer => checkpoints = words.layers(word)?,
            "checkpoint_initiates" if is_transformer => initiates = words.layers(word)?,
            "pp_comm" if is_transformer => {
                if words.number(word)? > 0 {
                    ignored.push(
                        "messages between stages (`pp_comm`) are ignored: SimAI adds their time at the end"
                            .to_owned(),
                    );
                }
            }
            // Micro-batches and virtual stages are layers of the file.
            "ga" | "vpp" if is_transformer => drop(words.number(word)?),
            _ => {
                let names = if is_transformer { NAMES } else { "`all_gpus:`" };
                return Err(refuse(format!("`{}` is unknown; expected {names}", short(word))));
            }
        }
    }
    if *kind == Kind::Transformer && !initiates.is_empty() {
        let why = "`checkpoint_initiates` repeats forward passes, which `HYBRID_TRANSFORMER` has not; expected \
                   `HYBRID_TRANSFORMER_FWD_IN_BCKWD` or `checkpoint_initiates: 0`";
        return Err(refuse(why.to_owned()));
    }
    let tensor = tensor.ok_or_else(|| refuse("`model_parallel_NPU_group: N` is missing".to_owned()))?;
    let is_given = ranks.is_some();
    let ranks = ranks.unwrap_or(scenario_ranks);
    if ranks == 0 || ranks > MAX_ORDERED {
        let name = if is_given { "`all_gpus`" } else { "the number of ranks" };
        return Err(refuse(format!("{name} is {ranks}; expected 1 to {MAX_ORDERED}")));
    }
    let product = tensor.saturating_mul(expert).saturating_mul(pipeline);
    if product == 0 || !ranks.is_multiple_of(product) {
        let source = match is_given {
            true => String::new(),
            false => format!("; the file has no `all_gpus`: set `ranks` to a multiple of {product}"),
        };
        return Err(refuse(format!(
            "{ranks} GPUs cannot be divided by {tensor} tensor ranks x {expert} of experts x {pipeline} stages{source}"
        )));
    }
    // None is larger than the number of ranks.
    let [ranks, tensor, expert, pipeline] = [ranks, tensor, expert, pipeline].map(|count| count as u32);
    let grid = Grid { ranks, tensor, pipeline, expert };
    Ok(Header { kind: *kind, grid, checkpoints, initiates, ignored })
}

/// The names in the line of a transformer.
const NAMES: &str = "`model_parallel_NPU_group:`, `ep:`, `pp:`, `vpp:`, `ga:`, `all_gpus:`, `checkpoints:`, `checkpoint_initiates:` \
                     or `pp_comm`";
