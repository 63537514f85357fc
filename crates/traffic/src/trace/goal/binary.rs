//! The binary form of GOAL, as LogGOPSim's `txt2bin` writes it: packed numbers in little-endian order.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | the cookie 4223; offsets count from its end |
//! | 4, 1, 1 | the number of ranks, the highest `cpu` and the highest `nic` |
//! | 16 for each rank | the offsets of its block and of the block's end |
//!
//! A block: the number of operations and of those that require nothing (4 bytes each), the indices of the latter, 39
//! bytes for each operation, and an appendix of indices of operations. The 39 bytes: the number of requirements (4),
//! the type (1: 1 send, 2 receive, 3 calculation), peer (4), size (8), tag (4), `cpu` (1), `nic` (1), how many
//! operations require its end and where they begin in the appendix (4 each), and the same for those that require its
//! start.

use super::schedule::{Block, Operation, Schedule, What, refuse};
use weft_units::plural;

use crate::trace::error::{Place, TraceError};

const COOKIE: u64 = 4223;
/// A file that a run of LogGOPSim has used up.
const SPENT: u64 = 2342;
const HEADER: usize = 6;
const OPERATION: usize = 39;

/// Whether these are the bytes of a binary file.
pub fn is_binary(bytes: &[u8]) -> bool {
    matches!(Fields(bytes).u64(), Some(COOKIE | SPENT))
}

/// The operations of a binary file.
pub fn read(bytes: &[u8]) -> Result<Schedule<'static>, TraceError> {
    let mut fields = Fields(bytes);
    if fields.u64() == Some(SPENT) {
        let why = "a run of LogGOPSim with `--save-mem` has used this file up; make it again with `txt2bin`";
        return Err(TraceError::file(why));
    }
    let content = fields.0;
    let ranks = fields.u32().filter(|ranks| content.len() / 16 >= *ranks as usize);
    let ranks = ranks.ok_or_else(|| TraceError::file("the file ends before its table of ranks does"))?;
    let mut table = Fields(&content[HEADER.min(content.len())..]);
    let mut schedule = Schedule { ranks, ..Schedule::default() };
    for rank in 0..ranks {
        let short = || TraceError::file("the file ends before its table of ranks does");
        let (start, end) = (table.u64().ok_or_else(short)?, table.u64().ok_or_else(short)?);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let block = range.and_then(|(start, end)| content.get(start..end)).ok_or_else(|| {
            let why =
                format!("its block, bytes {start} to {end}, is not in the file of {} bytes", content.len());
            TraceError::at(Place::Rank(rank), why)
        })?;
        let block = read_block(block, rank, ranks)?;
        schedule.blocks.insert(rank, block);
    }
    Ok(schedule)
}

/// The operations of a rank.
fn read_block(bytes: &[u8], rank: u32, ranks: u32) -> Result<Block<'static>, TraceError> {
    let mut fields = Fields(bytes);
    let split = fields.u32().zip(fields.u32()).and_then(|(count, free)| {
        let (count, free) = (count as usize, free as usize);
        fields.take(free.checked_mul(4)?)?;
        let operations = fields.take(count.checked_mul(OPERATION)?)?;
        Some((count, free, operations))
    });
    let (count, free, operations) = split.ok_or_else(|| {
        TraceError::at(Place::Rank(rank), "its block ends before the last of its operations")
    })?;
    let appendix = Fields(fields.0);
    let mut block = Block::default();
    // Operations that require each one.
    let mut stated = Vec::with_capacity(count);
    for (index, bytes) in (0..).zip(operations.chunks_exact(OPERATION)) {
        let place = Place::Operation { rank, operation: u64::from(index) + 1 };
        let raw = Raw::of(bytes).ok_or_else(|| TraceError::at(place, "it is incomplete"))?;
        let what = match raw.kind {
            1 => What::send(rank, raw.peer, raw.size, raw.tag, ranks),
            2 => What::receive(rank, raw.peer, raw.size, raw.tag, ranks),
            3 => What::calc(raw.size),
            other => Err(format!("type {other} is not known; expected 1 (send), 2 (recv) or 3 (calc)")),
        };
        let what = what.map_err(refuse(place))?;
        block.operations.push(Operation { what, cpu: raw.cpu, nic: raw.nic, label: None, place });
        stated.push(raw.requires);
        for (dependents, is_start) in [(raw.ends, false), (raw.starts, true)] {
            let list = appendix.list(dependents).filter(|list| {
                // Each index of the appendix belongs to one operation.
                block.requirements.len() + list.len() / 4 <= appendix.0.len() / 4
            });
            let list = list.ok_or_else(|| {
                let why = "the operations that require it are not in the rank's block";
                TraceError::at(place, why)
            })?;
            for waiting in list.chunks_exact(4).filter_map(|bytes| Fields(bytes).u32()) {
                if waiting as usize >= count {
                    let why = format!(
                        "operation {} requires it, and rank {rank} has {}",
                        u64::from(waiting) + 1,
                        plural(count as u64, "operation")
                    );
                    return Err(TraceError::at(place, why));
                }
                block.requirements.push((waiting, index, is_start));
            }
        }
    }
    check_counts(&block, &stated, rank)?;
    if stated.iter().filter(|count| **count == 0).count() != free {
        let why = format!("{free} of its operations require nothing by its head, but not by themselves");
        return Err(TraceError::at(Place::Rank(rank), why));
    }
    Ok(block)
}

/// Checks that each operation has as many requirements as it states.
fn check_counts(block: &Block<'_>, stated: &[u32], rank: u32) -> Result<(), TraceError> {
    let mut found = vec![0_u32; stated.len()];
    for (waiting, ..) in &block.requirements {
        found[*waiting as usize] += 1;
    }
    let wrong = (1..).zip(stated.iter().zip(&found)).find(|(_, (stated, found))| stated != found);
    wrong.map_or(Ok(()), |(operation, (stated, found))| {
        let why = format!("it states {}; the others name {found}", plural(u64::from(*stated), "requirement"));
        Err(TraceError::at(Place::Operation { rank, operation }, why))
    })
}

/// An operation as written.
struct Raw {
    requires: u32,
    kind: u8,
    peer: u32,
    size: u64,
    tag: u32,
    cpu: u8,
    nic: u8,
    /// The number of operations that require its end, and where they begin in the appendix.
    ends: (u32, u32),
    /// The same, for its start.
    starts: (u32, u32),
}

impl Raw {
    fn of(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        Some(Self {
            requires: fields.u32()?,
            kind: fields.u8()?,
            peer: fields.u32()?,
            size: fields.u64()?,
            tag: fields.u32()?,
            cpu: fields.u8()?,
            nic: fields.u8()?,
            ends: (fields.u32()?, fields.u32()?),
            starts: (fields.u32()?, fields.u32()?),
        })
    }
}

/// Bytes that are not read yet.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// So many numbers of 4 bytes, from the one with this index.
    fn list(&self, (count, first): (u32, u32)) -> Option<&'a [u8]> {
        let (start, bytes) = ((first as usize).checked_mul(4)?, (count as usize).checked_mul(4)?);
        if bytes == 0 { Some(&[]) } else { self.0.get(start..start.checked_add(bytes)?) }
    }
}
