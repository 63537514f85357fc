//! The text form of GOAL: `num_ranks 2`, then for each rank
//! `rank 0 { l1: send 10b to 1 tag 0  l2: calc 100 cpu 0  l2 requires l1 }`.

use std::collections::{BTreeMap, HashMap};

use super::schedule::{ANY, Block, Operation, Schedule, What, refuse};
use super::words::{Word, Words};
use crate::trace::error::{Place, TraceError};
use crate::words::short;

/// Any rank or any tag, in a receive.
const ANY_WORD: &str = "-1";

/// The attributes of an operation.
struct Attributes {
    tag: u32,
    cpu: u8,
    nic: u8,
}

/// The operations of a text.
pub fn read(text: &str) -> Result<Schedule<'_>, TraceError> {
    let mut words = Words::of(text)?;
    if words.get(0).is_none() {
        let why = "the file is empty; expected `num_ranks N` and a block `rank R { ... }` for each";
        return Err(TraceError::file(why));
    }
    words.need("num_ranks")?;
    let line = words.line();
    let ranks = words.number("num_ranks", "")?;
    let ranks =
        u32::try_from(ranks).map_err(|_| TraceError::line(line, format!("{ranks} ranks are too many")))?;
    let mut reading = Reading { words, ranks };
    let (mut schedule, mut seen) = (Schedule { ranks, ..Schedule::default() }, BTreeMap::new());
    while let Some(word) = reading.words.get(0) {
        reading.words.need("rank")?;
        let line = reading.words.line();
        let rank = reading.rank("rank")?;
        if rank >= ranks {
            let why = format!("there is no rank {rank}; `num_ranks` is {ranks}");
            return Err(TraceError::line(line, why));
        }
        if let Some(first) = seen.insert(rank, word.line) {
            let why = format!("rank {rank} is described twice, first on line {first}");
            return Err(TraceError::line(word.line, why));
        }
        let block = reading.block(rank)?;
        schedule.blocks.insert(rank, block);
    }
    Ok(schedule)
}

/// A text being read.
struct Reading<'a> {
    words: Words<'a>,
    ranks: u32,
}

impl<'a> Reading<'a> {
    /// The number of a rank.
    fn rank(&mut self, name: &str) -> Result<u32, TraceError> {
        let line = self.words.line();
        let rank = self.words.number(name, "")?;
        u32::try_from(rank).ok().filter(|rank| *rank != ANY).ok_or_else(|| {
            TraceError::line(line, format!("there is no rank {rank}; `num_ranks` is {}", self.ranks))
        })
    }

    /// The block of a rank.
    fn block(&mut self, rank: u32) -> Result<Block<'a>, TraceError> {
        self.words.need("{")?;
        let (mut labels, mut block) = (HashMap::new(), Block::default());
        loop {
            let word = self.words.next("`}`")?;
            match word.text {
                "}" => return Ok(block),
                "send" | "recv" | "calc" => block.operations.push(self.operation(rank, None, word)?),
                label if self.words.take(":") => {
                    let verb = self.words.next("send, recv or calc")?;
                    let index = block.operations.len() as u32;
                    block.operations.push(self.operation(rank, Some(label), verb)?);
                    if labels.insert(label, index).is_some() {
                        return Err(TraceError::line(
                            word.line,
                            format!("the label `{}` is given twice in rank {rank}", short(label)),
                        ));
                    }
                }
                label => {
                    let is_start = self.requirement(label)?;
                    let on = self.words.next("a label")?;
                    let find = |label: &str, line| {
                        let known = labels.get(label).copied();
                        known.ok_or_else(|| {
                            TraceError::line(
                                line,
                                format!("rank {rank} has no label `{}` up to here", short(label)),
                            )
                        })
                    };
                    block.requirements.push((find(label, word.line)?, find(on.text, on.line)?, is_start));
                }
            }
        }
    }

    /// Whether a requirement of the operation `label` is one of the start only.
    fn requirement(&mut self, label: &str) -> Result<bool, TraceError> {
        let verb = self.words.next("`:`, `requires` or `irequires`")?;
        match verb.text {
            "requires" => Ok(false),
            "irequires" => Ok(true),
            other => {
                let why = format!(
                    "`{}` is not expected after `{}`; expected `:`, `requires` or `irequires`",
                    short(other),
                    short(label)
                );
                Err(TraceError::line(verb.line, why))
            }
        }
    }

    /// An operation, after its first word.
    fn operation(
        &mut self,
        rank: u32,
        label: Option<&'a str>,
        word: Word<'a>,
    ) -> Result<Operation<'a>, TraceError> {
        let (line, place) = (word.line, Place::Line(word.line));
        let (what, Attributes { cpu, nic, .. }) = match word.text {
            "calc" => {
                let took = self.words.number("calc", "")?;
                (What::calc(took), self.attributes()?)
            }
            "send" | "recv" => {
                let bytes = self.words.number("size", "b")?;
                let way = if word.text == "send" { "to" } else { "from" };
                self.words.need(way)?;
                let peer = if self.words.take(ANY_WORD) { ANY } else { self.rank(way)? };
                let attributes = self.attributes()?;
                let of = if way == "to" { What::send } else { What::receive };
                (of(rank, peer, bytes, attributes.tag, self.ranks), attributes)
            }
            other => {
                return Err(TraceError::line(
                    line,
                    format!("`{}` is not known; expected send, recv or calc", short(other)),
                ));
            }
        };
        Ok(Operation { what: what.map_err(refuse(place))?, cpu, nic, label, place })
    }

    /// The attributes of an operation.
    fn attributes(&mut self) -> Result<Attributes, TraceError> {
        let mut attributes = Attributes { tag: 0, cpu: 0, nic: 0 };
        while let Some(word) = self.words.get(0) {
            // A label may be called like an attribute.
            let is_label =
                self.words.get(1).is_some_and(|next| matches!(next.text, ":" | "requires" | "irequires"));
            if is_label || !matches!(word.text, "tag" | "cpu" | "nic") {
                break;
            }
            self.words.take(word.text);
            match word.text {
                // LogGOPSim keeps these in 8 bits, and tags in 32, the largest for any tag.
                "cpu" => attributes.cpu = self.at_most(&word, u8::MAX.into())? as u8,
                "nic" => attributes.nic = self.at_most(&word, u8::MAX.into())? as u8,
                _ if self.words.take(ANY_WORD) => attributes.tag = ANY,
                _ => attributes.tag = self.at_most(&word, ANY - 1)?,
            }
        }
        Ok(attributes)
    }

    /// The number of an attribute, whose word this is.
    fn at_most(&mut self, word: &Word<'_>, most: u32) -> Result<u32, TraceError> {
        let number = self.words.number(word.text, "")?;
        u32::try_from(number).ok().filter(|number| *number <= most).ok_or_else(|| {
            let why = format!("{}: {number} is too large; expected at most {most}", word.text);
            TraceError::line(word.line, why)
        })
    }
}
