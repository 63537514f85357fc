//! The ways between two hosts, and how the source switch selects one.

use serde::Serialize;
use weft_units::{HostId, NodeId, PortId};

use super::plan::Planned;
use super::switch_gates::chosen;
use super::{Direction, Gate, GateFlag, GatePlan, Layer, forward};

/// The source switch's treatment of a frame: it pushes a tag with these numbers and sends it through a gate. If that
/// gate pops tags (both hosts are on the same switch), nothing is pushed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Steering {
    /// The gate through which the frame leaves the source switch.
    pub gate: Gate,
    /// UP of the tag.
    pub up: u32,
    /// DOWN of the tag.
    pub down: u32,
}

/// A switch on the way of a frame, and how the frame leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hop {
    /// The switch.
    pub switch: NodeId,
    /// The port.
    pub port: PortId,
    /// The port's gate.
    pub gate: Gate,
}

/// How a host is reached from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ways {
    /// Both are servers of the same switch.
    Switch,
    /// Both are servers of the same pod.
    Pod,
    /// Both are servers, of different pods.
    Tree,
    /// The destination is outside.
    Up,
    /// The source is outside.
    Down,
}

impl GatePlan {
    /// Number of ways from a host to another: one over each core between servers of different pods, one over each
    /// aggregation switch within a pod, one within a switch; to or from an external host, one over each of its
    /// cables. 0 from a host to itself, between external hosts, and for a host without a gate.
    pub fn choices(&self, source: HostId, destination: HostId) -> usize {
        let half = self.k() as usize / 2;
        match self.ways(source, destination) {
            None => 0,
            Some(Ways::Switch) => 1,
            Some(Ways::Pod) => half,
            Some(Ways::Tree) => half * half,
            Some(Ways::Up) => self.of_host[destination.index()].len(),
            Some(Ways::Down) => self.of_host[source.index()].len(),
        }
    }

    /// The source switch and its steering of frames over way `choice`; `None` if there is no such way. Ways
    /// between servers are in the order of the UP numbers of aggregation switches and cores.
    pub fn steering(&self, source: HostId, destination: HostId, choice: usize) -> Option<(NodeId, Steering)> {
        let ways = self.ways(source, destination)?;
        let (mut from, mut to) = (0, 0);
        match ways {
            Ways::Up => to = choice,
            Ways::Down => from = choice,
            _ => {}
        }
        let from = &self.switches[self.of_host[source.index()].get(from)?.0 as usize];
        let &(to, gate) = self.of_host[destination.index()].get(to)?;
        let last = self.switches[to as usize].gates.gates[gate as usize].gate;
        let half = from.upward.len();
        let upward = |planned: &Planned, place: usize| {
            planned.upward.get(place).map(|&index| planned.gates.gates[index as usize].gate)
        };
        let (gate, up, down) = match ways {
            Ways::Switch if choice == 0 => (last, Gate(0), last),
            Ways::Switch => return None,
            Ways::Pod => (upward(from, choice)?, Gate(0), last),
            Ways::Tree => {
                let &first = from.upward.get(choice / half)?;
                let over = self.planned(from.peers[first as usize])?;
                (from.gates.gates[first as usize].gate, upward(over, choice % half)?, last)
            }
            Ways::Up => (forward(last, from.gates.up_divisor)?, last, Gate(0)),
            Ways::Down => (forward(last, from.gates.down_divisor)?, Gate(0), last),
        };
        Some((from.node, Steering { gate, up: up.0, down: down.0 }))
    }

    /// How a host is reached from another.
    fn ways(&self, source: HostId, destination: HostId) -> Option<Ways> {
        let switch = |host: HostId| {
            let &(switch, _) = self.of_host.get(host.index())?.first()?;
            self.switches.get(switch as usize)
        };
        let (from, to) = (switch(source)?, switch(destination)?);
        match (from.gates.layer, to.gates.layer) {
            _ if source == destination => None,
            (Layer::Edge, Layer::Edge) if from.node == to.node => Some(Ways::Switch),
            (Layer::Edge, Layer::Edge) if from.pod == to.pod => Some(Ways::Pod),
            (Layer::Edge, Layer::Edge) => Some(Ways::Tree),
            (Layer::Edge, Layer::Core) => Some(Ways::Up),
            (Layer::Core, Layer::Edge) => Some(Ways::Down),
            _ => None,
        }
    }

    /// The switches that frames steered by the switch `at` traverse, ending at a host; `None` if they reach a
    /// missing gate or loop.
    pub fn route(&self, at: NodeId, steering: Steering) -> Option<Vec<Hop>> {
        let mut planned = self.planned(at)?;
        let mut index = planned.gates.gates.iter().position(|gate| gate.gate == steering.gate)?;
        let mut hops = Vec::new();
        // No way has more than two switches of a layer, or one core.
        for _ in 0..5 {
            let gate = &planned.gates.gates[index];
            hops.push(Hop { switch: planned.node, port: gate.port, gate: gate.gate });
            if gate.flag.is_some_and(GateFlag::pops) {
                return Some(hops);
            }
            let next = self.planned(planned.peers[index])?;
            let from = next.peers.iter().position(|&peer| peer == planned.node)?;
            let from = next.gates.gates[from].flag;
            let direction = chosen(from, steering.up, steering.down);
            let number = if direction == Direction::Up { steering.up } else { steering.down };
            let out = forward(Gate(number), next.gates.divisor(direction))?;
            index =
                next.gates.gates.iter().position(|gate| gate.direction == direction && gate.gate == out)?;
            planned = next;
        }
        None
    }
}
