//! [`order`]: the passes of a stage, one forward and one backward.

/// A pass of a micro-batch through a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    Forward,
    Backward,
}

/// The passes of a stage, each with its micro-batch, in the order of PipeDream-Flush (Narayanan et al., ICML 2021; SC 2021,
/// section 2.2): forward passes until the first gradients can come back, then a forward and a backward pass in turn, then the
/// backward passes that are left.
pub(crate) fn order(stage: u64, stages: u64, micro_batches: u64) -> Vec<(Pass, u64)> {
    let first = (stages - 1 - stage).min(micro_batches);
    let warm_up = (0..first).map(|number| (Pass::Forward, number));
    let in_turn =
        (first..micro_batches).flat_map(|number| [(Pass::Forward, number), (Pass::Backward, number - first)]);
    let cool_down = (micro_batches - first..micro_batches).map(|number| (Pass::Backward, number));
    warm_up.chain(in_turn).chain(cool_down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_and_backward_passes_alternate_after_the_warm_up() {
        use Pass::{Backward as B, Forward as F};
        assert_eq!(order(2, 3, 2), [(F, 0), (B, 0), (F, 1), (B, 1)]);
        assert_eq!(order(1, 3, 3), [(F, 0), (F, 1), (B, 0), (F, 2), (B, 1), (B, 2)]);
        assert_eq!(order(0, 3, 3), [(F, 0), (F, 1), (F, 2), (B, 0), (B, 1), (B, 2)]);
        // Fewer micro-batches than stages.
        assert_eq!(order(0, 9, 2), [(F, 0), (F, 1), (B, 0), (B, 1)]);
    }
}
