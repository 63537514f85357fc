//! [`Grid`]: the groups of ranks of a workload.

/// Ranks that exchange data with each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Those that share each layer.
    Tensor,
    /// Those that share the experts of a layer.
    Experts,
    /// All replicas.
    Data,
    /// The replicas of the same experts.
    ExpertData,
}

/// The numbers of ranks. As in SimAI, tensor ranks are next to each other, then come the stages of the pipeline, then the ranks of
/// experts, then their replicas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    pub ranks: u32,
    pub tensor: u32,
    pub pipeline: u32,
    pub expert: u32,
}

impl Grid {
    /// The number of ranks of a group.
    pub const fn size(self, group: Group) -> u32 {
        let data = self.ranks / self.tensor / self.pipeline;
        match group {
            Group::Tensor => self.tensor,
            Group::Experts => self.expert,
            Group::Data => data,
            Group::ExpertData => data / self.expert,
        }
    }

    /// The ranks of each group.
    pub fn groups(self, group: Group) -> impl Iterator<Item = Vec<u32>> {
        let inner = self.tensor * self.pipeline;
        // Ranks of a group are this far apart.
        let stride = match group {
            Group::Tensor => 1,
            Group::Experts | Group::Data => inner,
            Group::ExpertData => inner * self.expert,
        };
        let size = self.size(group);
        let starts =
            (0..self.ranks / size).map(move |number| number / stride * stride * size + number % stride);
        starts.map(move |first| (0..size).map(|at| first + at * stride).collect())
    }
}
