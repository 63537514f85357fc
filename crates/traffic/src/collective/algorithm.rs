//! [`Algorithm`]: the algorithms of collectives.

use weft_units::words;

words! {
    /// An algorithm. Each names the bytes at every rank `B` and the number of ranks `N`.
    pub enum Algorithm {
        /// Reduce-scatter, then all-gather, around a ring: 2 (N - 1) steps of B / N.
        RingAllReduce = "ring-all-reduce",
        /// Recursive halving, then doubling: 2 log2 N steps, of B / 2, B / 4, ... B / N and back.
        HalvingDoublingAllReduce = "halving-doubling-all-reduce",
        /// Up a binary tree and down again, in chunks.
        TreeAllReduce = "tree-all-reduce",
        /// The same over two trees, each of which carries half of the data, in chunks.
        DoubleTreeAllReduce = "double-tree-all-reduce",
        /// Reduce-scatter within scale-up domains, all-reduce between them, all-gather within, around rings.
        HierarchicalAllReduce = "hierarchical-all-reduce",
        /// Reduced and multicast by the switch of a scale-up domain.
        NvlsAllReduce = "nvls-all-reduce",
        /// The same in each scale-up domain, and over two trees between them, in chunks.
        NvlsTreeAllReduce = "nvls-tree-all-reduce",
        /// Reduced by the switch of a scale-up domain.
        NvlsReduceScatter = "nvls-reduce-scatter",
        /// Multicast by the switch of a scale-up domain.
        NvlsAllGather = "nvls-all-gather",
        /// Around a ring: N - 1 steps of B / N.
        ReduceScatter = "reduce-scatter",
        /// Around a ring: N - 1 steps of B / N.
        AllGather = "all-gather",
        /// B / N from each rank to every other, all at once.
        AllToAll = "all-to-all",
        /// From each rank to the next, in chunks.
        Pipeline = "pipeline",
        /// From rank 0 to all others, around a ring, in chunks.
        Broadcast = "broadcast",
        /// B from each rank to the next one around a ring.
        SendRecv = "send-recv",
    }
}

impl Algorithm {
    /// Whether it sends its data in chunks.
    pub const fn has_chunks(self) -> bool {
        matches!(
            self,
            Self::TreeAllReduce
                | Self::DoubleTreeAllReduce
                | Self::NvlsTreeAllReduce
                | Self::Pipeline
                | Self::Broadcast
        )
    }

    /// Whether it treats ranks of a scale-up domain and others differently.
    pub(crate) const fn is_by_domain(self) -> bool {
        matches!(self, Self::HierarchicalAllReduce) || self.is_nvls()
    }

    /// Whether switches of scale-up domains reduce and multicast.
    pub(super) const fn is_nvls(self) -> bool {
        matches!(self, Self::NvlsAllReduce | Self::NvlsTreeAllReduce) || self.is_half_nvls()
    }

    /// Whether they only reduce or only multicast.
    pub(super) const fn is_half_nvls(self) -> bool {
        matches!(self, Self::NvlsReduceScatter | Self::NvlsAllGather)
    }

    /// Whether ranks send data in a round after they have received some.
    pub const fn passes_on(self) -> bool {
        !matches!(self, Self::AllToAll | Self::SendRecv) && !self.is_half_nvls()
    }

    /// The ratio of the bus bandwidth to the bytes at every rank over the time, as nccl-tests prints it (PERFORMANCE.md there);
    /// `None` for algorithms that it does not have.
    pub fn bus_factor(self, ranks: u32) -> Option<f64> {
        let ranks = f64::from(ranks);
        match self {
            Self::RingAllReduce
            | Self::HalvingDoublingAllReduce
            | Self::TreeAllReduce
            | Self::DoubleTreeAllReduce
            | Self::HierarchicalAllReduce
            | Self::NvlsAllReduce
            | Self::NvlsTreeAllReduce => Some(2.0 * (ranks - 1.0) / ranks),
            Self::AllGather
            | Self::ReduceScatter
            | Self::NvlsAllGather
            | Self::NvlsReduceScatter
            | Self::AllToAll => Some((ranks - 1.0) / ranks),
            Self::Broadcast | Self::SendRecv => Some(1.0),
            Self::Pipeline => None,
        }
    }
}
