//! The first line of a workload: the kind of parallelism, and the numbers of ranks.

use super::grid::Grid;
use crate::dependencies::MAX_ORDERED;
use crate::trace::error::TraceError;
use crate::trace::value::{is_too_large, too_large};
use crate::words::short;

/// The words that a workload begins with.
const TRANSFORMERS: [&str; 2] = ["HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"];

/// The ranks of a workload, and the parts of the line that Weft ignores.
pub fn read(line: &str, number: u64) -> Result<(Grid, Vec<String>), TraceError> {
    let refuse = |why: String| TraceError::line(number, why);
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    if !TRANSFORMERS.contains(&first) {
        let [one, other] = TRANSFORMERS;
        return Err(refuse(format!("the workload is `{}`; expected `{one}` or `{other}`", short(first))));
    }
    let (mut tensor, mut expert, mut pipeline, mut ranks) = (None, 1, 1, None);
    let mut ignored = Vec::new();
    while let Some(word) = words.next() {
        let name = word.trim_end_matches(':');
        let mut value = || {
            let text = words.next().ok_or_else(|| refuse(format!("`{}` has no number", short(word))))?;
            let value = text.parse::<u64>().map_err(|error| match is_too_large(&error) {
                true => refuse(too_large(name, text)),
                false => refuse(format!("{}: `{}` is not a whole number", short(name), short(text))),
            })?;
            Ok(value)
        };
        match name {
            "model_parallel_NPU_group" => tensor = Some(value()?),
            "ep" => expert = value()?,
            "pp" => pipeline = value()?,
            "all_gpus" => ranks = Some(value()?),
            "checkpoints" | "checkpoint_initiates" => {
                if value()? > 0 {
                    let why = format!(
                        "`{name}` repeats forward passes, which is not supported; expected `{name}: 0`"
                    );
                    return Err(refuse(why));
                }
            }
            "pp_comm" => {
                if value()? > 0 {
                    ignored.push(
                        "messages between stages (`pp_comm`) are ignored: SimAI adds their time at the end"
                            .to_owned(),
                    );
                }
            }
            // Micro-batches and virtual stages are layers of the file.
            "ga" | "vpp" => drop(value()?),
            _ => return Err(refuse(format!("`{}` is unknown; expected {NAMES}", short(word)))),
        }
    }
    let missing = |name: &str| refuse(format!("`{name}` is missing"));
    let tensor = tensor.ok_or_else(|| missing("model_parallel_NPU_group: N"))?;
    let ranks = ranks.ok_or_else(|| missing("all_gpus: N"))?;
    if ranks == 0 || ranks > MAX_ORDERED {
        return Err(refuse(format!("`all_gpus` is {ranks}; expected 1 to {MAX_ORDERED}")));
    }
    let product = tensor.saturating_mul(expert).saturating_mul(pipeline);
    if product == 0 || !ranks.is_multiple_of(product) {
        return Err(refuse(format!(
            "{ranks} GPUs cannot be divided by {tensor} tensor ranks x {expert} of experts x {pipeline} stages"
        )));
    }
    // None is larger than the number of ranks.
    let [ranks, tensor, expert, pipeline] = [ranks, tensor, expert, pipeline].map(|count| count as u32);
    Ok((Grid { ranks, tensor, pipeline, expert }, ignored))
}

/// The names in the line.
const NAMES: &str = "`model_parallel_NPU_group:`, `ep:`, `pp:`, `vpp:`, `ga:`, `all_gpus:`, `checkpoints:`, `checkpoint_initiates:` \
                     or `pp_comm`";
