//! [`Demand`]: the share of a pattern's flows that each host sends and receives and each rack sends out,
//! known before a flow is drawn. It is used to turn a load into an arrival rate, and to compare the offered
//! load with link capacities.

use std::collections::BTreeMap;

use weft_units::HostId;

use crate::places::Places;

/// Shares of all flows.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    /// Sent by each host.
    pub sent: Vec<f64>,
    /// Received by each host.
    pub received: Vec<f64>,
    /// Sent out of each rack, to other racks.
    pub leaving: Vec<f64>,
    /// Sent into each rack, from other racks.
    pub entering: Vec<f64>,
    /// From one rack to another, if only some pairs of racks have flows. Otherwise a destination is any host of another
    /// rack alike.
    between: Option<BTreeMap<(usize, usize), f64>>,
}

impl Demand {
    /// Source and destination are any two different hosts.
    pub(crate) fn random(places: &Places) -> Self {
        let hosts = places.len() as f64;
        let across = places.racks().iter().map(|rack| {
            let inside = rack.hosts.len() as f64;
            inside / hosts * (hosts - inside) / (hosts - 1.0)
        });
        let leaving: Vec<f64> = across.collect();
        let even = vec![1.0 / hosts; places.len()];
        Self { sent: even.clone(), received: even, entering: leaving.clone(), leaving, between: None }
    }

    /// Source is any host, destination in its rack with probability `share`, otherwise outside.
    pub(crate) fn rack_local(places: &Places, share: f64) -> Self {
        let hosts = places.len() as f64;
        let size = |rack: usize| places.racks()[rack].hosts.len() as f64;
        let racks = 0..places.racks().len();
        let leaving: Vec<f64> = racks.clone().map(|rack| (1.0 - share) * size(rack) / hosts).collect();
        let outside = |rack: usize| (hosts - size(rack)).max(1.0);
        let total: f64 = racks.clone().map(|rack| leaving[rack] / outside(rack)).sum();
        let entering: Vec<f64> =
            racks.map(|rack| size(rack) * (total - leaving[rack] / outside(rack))).collect();
        let received = (0..places.len())
            .map(|host| {
                let rack = places.rack_of(HostId(host as u32));
                entering[rack] / size(rack) + share / hosts
            })
            .collect();
        Self { sent: vec![1.0 / hosts; places.len()], received, leaving, entering, between: None }
    }

    /// Every pair of `pairs` is equally likely.
    pub(crate) fn of_pairs(places: &Places, pairs: &[(HostId, HostId)]) -> Self {
        let mut demand = Self {
            sent: vec![0.0; places.len()],
            received: vec![0.0; places.len()],
            leaving: vec![0.0; places.racks().len()],
            entering: vec![0.0; places.racks().len()],
            between: None,
        };
        let mut between = BTreeMap::new();
        let one = 1.0 / pairs.len().max(1) as f64;
        for &(src, dst) in pairs {
            demand.sent[src.index()] += one;
            demand.received[dst.index()] += one;
            let (from, to) = (places.rack_of(src), places.rack_of(dst));
            if from != to {
                demand.leaving[from] += one;
                demand.entering[to] += one;
                *between.entry((from, to)).or_default() += one;
            }
        }
        demand.between = Some(between);
        demand
    }

    /// The share of flows from one rack to another.
    pub fn from_to(&self, places: &Places, from: usize, to: usize) -> f64 {
        match &self.between {
            _ if from == to => 0.0,
            Some(between) => between.get(&(from, to)).copied().unwrap_or_default(),
            None => {
                let size = |rack: usize| places.racks()[rack].hosts.len() as f64;
                let outside = places.len() as f64 - size(from);
                if outside > 0.0 { self.leaving[from] * size(to) / outside } else { 0.0 }
            }
        }
    }

    /// The share of flows that leave their rack.
    pub fn crossing(&self) -> f64 {
        self.leaving.iter().sum()
    }
}
