//! Workloads of SimAI (`aliyun/SimAI`) and of ASTRA-sim 1.0 in their text form: the layers of a transformer, which all ranks
//! execute, each with the times of its computations and the collectives after them.
//!
//! As there (`Workload.cc`, `HYBRID_TRANSFORMER` and `HYBRID_TRANSFORMER_FWD_IN_BCKWD`), a pass computes the layers forwards, each
//! after the collective of the layer before. Backwards, the gradients of a layer's input are computed and exchanged, then those of
//! its weights are computed, and exchanged beside everything that follows.

mod grid;
mod header;
mod layer;

use weft_units::Duration;

use self::grid::Grid;
use self::layer::{Exchange, Layer, Part};
use super::{Read, TraceError, without_mark};
use crate::collective::Collective;
use crate::dependencies::MAX_ORDERED;
use crate::meet::Moment;
use crate::program::Program;

/// Whether a file is a workload: lists of flows, which also end in `.txt`, begin with a number.
pub fn is_simai(bytes: &[u8]) -> bool {
    let first = without_mark(bytes).iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(u8::is_ascii_uppercase)
}

/// Reads a workload.
///
/// # Errors
/// A line that is not valid, with its number.
pub fn read_simai(bytes: &[u8]) -> Result<Read<Program>, TraceError> {
    let text = std::str::from_utf8(without_mark(bytes));
    let text = text.map_err(|_| TraceError::file("this is not the text of a workload of SimAI"))?;
    let mut lines = text.lines().zip(1_u64..).filter(|(line, _)| !line.trim().is_empty());
    let (first, number) = lines.next().ok_or_else(|| TraceError::file("the file is empty"))?;
    let (grid, ignored) = header::read(first, number)?;
    let layers = layer::read_all(lines, number)?;
    let flows = match count(&layers, grid)? {
        0 => Program { ranks: grid.ranks, ..Program::default() },
        _ => program(&layers, grid),
    };
    Ok(Read { flows, ignored })
}

/// The number of flows, before any is made.
fn count(layers: &[Layer], grid: Grid) -> Result<u64, TraceError> {
    let mut flows = 0_u64;
    for layer in layers {
        for exchange in [&layer.forward, &layer.input, &layer.weights].into_iter().flat_map(|of| &of.exchange)
        {
            let ranks = grid.size(exchange.group);
            if let Some(collective) = collective(exchange, ranks) {
                let of_group =
                    collective.flows(ranks.into()).map_err(|why| TraceError::line(layer.line, why))?;
                flows = flows.saturating_add(of_group.saturating_mul(u64::from(grid.ranks / ranks)));
            }
            if flows > MAX_ORDERED {
                let why = format!(
                    "with this layer, the workload has {flows} flows; a run can have at most {MAX_ORDERED}"
                );
                return Err(TraceError::line(layer.line, why));
            }
        }
    }
    Ok(flows)
}

/// The collective of a group of so many ranks; `None` if nothing is sent.
fn collective(exchange: &Exchange, ranks: u32) -> Option<Collective> {
    let bytes = exchange.bytes.max(ranks.into());
    (ranks > 1 && exchange.bytes > 0).then(|| Collective::new(exchange.algorithm, bytes, 1))
}

/// The program of one pass.
fn program(layers: &[Layer], grid: Grid) -> Program {
    // Each rank has a processor.
    let mut program = Program { ranks: grid.ranks, processors: grid.ranks, ..Program::default() };
    let last = (0..grid.ranks).map(|rank| Moment::of(program.step(rank))).collect();
    let mut making = Making { grid, program, last, pending: Duration::ZERO };
    for layer in layers {
        making.part(&layer.forward, true);
    }
    for layer in layers.iter().rev() {
        making.part(&layer.input, true);
        making.part(&layer.weights, false);
    }
    making.compute();
    making.program
}

/// A program on its way.
struct Making {
    grid: Grid,
    program: Program,
    /// When each rank has done all before the pending computations.
    last: Vec<Moment>,
    /// The time of computations, the same at all ranks, since then.
    pending: Duration,
}

impl Making {
    /// Adds the pending computations.
    fn compute(&mut self) {
        let takes = std::mem::take(&mut self.pending);
        if takes == Duration::ZERO {
            return;
        }
        for (rank, last) in (0..).zip(&mut self.last) {
            let work = self.program.work(rank, rank, takes);
            self.program.wait(work, *last);
            *last = Moment::after(work, takes);
        }
    }

    /// Adds a computation and the collective after it, for which ranks wait or not.
    fn part(&mut self, part: &Part, is_awaited: bool) {
        self.pending += part.takes;
        let Some(exchange) = &part.exchange else { return };
        let Some(collective) = collective(exchange, self.grid.size(exchange.group)) else { return };
        self.compute();
        let round = collective.round(self.grid.size(exchange.group));
        for ranks in self.grid.groups(exchange.group) {
            let members: Vec<(u32, Moment)> =
                ranks.iter().map(|rank| (*rank, self.last[*rank as usize])).collect();
            let ends = self.program.meet(&round, &members);
            for (rank, end) in ranks.into_iter().zip(ends).filter(|_| is_awaited) {
                self.last[rank as usize] = Moment::of(end);
            }
        }
    }
}

#[cfg(test)]
mod tests;
