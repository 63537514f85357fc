//! [`Grid`]: the ranks of a training job by their place in its four kinds of parallelism.

/// The number of ranks in each direction. Ranks are numbered as Megatron-LM's by default (`tp-ep-dp-pp`): those of one tensor
/// group are next to each other, then come the experts' and the data's, and stages are farthest apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The ranks that share each layer.
    pub tensor: u32,
    /// The ranks that share the experts of a layer.
    pub expert: u32,
    /// The replicas, besides those of the experts' ranks.
    pub data: u32,
    /// The stages of the pipeline.
    pub pipeline: u32,
}

/// The place of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) tensor: u32,
    pub(crate) expert: u32,
    pub(crate) data: u32,
    pub(crate) stage: u32,
}

impl Grid {
    /// The number of ranks.
    pub fn ranks(self) -> u64 {
        [self.tensor, self.expert, self.data, self.pipeline]
            .into_iter()
            .map(u64::from)
            .fold(1, u64::saturating_mul)
    }

    /// The rank at a place.
    pub(crate) const fn rank(self, Cell { tensor, expert, data, stage }: Cell) -> u32 {
        tensor + self.tensor * (expert + self.expert * (data + self.data * stage))
    }
}
