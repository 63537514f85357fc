//! [`Layer`]: a line of a workload.

use weft_units::{Duration, plural};

use super::grid::Group;
use crate::collective::Algorithm;
use crate::trace::error::TraceError;
use crate::trace::value::{is_too_large, too_large};
use crate::words::short;

/// The words of a layer.
const FIELDS: [&str; 12] = [
    "name",
    "dependency",
    "forward time",
    "forward collective",
    "forward bytes",
    "input gradient time",
    "input gradient collective",
    "input gradient bytes",
    "weight gradient time",
    "weight gradient collective",
    "weight gradient bytes",
    "update time",
];

/// A collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub algorithm: Algorithm,
    pub group: Group,
    /// The bytes at each rank; of a gathering, those of all parts.
    pub bytes: u64,
}

/// A computation and the collective after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub takes: Duration,
    pub exchange: Option<Exchange>,
}

/// A layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layer {
    /// Its line.
    pub line: u64,
    /// The forward pass.
    pub forward: Part,
    /// The gradients of its input.
    pub input: Part,
    /// The gradients of its weights, whose update comes last.
    pub weights: Part,
}

/// The layers after the first line, which the next one counts.
pub fn read_all<'a>(
    mut lines: impl Iterator<Item = (&'a str, u64)>,
    last: u64,
) -> Result<Vec<Layer>, TraceError> {
    let end =
        |at: u64, expected: &str| TraceError::line(at, format!("the file ends here; expected {expected}"));
    let (text, line) = lines.next().ok_or_else(|| end(last, "the number of layers"))?;
    let count = number(text.trim(), line, "number of layers")?;
    let (mut layers, mut last) = (Vec::new(), line);
    for (text, line) in lines {
        if layers.len() as u64 == count {
            return Err(TraceError::line(
                line,
                format!("there are more lines than {}", plural(count, "layer")),
            ));
        }
        layers.push(read(text, line)?);
        last = line;
    }
    match layers.len() as u64 {
        found if found == count => Ok(layers),
        found => Err(end(last, &format!("{} after {found}", plural(count, "layer")))),
    }
}

/// The layer of a line.
fn read(text: &str, line: u64) -> Result<Layer, TraceError> {
    let words: Vec<&str> = text.split_whitespace().take(FIELDS.len() + 1).collect();
    let Ok(words) = <[&str; 12]>::try_from(words.as_slice()) else {
        let found = if words.len() > FIELDS.len() { "more".to_owned() } else { words.len().to_string() };
        let why = format!("a layer has {} words, and here are {found}: {}", FIELDS.len(), FIELDS.join(", "));
        return Err(TraceError::line(line, why));
    };
    let time = |at: usize| number(words[at], line, FIELDS[at]).map(Duration::from_ns);
    let part = |at: usize, tensor: Group| {
        let (takes, bytes) = (time(at)?, number(words[at + 2], line, FIELDS[at + 2])?);
        Ok(Part { takes, exchange: exchange(words[at + 1], bytes, tensor, line)? })
    };
    let layer = Layer {
        line,
        forward: part(2, Group::Tensor)?,
        input: part(5, Group::Tensor)?,
        weights: part(8, Group::Data)?,
    };
    // SimAI does not wait for the update, which is not on the way of a single pass.
    time(11)?;
    Ok(layer)
}

/// The collective that a word names; without an ending, it is among the ranks of `plain`.
fn exchange(word: &str, bytes: u64, plain: Group, line: u64) -> Result<Option<Exchange>, TraceError> {
    let (name, group) = match (word.strip_suffix("_DP_EP"), word.strip_suffix("_EP")) {
        (Some(name), _) => (name, Group::ExpertData),
        (_, Some(name)) => (name, Group::Experts),
        _ => (word, plain),
    };
    let algorithm = match name {
        "NONE" => return Ok(None),
        "ALLREDUCE" => Algorithm::RingAllReduce,
        "ALLGATHER" => Algorithm::AllGather,
        "REDUCESCATTER" => Algorithm::ReduceScatter,
        "ALLTOALL" => Algorithm::AllToAll,
        // Along the chain of the ranks, as in traces of Chakra.
        "BROADCAST" => Algorithm::Pipeline,
        _ => {
            let expected = "NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, also with _EP or _DP_EP";
            let why = format!("the collective `{}` is unknown; expected {expected}", short(word));
            return Err(TraceError::line(line, why));
        }
    };
    Ok(Some(Exchange { algorithm, group, bytes }))
}

/// A whole number with this name.
fn number(text: &str, line: u64, name: &str) -> Result<u64, TraceError> {
    text.parse().map_err(|error| match is_too_large(&error) {
        true => TraceError::line(line, too_large(name, text)),
        false => TraceError::line(line, format!("{name}: `{}` is not a whole number", short(text))),
    })
}
