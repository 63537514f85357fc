//! [`GateTable`]: the gates of a switch, laid out for lookups per frame. Independent of flows.

use thiserror::Error;
use weft_fabric::gates::{Direction, Gate, GateFlag, SwitchGates, chosen, forward};
use weft_units::PortId;
use weft_wire::Tag;

/// Two gates that conflict on one switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum GateClash {
    /// Two ports with the same number: the gate of a frame would be ambiguous.
    #[error("gate {gate} is assigned to ports {first} and {second}: a gate leads through one port")]
    Gate {
        /// The number.
        gate: Gate,
        /// A port with the number.
        first: PortId,
        /// The other port.
        second: PortId,
    },
    /// One port with two numbers of the same direction.
    #[error("port {port} has gates {first} and {second}: a port has only one")]
    Port {
        /// The port.
        port: PortId,
        /// The first gate.
        first: Gate,
        /// The other.
        second: Gate,
    },
}

/// The role of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortRole {
    /// Special treatment besides forwarding.
    pub flag: Option<GateFlag>,
}

/// The gates of one switch.
#[derive(Clone, Debug, Default)]
pub struct GateTable {
    /// Roles by port; `None` for a port without a gate.
    roles: Vec<Option<PortRole>>,
    /// Ports by gate number.
    ports: Vec<(Gate, PortId, Direction)>,
    down_divisor: u32,
    up_divisor: u32,
}

impl GateTable {
    /// The table of a switch's gates.
    ///
    /// # Errors
    /// [`GateClash`].
    pub fn new(gates: &SwitchGates) -> Result<Self, GateClash> {
        let ports = gates.gates.iter().map(|gate| gate.port.index() + 1).max().unwrap_or(0);
        let mut roles: Vec<Option<PortRole>> = vec![None; ports];
        let by_number = gates.gates.iter().map(|gate| (gate.gate, gate.port, gate.direction));
        let mut by_number: Vec<_> = by_number.collect();
        by_number.sort_unstable_by_key(|&(gate, port, _)| (gate, port));
        for pair in by_number.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(GateClash::Gate { gate: pair[0].0, first: pair[0].1, second: pair[1].1 });
            }
        }
        for gate in &gates.gates {
            if roles[gate.port.index()].replace(PortRole { flag: gate.flag }).is_some() {
                let mut both = gates.gates.iter().filter(|other| other.port == gate.port);
                let mut next = || both.next().map_or(gate.gate, |other| other.gate);
                return Err(GateClash::Port { port: gate.port, first: next(), second: next() });
            }
        }
        Ok(Self { roles, ports: by_number, down_divisor: gates.down_divisor, up_divisor: gates.up_divisor })
    }

    /// The role of a port; `None` if it has no gate.
    #[inline]
    pub(crate) fn role(&self, port: PortId) -> Option<PortRole> {
        self.roles.get(port.index()).copied().flatten()
    }

    /// The port of a gate.
    #[inline]
    pub(crate) fn port(&self, gate: Gate) -> Option<PortId> {
        self.find(gate).map(|(_, port, _)| port)
    }

    /// The egress port of a frame with this tag that arrived on a port with this flag: that of gate
    /// `f(g, d)` (section III-C). `None` if there is no such gate.
    #[inline]
    pub(crate) fn output(&self, from: Option<GateFlag>, tag: &Tag) -> Option<PortId> {
        let direction = chosen(from, tag.up, tag.down);
        let (number, divisor) = match direction {
            Direction::Down => (tag.down, self.down_divisor),
            Direction::Up => (tag.up, self.up_divisor),
        };
        let gate = forward(Gate(number), divisor)?;
        self.find(gate).filter(|(_, _, leads)| *leads == direction).map(|(_, port, _)| port)
    }

    #[inline]
    fn find(&self, gate: Gate) -> Option<(Gate, PortId, Direction)> {
        let place = self.ports.binary_search_by_key(&gate, |(gate, ..)| *gate).ok()?;
        Some(self.ports[place])
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::gates::{GatePlan, Layer, Numbering, PortGate};

    use super::*;

    #[test]
    fn it_gives_what_the_gates_themselves_say() {
        let plan = GatePlan::fat_tree(6, &Numbering::default()).unwrap();
        for (_, gates) in plan.switches() {
            let table = GateTable::new(gates).unwrap();
            for from in [None, Some(GateFlag::Ass), Some(GateFlag::Srv)] {
                for up in 0..200 {
                    for down in 0..120 {
                        let tag = Tag { queue: 0, up, down };
                        let expected = gates.output(from, up, down).map(|gate| gate.port);
                        assert_eq!(table.output(from, &tag), expected, "{} {from:?} {tag}", gates.switch);
                    }
                }
            }
        }
    }

    #[test]
    fn a_gate_leads_through_one_port_and_a_port_has_one_gate() {
        let gate = |port, gate| PortGate {
            port: PortId(port),
            gate: Gate(gate),
            direction: Direction::Down,
            flag: None,
            peer: "x".to_owned(),
        };
        let table = |gates| {
            let layer = Layer::Edge;
            let gates = SwitchGates { switch: "s".to_owned(), layer, down_divisor: 2, up_divisor: 8, gates };
            GateTable::new(&gates).map(drop).map_err(|clash| clash.to_string())
        };
        assert_eq!(table(vec![gate(0, 2), gate(1, 4)]), Ok(()));
        let message = "gate 2 is assigned to ports 0 and 1: a gate leads through one port";
        assert_eq!(table(vec![gate(1, 2), gate(0, 2)]), Err(message.to_owned()));
        let message = "port 1 has gates 2 and 4: a port has only one";
        assert_eq!(table(vec![gate(1, 2), gate(1, 4)]), Err(message.to_owned()));
    }
}
