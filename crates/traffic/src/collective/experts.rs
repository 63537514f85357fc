//! The traffic of a mixture of experts: an all-to-all in which popular ranks receive more.
//!
//! Popularity follows Zipf's law: the k-th most popular of the ranks receives `1 / k^s` as much as the first from each sender, in
//! an order that the seed draws. Traces of Mixtral and DeepSeek-V3 show skews of this kind; an exponent of 0 is a balanced
//! router.

use crate::program::Program;

/// Changes the sizes of the flows of an all-to-all of `bytes` at every rank: each rank sends all of its bytes but the share of its
/// own expert. `order` has the ranks from the most popular one on; the exponent is in thousandths.
pub(crate) fn skew(program: &mut Program, bytes: u64, exponent: u32, order: &[u32]) {
    let mut weights = vec![0.0; order.len()];
    for (place, rank) in order.iter().enumerate() {
        weights[*rank as usize] = ((place + 1) as f64).powf(-f64::from(exponent) / 1000.0);
    }
    let all: f64 = weights.iter().sum();
    for flow in &mut program.flows {
        flow.bytes = ((bytes as f64 * weights[flow.dst.index()] / all).round() as u64).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_most_popular_rank_receives_half_as_much_with_exponent_one() {
        let mut program = Program { ranks: 3, ..Program::default() };
        for (src, dst) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            program.flow(src, dst, 1);
        }
        skew(&mut program, 11_000, 1000, &[2, 0, 1]);
        let to = |rank: usize| program.flows.iter().filter(move |flow| flow.dst.index() == rank);
        assert!(to(2).all(|flow| flow.bytes == 6_000) && to(0).all(|flow| flow.bytes == 3_000));
        assert!(to(1).all(|flow| flow.bytes == 2_000));
        skew(&mut program, 9_000, 0, &[2, 0, 1]);
        assert!(program.flows.iter().all(|flow| flow.bytes == 3_000));
    }
}
