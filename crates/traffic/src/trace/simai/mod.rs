//! Workloads of SimAI (`aliyun/SimAI`) and of ASTRA-sim 1.0 in their text form: the layers of a model, which all ranks execute,
//! each with the times of its computations and the collectives after them.
//!
//! As there (`Workload.cc`), a pass computes the layers forwards, each after the collective of the layer before. Backwards, the
//! gradients of a layer's input are computed and exchanged, then those of its weights are computed, and exchanged beside everything
//! that follows. In `HYBRID_TRANSFORMER_FWD_IN_BCKWD`, the forward pass from the last checkpoint on is repeated before the gradients
//! of some layers. `DATA` exchanges gradients of weights only. `MICRO` is a list of collectives, of which ASTRA-sim simulates the first.

mod grid;
mod header;
mod layer;
mod pass;

use weft_units::Duration;

use self::grid::Grid;
use self::layer::{Exchange, Part};
use self::pass::Pass;
use super::{Read, TraceError, without_mark};
use crate::collective::{Algorithm, Collective};
use crate::dependencies::MAX_ORDERED;
use crate::meet::Moment;
use crate::program::Program;

/// Whether a file is a workload: lists of flows, which also end in `.txt`, begin with a number.
pub fn is_simai(bytes: &[u8]) -> bool {
    let first = without_mark(bytes).iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(u8::is_ascii_uppercase)
}

/// Reads a workload. A file that does not name the number of its ranks has so many.
///
/// # Errors
/// A line that is not valid, with its number.
pub fn read_simai(bytes: &[u8], ranks: u64) -> Result<Read<Program>, TraceError> {
    let text = std::str::from_utf8(without_mark(bytes));
    let text = text.map_err(|_| TraceError::file("this is not the text of a workload of SimAI"))?;
    let mut lines = text.lines().zip(1_u64..).filter(|(line, _)| !line.trim().is_empty());
    let (first, number) = lines.next().ok_or_else(|| TraceError::file("the file is empty"))?;
    let header = header::read(first, number, ranks)?;
    let grid = header.grid;
    let layers = layer::read_all(lines, number)?;
    let pass = Pass::new(&layers, &header, number)?;
    let computes = pass.steps().any(|step| step.part.takes > Duration::ZERO);
    let flows = match count(&pass, grid)? {
        0 if !computes => Program { ranks: grid.ranks, ..Program::default() },
        _ => program(&pass, grid),
    };
    Ok(Read { flows, ignored: header.ignored })
}

/// The number of flows, before any is made.
fn count(pass: &Pass<'_>, grid: Grid) -> Result<u64, TraceError> {
    let mut flows = 0_u64;
    for step in pass.steps() {
        let Some(exchange) = &step.part.exchange else { continue };
        let ranks = grid.size(exchange.group);
        if let Some(collective) = collective(exchange, ranks) {
            let line = step.layer.line;
            let of_group = collective.flows(ranks.into()).map_err(|why| TraceError::line(line, why))?;
            flows = flows.saturating_add(of_group.saturating_mul(u64::from(grid.ranks / ranks)));
            if flows > MAX_ORDERED {
                let why = format!(
                    "with this layer, the workload has {flows} flows; a run can have at most {MAX_ORDERED}"
                );
                return Err(TraceError::line(line, why));
            }
        }
    }
    Ok(flows)
}

/// The collective of a group of so many ranks; `None` if nothing is sent.
fn collective(exchange: &Exchange, ranks: u32) -> Option<Collective> {
    let (bytes, chunks) = match exchange.algorithm {
        Algorithm::Pipeline => (exchange.bytes, exchange.bytes.min(Collective::CHAIN_CHUNKS)),
        _ => (exchange.bytes.max(ranks.into()), 1),
    };
    (ranks > 1 && exchange.bytes > 0).then(|| Collective::new(exchange.algorithm, bytes, chunks))
}

/// The program of one pass.
fn program(pass: &Pass<'_>, grid: Grid) -> Program {
    // Each rank has a processor.
    let mut program = Program { ranks: grid.ranks, processors: grid.ranks, ..Program::default() };
    let last = (0..grid.ranks).map(|rank| Moment::of(program.step(rank))).collect();
    let mut making = Making { grid, program, last, pending: Duration::ZERO };
    for step in pass.steps() {
        making.part(&step.part, step.is_awaited);
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
