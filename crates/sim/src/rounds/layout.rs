//! [`Layout`]: the nodes of a partition that have rounds, and their links.

use std::ops::Range;

use crate::line::{Line, Span};

/// No node of the partition.
const NONE: u32 = u32::MAX;

/// A node.
#[derive(Clone, Copy)]
struct Node {
    /// Its incoming links: the part of [`Layout::incoming`] from here to the next node's.
    incoming: u32,
    /// Its first outgoing link, and their number.
    outgoing: u32,
    ports: u32,
    /// The number of a host's first turn, if hosts pace.
    turn: u32,
}

/// The nodes of a partition by their places: first its switches, by their dense numbers, then its hosts.
#[derive(Default)]
pub struct Layout {
    nodes: Vec<Node>,
    incoming: Vec<u32>,
    /// The place from which each link leaves, or [`NONE`].
    senders: Vec<u32>,
    /// The place that each link reaches, or [`NONE`].
    receivers: Vec<u32>,
    switches: usize,
    /// The numbers of the hosts.
    hosts: Vec<u32>,
}

impl Layout {
    /// The partition's switches and hosts, each with its outgoing links, over these lines. Hosts come with their numbers.
    pub fn new(switches: &[Range<u32>], hosts: &[(u32, Range<u32>)], lines: &[Line]) -> Self {
        let mut of_host = vec![NONE; hosts.iter().map(|(host, _)| *host as usize + 1).max().unwrap_or(0)];
        for ((host, _), place) in hosts.iter().zip(switches.len() as u32..) {
            of_host[*host as usize] = place;
        }
        let receiver = |line: &Line| match line.far_end.split() {
            _ if line.span == Span::Leaves => NONE,
            Ok(switch) => switch,
            Err(host) => of_host[host as usize],
        };
        let receivers: Vec<u32> = lines.iter().map(receiver).collect();
        let mut ends: Vec<(u32, u32)> =
            receivers.iter().copied().zip(0..).filter(|(place, _)| *place != NONE).collect();
        ends.sort_unstable();
        let mut senders = vec![NONE; lines.len()];
        let (mut nodes, mut turn) = (Vec::new(), 0);
        for (place, outgoing) in (0..).zip(switches.iter().chain(hosts.iter().map(|(_, outgoing)| outgoing)))
        {
            outgoing.clone().for_each(|link| senders[link as usize] = place);
            let incoming = ends.partition_point(|(end, _)| *end < place) as u32;
            let ports = outgoing.end - outgoing.start;
            nodes.push(Node { incoming, outgoing: outgoing.start, ports, turn });
            turn += if (place as usize) < switches.len() { 0 } else { ports };
        }
        nodes.push(Node { incoming: ends.len() as u32, outgoing: 0, ports: 0, turn });
        Self {
            nodes,
            incoming: ends.into_iter().map(|(_, link)| link).collect(),
            senders,
            receivers,
            switches: switches.len(),
            hosts: hosts.iter().map(|(host, _)| *host).collect(),
        }
    }

    /// The number of switches.
    pub fn switches(&self) -> usize {
        self.switches
    }

    /// The number of nodes.
    pub fn count(&self) -> usize {
        self.switches + self.hosts.len()
    }

    /// The number of the host at a place.
    pub fn host(&self, place: usize) -> u32 {
        self.hosts[place - self.switches]
    }

    /// The place from which a link leaves, if that is in the partition.
    #[inline(always)]
    pub fn sender(&self, link: u32) -> Option<usize> {
        Some(self.senders[link as usize] as usize).filter(|place| *place != NONE as usize)
    }

    /// The place that a link reaches, if that is in the partition.
    #[inline(always)]
    pub fn receiver(&self, link: u32) -> Option<usize> {
        Some(self.receivers[link as usize] as usize).filter(|place| *place != NONE as usize)
    }

    /// The outgoing links of a node.
    #[inline(always)]
    pub fn outgoing(&self, place: usize) -> Range<u32> {
        let Node { outgoing, ports, .. } = self.nodes[place];
        outgoing..outgoing + ports
    }

    /// The number of a host's first turn, if hosts pace: they are numbered in the order of the hosts' links.
    #[inline(always)]
    pub fn turn(&self, place: usize) -> u32 {
        self.nodes[place].turn
    }

    /// The incoming links of a node; none if there is no such node.
    #[inline(always)]
    pub fn incoming(&self, place: usize) -> &[u32] {
        let Some([this, after]) = self.nodes.get(place..place + 2) else { return &[] };
        &self.incoming[this.incoming as usize..after.incoming as usize]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let numbers = [&self.incoming, &self.senders, &self.receivers, &self.hosts];
        self.nodes.capacity() * size_of::<Node>()
            + numbers.iter().map(|of| of.capacity() * size_of::<u32>()).sum::<usize>()
    }
}
