//! [`Plan`]: the nodes and cables of a fat-tree that follow from its numbers.

use weft_units::{Duration, NodeId};

use super::tier::Tier;
use crate::builder::check_size;
use crate::{FabricBuilder, FabricError, Limit, LinkSpec, QueueSpec};

/// The numbers of nodes that follow from a file.
pub(super) struct Plan<'a> {
    pub(super) pods: u64,
    /// Hosts, switches of the lowest and of the middle tier in each pod.
    pub(super) per_pod: u64,
    pub(super) lowest_per_pod: u64,
    pub(super) middle_per_pod: u64,
    /// Cores of each switch of the middle tier.
    pub(super) cores_each: u64,
    pub(super) tiers: &'a [Tier],
    pub(super) defaults: &'a LinkSpec,
}

impl Plan<'_> {
    pub(super) fn build(&self, name: &str) -> Result<FabricBuilder, FabricError> {
        let product =
            |factors: &[u64]| factors.iter().try_fold(1_u64, |all, factor| all.checked_mul(*factor));
        let [pods, lowest, middle] = [self.pods, self.lowest_per_pod, self.middle_per_pod];
        let cores = product(&[middle, self.cores_each]);
        let counts =
            [product(&[pods, self.per_pod]), product(&[pods, lowest]), product(&[pods, middle]), cores];
        let top_bundle = self.tiers.get(2).map_or(0, |tier| tier.bundle);
        let cables = [
            counts[0],
            product(&[pods, lowest, middle, self.tiers[1].bundle]),
            product(&[pods, middle, self.cores_each, top_bundle]),
        ];
        let sum = |numbers: &[Option<u64>]| {
            numbers.iter().try_fold(0_u64, |all, number| all.checked_add((*number)?)).unwrap_or(u64::MAX)
        };
        check_size(sum(&counts), sum(&cables))?;
        let mut builder = FabricBuilder::new(name);
        let (names, in_pods) =
            if self.tiers.len() == 3 { (['e', 'a', 'c'], true) } else { (['l', 's', 's'], false) };
        let pod = |number: u64, each: u64| in_pods.then(|| (number / each) as u32);
        let mut hosts = Vec::new();
        for number in 0..counts[0].unwrap_or(0) {
            hosts.push(builder.add_host(format!("h{number}"), 0, pod(number, self.per_pod))?);
        }
        let mut levels: [Vec<NodeId>; 3] = Default::default();
        for (level, nodes) in levels.iter_mut().enumerate() {
            let each = [lowest, middle, 1][level];
            for number in 0..counts[level + 1].unwrap_or(0) {
                let pod = if level == 2 { None } else { pod(number, each) };
                nodes.push(builder.add_switch(format!("{}{number}", names[level]), level as u8 + 1, pod)?);
            }
        }
        let [edges, aggregations, cores] = &levels;
        for (number, &host) in hosts.iter().enumerate() {
            let edge = edges[number / self.tiers[0].down as usize];
            self.connect(&mut builder, host, edge, 0)?;
        }
        let (lowest, middle) = (lowest as usize, middle as usize);
        for (edges, aggregations) in edges.chunks(lowest).zip(aggregations.chunks(middle)) {
            for &edge in edges {
                for &aggregation in aggregations {
                    self.connect(&mut builder, edge, aggregation, 1)?;
                }
            }
        }
        for (number, &aggregation) in aggregations.iter().enumerate() {
            for core in 0..self.cores_each as usize {
                self.connect(&mut builder, aggregation, cores[number % middle + middle * core], 2)?;
            }
        }
        Ok(builder)
    }

    /// Connects `below` and `above`, a switch of `tier`.
    fn connect(
        &self,
        builder: &mut FabricBuilder,
        below: NodeId,
        above: NodeId,
        tier: usize,
    ) -> Result<(), FabricError> {
        let here = &self.tiers[tier];
        let way = |queue: Option<u64>, to: Duration| {
            let own = &self.defaults.queue;
            let queue =
                queue.map_or(own.clone(), |bytes| QueueSpec { limit: Limit::Bytes(bytes), ..own.clone() });
            LinkSpec { rate: here.rate, delay: here.latency + to, queue, overhead: self.defaults.overhead }
        };
        let under = tier.checked_sub(1).map(|under| &self.tiers[under]);
        let forth = way(under.and_then(|under| under.queue_up), here.switch_latency);
        let back = way(here.queue_down, under.map_or(Duration::ZERO, |under| under.switch_latency));
        for _ in 0..here.bundle {
            builder.connect_asymmetric(below, above, &forth, &back)?;
        }
        Ok(())
    }
}
