//! Gates to and from the kernel: [`SwitchGates`] as a single map value.

use aya::maps::Array;
use thiserror::Error;
use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, PortGate, SwitchGates};
use weft_switching::tag_forward::{GateClash, GateTable};
use weft_units::PortId;

use super::layout::{self, GATE_BITS, Gates};
use crate::error::PlaneError;
use crate::layout::MAX_PORTS;
use crate::names::map_of_program;
use crate::plane::Plane;

/// Multipliers to try: with 64 gates in 1024 places, about one in seven has no collision.
const TRIES: u32 = 1 << 16;
/// The golden ratio in 32 bits (Knuth, volume 3, section 6.4).
const GOLDEN: u32 = 0x9e37_79b1;

/// `enum gate_role`, by number: no gate, a gate without a flag, gates with a flag.
pub(crate) const FLAGS: [Option<GateFlag>; 5] =
    [None, None, Some(GateFlag::Srv), Some(GateFlag::Ext), Some(GateFlag::Ass)];
pub(crate) const NO_GATE: u8 = 0;

/// Why the switch refuses gates.
#[derive(Debug, Error)]
pub enum GatesRefused {
    /// Two of them conflict.
    #[error(transparent)]
    Clash(#[from] GateClash),
    /// The number is 0.
    #[error("port {port} has gate 0, but gate numbers start at 1")]
    Zero {
        /// The port.
        port: PortId,
    },
    /// The switch has no such port.
    #[error("gate {gate} is set for port {port}, but a switch has ports 0 to {most}", most = MAX_PORTS - 1)]
    Port {
        /// The gate.
        gate: Gate,
        /// Its port.
        port: PortId,
    },
    /// No multiplier gives the numbers distinct places.
    #[error("no collision-free hash found for these {0} gate numbers: choose other numbers")]
    Numbers(usize),
    /// The kernel refused them.
    #[error(transparent)]
    Plane(#[from] PlaneError),
}

/// The hash of a number, its place in the table.
const fn place(number: u32, multiplier: u32) -> usize {
    (number.wrapping_mul(multiplier) >> (32 - GATE_BITS)) as usize
}

/// A multiplier that gives the numbers distinct places.
fn multiplier(numbers: &[u32]) -> Option<u32> {
    let candidates = (0..TRIES).map(|n| GOLDEN.wrapping_mul(2 * n + 1));
    candidates.into_iter().find(|multiplier| {
        let mut taken = [false; 1 << GATE_BITS];
        numbers.iter().all(|number| !std::mem::replace(&mut taken[place(*number, *multiplier)], true))
    })
}

impl Gates {
    /// No gates.
    pub const NONE: Self = Self {
        divisors: [0; 2],
        multiplier: 1,
        layer: 0,
        roles: [NO_GATE; MAX_PORTS as usize],
        places: [layout::Gate { number: 0, port: 0, direction: 0, reserved: 0 }; 1 << GATE_BITS],
    };

    /// The gates in the format of the programs.
    ///
    /// # Errors
    /// [`GatesRefused`].
    pub fn new(gates: &SwitchGates) -> Result<Self, GatesRefused> {
        GateTable::new(gates)?;
        for PortGate { port, gate, .. } in &gates.gates {
            if port.0 >= MAX_PORTS {
                return Err(GatesRefused::Port { gate: *gate, port: *port });
            }
            if gate.0 == 0 {
                return Err(GatesRefused::Zero { port: *port });
            }
        }
        let numbers: Vec<u32> = gates.gates.iter().map(|gate| gate.gate.0).collect();
        let multiplier = multiplier(&numbers).ok_or(GatesRefused::Numbers(numbers.len()))?;
        let divisors = [gates.down_divisor, gates.up_divisor];
        let mut table = Self { divisors, multiplier, layer: gates.layer as u32, ..Self::NONE };
        for PortGate { port, gate, direction, flag, .. } in &gates.gates {
            let role = FLAGS.iter().rposition(|known| known == flag).unwrap_or_default();
            table.roles[port.index()] = role as u8;
            table.places[place(gate.0, multiplier)] =
                layout::Gate { number: gate.0, port: port.0 as u8, direction: *direction as u8, reserved: 0 };
        }
        Ok(table)
    }

    /// Converts back to the gates of the switch `name`, in order of ports, without peers. `None` if there are none,
    /// or the map has other contents.
    pub fn read(&self, name: &str) -> Option<SwitchGates> {
        let known = self.places.iter().filter(|gate| gate.number != 0);
        let gate = |gate: &layout::Gate| {
            Some(PortGate {
                port: PortId(gate.port.into()),
                gate: Gate(gate.number),
                direction: *Direction::ALL.get(usize::from(gate.direction))?,
                flag: *FLAGS.get(usize::from(*self.roles.get(usize::from(gate.port))?))?,
                peer: String::new(),
            })
        };
        let mut gates: Vec<PortGate> = known.map(gate).collect::<Option<_>>()?;
        gates.sort_by_key(|gate| gate.port);
        let [down_divisor, up_divisor] = self.divisors;
        let layer = *Layer::ALL.get(self.layer as usize)?;
        let is_any = !gates.is_empty();
        is_any.then(|| SwitchGates { switch: name.to_owned(), layer, down_divisor, up_divisor, gates })
    }
}

impl Plane {
    /// Replaces all gates atomically: each frame uses either the old ones or the new ones. For modes with gates.
    ///
    /// # Errors
    /// [`GatesRefused`]; then the old gates stay.
    pub fn set_gates(&mut self, gates: &SwitchGates) -> Result<(), GatesRefused> {
        let table = Gates::new(gates)?;
        let Self { ebpf, gate_turns, .. } = self;
        let [current, places] = ["current", "gates"];
        let named = ebpf.maps_mut().filter_map(|(name, map)| Some((map_of_program(name)?, map)));
        let mut maps = named.filter(|(name, _)| [current, places].contains(name));
        let (Some(one), Some(other)) = (maps.next(), maps.next()) else {
            return Err(PlaneError::Missing("gates").into());
        };
        let (current, places) = if one.0 == current { (one.1, other.1) } else { (other.1, one.1) };
        Ok(gate_turns.set(current, places, table)?)
    }

    /// The current gates, for the switch `name`, without peers. `None` if none were set.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn gates(&self, name: &str) -> Result<Option<SwitchGates>, PlaneError> {
        let current = self.gate_turns.current(&Array::try_from(self.map("current")?)?)?;
        let table = Array::<_, Gates>::try_from(self.map("gates")?)?.get(&current, 0)?;
        Ok(table.read(name))
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::gates::{GatePlan, Numbering, TagWidth};

    use super::*;

    #[test]
    fn gates_of_every_size_come_back_as_they_went() {
        for k in (4..=24).step_by(2) {
            let plan = GatePlan::fat_tree(k, &Numbering::default()).unwrap();
            for (_, gates) in plan.switches() {
                let table = Gates::new(gates).unwrap();
                let mut known = table.read(&gates.switch).unwrap();
                for (gate, other) in known.gates.iter_mut().zip(&gates.gates) {
                    gate.peer.clone_from(&other.peer);
                }
                assert_eq!(known, *gates, "k = {k}");
            }
        }
    }

    #[test]
    fn numbers_of_any_making_have_places_of_their_own() {
        let wide = Numbering { width: TagWidth::Wide, ..Numbering::default() };
        let plan = GatePlan::fat_tree(64, &wide).unwrap();
        for (_, gates) in plan.switches().step_by(97) {
            assert_eq!(
                Gates::new(gates).unwrap().read(&gates.switch).unwrap().gates.len(),
                gates.gates.len()
            );
        }
        for numbers in [
            (1..=64).collect::<Vec<u32>>(),
            (1..=64).map(|n| n << 22).collect(),
            (1..=64).map(|n| n << 26 | 1).collect(),
            (1_u32..=64).map(|n| n.wrapping_mul(n).wrapping_mul(0x0019_660d)).collect(),
        ] {
            let multiplier = multiplier(&numbers).unwrap();
            let mut places: Vec<usize> = numbers.iter().map(|n| place(*n, multiplier)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), numbers.len());
        }
    }

    #[test]
    fn what_no_port_can_have_is_refused() {
        let gate = |port, gate| PortGate {
            port: PortId(port),
            gate: Gate(gate),
            direction: Direction::Down,
            flag: None,
            peer: String::new(),
        };
        let refused = |gates| {
            let switch = "s".to_owned();
            let gates = SwitchGates { switch, layer: Layer::Edge, down_divisor: 2, up_divisor: 4, gates };
            Gates::new(&gates).unwrap_err().to_string()
        };
        assert_eq!(refused(vec![gate(64, 2)]), "gate 2 is set for port 64, but a switch has ports 0 to 63");
        assert_eq!(refused(vec![gate(1, 0)]), "port 1 has gate 0, but gate numbers start at 1");
        assert!(refused(vec![gate(1, 2), gate(2, 2)]).starts_with("gate 2 is assigned to ports 1 and 2"));
    }
}
