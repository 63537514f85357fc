//! GOAL (Group Operation Assembly Language, LogGOPSim and ATLAHS), in its [text](text) and its [binary](binary) form.
//!
//! A send becomes a flow. An operation that requires it starts when all its bytes are acknowledged, one that requires a
//! receive when the matching flow has arrived. `calc` delays operations that require it by nanoseconds. One
//! that `irequires` another starts when that starts.
//!
//! As in LogGOPSim, calculations of one `cpu` of a rank run one after the other, and one `nic` sends one message after
//! the other, each in the order in which they become ready: it begins the next one after the time for the bytes of the
//! last at the rate of the host's links. LogGOPSim's other costs of messages, its parameters `o`, `g` and `O`, are 0:
//! messages take no time of a `cpu`.

mod binary;
mod joining;
mod schedule;
mod text;
mod words;

use std::collections::BTreeMap;

use self::joining::Joining;
use super::{TraceError, without_mark};
use crate::program::Program;

/// Reads a GOAL file in its text or its binary form.
///
/// # Errors
/// A line or operation that is not valid, with its number; a message that nobody sends or receives, or whose receive
/// depends on the time; operations that wait for each other in a circle.
pub fn read_goal(bytes: &[u8]) -> Result<Program, TraceError> {
    let mut schedule = if binary::is_binary(bytes) {
        binary::read(bytes)?
    } else {
        let text = std::str::from_utf8(without_mark(bytes)).ok().filter(|text| !text.contains('\0'));
        let not_text = || {
            let why =
                "this is neither the text form of GOAL nor the binary one, which `txt2bin` makes from it";
            TraceError::file(why)
        };
        text::read(text.ok_or_else(not_text)?)?
    };
    let orders: BTreeMap<_, _> =
        schedule.blocks.iter_mut().map(|(rank, block)| (*rank, block.order())).collect();
    Joining::program(&schedule, &orders.iter().map(|(rank, order)| (*rank, order)).collect())
}

#[cfg(test)]
mod tests;
