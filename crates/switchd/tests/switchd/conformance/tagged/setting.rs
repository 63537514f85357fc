//! Random settings of a switch.

use rand_core::RngCore;
use weft_fabric::gates::{Direction, Gate, GateFlag, GatePlan, Layer, Numbering, PortGate, SwitchGates};
use weft_switchd::Mode;
use weft_switchd::tags::Tagging;
use weft_switching::{Stream, pick, stream};
use weft_units::PortId;
use weft_wire::TagWidth;

/// A switch and its settings.
#[derive(Clone, Debug)]
pub struct Setting {
    pub mode: Mode,
    pub tagging: Tagging,
    pub gates: SwitchGates,
    /// The number of ports, more than gates.
    pub ports: u16,
    /// Whether each port accepts Hellos.
    pub may_be_fabric: Vec<bool>,
}

/// The gates of a random fat-tree switch, some removed or with other flags, rarely with arbitrary numbers.
pub fn gates(random: &mut Stream, width: TagWidth) -> SwitchGates {
    let k = [4, 4, 6, 8][pick(random.next_u64(), 4)];
    let plan = GatePlan::fat_tree(k, &Numbering { width, ..Numbering::default() }).expect("a fat-tree");
    let at = pick(random.next_u64(), plan.switches().len());
    let mut gates = plan.switches().nth(at).expect("an index in range").1.clone();
    if gates.layer == Layer::Core && random.next_u32().is_multiple_of(2) {
        let port = PortId(k as u16);
        let (gate, flag) = (Gate(41), Some(GateFlag::Ext));
        gates.gates.push(PortGate { port, gate, direction: Direction::Up, flag, peer: String::new() });
    }
    match random.next_u32() % 4 {
        0 => {
            let at = pick(random.next_u64(), gates.gates.len());
            gates.gates.remove(at);
        }
        1 => {
            let at = pick(random.next_u64(), gates.gates.len());
            gates.gates[at].flag =
                [None, Some(GateFlag::Srv), Some(GateFlag::Ass)][pick(random.next_u64(), 3)];
        }
        2 if random.next_u32().is_multiple_of(4) => {
            for gate in &mut gates.gates {
                gate.gate = Gate(1 + gate.gate.0.wrapping_mul(random.next_u32() | 1));
            }
            gates.up_divisor = random.next_u32() % 3;
        }
        _ => {}
    }
    gates
}

/// A switch with two servers and no other ports.
pub fn two_servers() -> SwitchGates {
    let gate = |port, gate| PortGate {
        port: PortId(port),
        gate: Gate(gate),
        direction: Direction::Down,
        flag: Some(GateFlag::Srv),
        peer: String::new(),
    };
    let (switch, gates) = ("s".to_owned(), vec![gate(0, 2), gate(1, 4)]);
    SwitchGates { switch, layer: Layer::Edge, down_divisor: 2, up_divisor: 4, gates }
}

impl Setting {
    /// The setting of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = stream(seed, "tag setting", 0);
        let width = TagWidth::ALL[(seed % 2) as usize];
        let mode = if seed % 5 < 3 { Mode::TagForward } else { Mode::FlowTable };
        let tagging = Tagging {
            width,
            ethertype: width.ethertype(),
            sprays: random.next_u32().is_multiple_of(2),
            queue_major: if random.next_u32().is_multiple_of(2) { 7 } else { 0 },
        };
        let gates = gates(&mut random, width);
        let ports = 10;
        let may_be_fabric = (0..ports).map(|_| !random.next_u32().is_multiple_of(4)).collect();
        Self { mode, tagging, gates, ports, may_be_fabric }
    }
}
