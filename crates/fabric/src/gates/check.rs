//! Checks the properties of gates that make every tag arrive (section III-B), and locates violations.

use weft_units::{NodeId, PortId};
use weft_wire::TagWidth;

use super::numbering::{Numbering, number};
use super::plan::Planned;
use super::violation::{Property, Violation};
use super::{Direction, FatTree, Gate, GateError, GatePlan, Layer, Named, SwitchGates, forward};
use crate::Fabric;

impl GatePlan {
    /// A plan from given gates, such as those read from switches, after checking them. A port's `peer`, if given,
    /// must match the cable, because gates are valid only for the wiring they were made for.
    ///
    /// # Errors
    /// Those of [`FatTree::find`]; [`GateError::Fabric`], [`GateError::Host`], [`GateError::Twice`] for names;
    /// [`GateError::Broken`] with every violation.
    pub fn given(fabric: &Fabric, width: TagWidth, switches: Vec<SwitchGates>) -> Result<Self, GateError> {
        let tree = FatTree::find(fabric)?;
        let mut given = vec![None; fabric.nodes().len()];
        for gates in switches {
            let node = fabric.find(&gates.switch)?;
            if fabric.node(node).is_host() {
                return Err(GateError::Host(gates.switch));
            }
            if let Some(before) = given[node.index()].replace(gates) {
                return Err(GateError::Twice(before.switch));
            }
        }
        // Everything except numbers is as in a computed plan.
        let numbering = Numbering { width: TagWidth::Wide, external_places: None };
        let own = number(fabric, &tree, &numbering)?;
        let mut found = Vec::new();
        let mut whole = Vec::new();
        for (node, own) in fabric.switches().zip(own) {
            match given[node.index()].take() {
                Some(mut gates) => {
                    gates.gates.sort_by_key(|gate| gate.port);
                    incomplete(&gates, &own, &mut found);
                    whole.push((node, gates));
                }
                None => found.push(Violation {
                    property: Property::Complete,
                    why: format!("no gates are given for {}", own.switch),
                    switch: own.switch,
                    port: None,
                    gates: Vec::new(),
                }),
            }
        }
        if !found.is_empty() {
            return Err(GateError::Broken(Named(found)));
        }
        let plan = Self::put_together(fabric, tree, width, whole.into_iter());
        plan.check().map_err(GateError::Broken)?;
        Ok(plan)
    }

    /// Checks that the gates have all properties, so that every tag of [`GatePlan::steering`] arrives; plans of
    /// [`GatePlan::of`] have them.
    ///
    /// # Errors
    /// All violations.
    pub fn check(&self) -> Result<(), Named<Violation>> {
        let mut found = Vec::new();
        for planned in &self.switches {
            differ(planned, &mut found);
            aligned(planned, self.width, &mut found);
        }
        for direction in Direction::ALL {
            self.progression(direction, &mut found);
            self.differences(direction, &mut found);
            self.greatest(direction, &mut found);
        }
        self.apart(&mut found);
        if found.is_empty() { Ok(()) } else { Err(Named(found)) }
    }

    fn layer(&self, layer: Layer) -> impl Iterator<Item = &Planned> {
        self.switches.iter().filter(move |planned| planned.gates.layer == layer)
    }

    /// P1, for the layer where an enumeration begins.
    fn progression(&self, direction: Direction, found: &mut Vec<Violation>) {
        let mut gates = Vec::new();
        for planned in self.layer(order(direction)[0]) {
            let divisor = planned.gates.divisor(direction);
            gates
                .extend(planned.gates.toward(direction).map(|gate| (gate.gate, gate.port, planned, divisor)));
        }
        gates.sort_by_key(|&(gate, port, planned, _)| (gate, planned.node, port));
        let mut broken =
            |(gate, port, planned, _): (Gate, PortId, &Planned, u32), others: &[Gate], why: String| {
                let gates = others.iter().copied().chain([gate]).collect();
                let (switch, property) = (planned.gates.switch.clone(), Property::P1);
                found.push(Violation { property, switch, port: Some(port), gates, why });
            };
        if let Some(&first) = gates.first()
            && (first.0.0 == 0 || first.0.0 % 2 == 1)
        {
            broken(first, &[], format!("gate {} is the first: expected an even number above 0", first.0));
        }
        for pair in gates.windows(2) {
            let (before, gate) = (pair[0], pair[1]);
            let step = gate.0.0 - before.0.0;
            if step == 0 {
                let why =
                    format!("gate {} is also that of {}-eth{}", gate.0, before.2.gates.switch, before.1);
                broken(gate, &[], why);
            } else if gate.3 != 0 && step % gate.3 != 0 {
                let why = format!(
                    "gate {} follows {}: expected a difference that is a multiple of {}",
                    gate.0, before.0, gate.3
                );
                broken(gate, &[before.0], why);
            }
        }
    }

    /// P4, for each layer.
    fn differences(&self, direction: Direction, found: &mut Vec<Violation>) {
        for (rank, layer) in order(direction).into_iter().enumerate() {
            let mut first: Option<&Planned> = None;
            for planned in self.layer(layer) {
                let divisor = planned.gates.divisor(direction);
                let mut broken = |gates, why| {
                    let (switch, property) = (planned.gates.switch.clone(), Property::P4);
                    found.push(Violation { property, switch, port: None, gates, why });
                };
                let first = *first.get_or_insert(planned);
                let common = first.gates.divisor(direction);
                if divisor != common {
                    let other = &first.gates.switch;
                    let why = format!(
                        "its {direction} gates are {divisor} apart, those of {other} are {common} apart"
                    );
                    broken(Vec::new(), why);
                }
                let mut gates: Vec<Gate> = planned.gates.toward(direction).map(|gate| gate.gate).collect();
                gates.sort_unstable();
                for pair in gates.windows(2) {
                    let step = pair[1].0 - pair[0].0;
                    // In the first layer of an enumeration, a place may be empty.
                    let right = if rank == 0 { divisor != 0 && step % divisor == 0 } else { step == divisor };
                    if step != 0 && !right {
                        let why = format!("gates {} and {} are not {divisor} apart", pair[0], pair[1]);
                        broken(pair.to_vec(), why);
                    }
                }
            }
        }
    }

    /// P3, and that divisors grow by integer factors.
    fn greatest(&self, direction: Direction, found: &mut Vec<Violation>) {
        // The gate by which other switches reach a switch without hosts.
        let mut called: Vec<Option<(Gate, NodeId)>> = vec![None; self.place.len()];
        for planned in &self.switches {
            let divisor = planned.gates.divisor(direction);
            for (gate, &peer) in planned.gates.gates.iter().zip(&planned.peers) {
                let Some(next) = self.planned(peer).filter(|_| gate.direction == direction) else { continue };
                let mut broken = |property, gates, why| {
                    let switch = planned.gates.switch.clone();
                    found.push(Violation { property, switch, port: Some(gate.port), gates, why });
                };
                let inner = next.gates.divisor(direction);
                if inner == 0 || divisor % inner != 0 {
                    let why = format!(
                        "its difference {divisor} is not a multiple of {inner}, that of {}",
                        gate.peer
                    );
                    broken(Property::Aligned, Vec::new(), why);
                }
                let (number, name) = (gate.gate, &gate.peer);
                let numbers = || next.gates.toward(direction).map(|gate| gate.gate);
                match numbers().max() {
                    Some(greatest) if forward(greatest, divisor) != Some(number) => {
                        let why = format!(
                            "the gate to {name} is {number}, but the greatest gate there is {greatest}"
                        );
                        broken(Property::P3, vec![number, greatest], why);
                    }
                    Some(_) => {
                        for other in numbers().filter(|other| forward(*other, divisor) != Some(number)) {
                            let why =
                                format!("the gate to {name} is {number}, but f({other}, {divisor}) is not");
                            broken(Property::P3, vec![number, other], why);
                        }
                    }
                    None => match *called[peer.index()].get_or_insert((number, planned.node)) {
                        (other, _) if other == number => {}
                        (other, by) => {
                            let by = self.planned(by).map_or("", |planned| &planned.gates.switch);
                            let why = format!("the gate to {name} is {number}, but that of {by} is {other}");
                            broken(Property::P3, vec![number, other], why);
                        }
                    },
                }
            }
        }
    }

    /// P2 between the two enumerations: no external link has the number of a DOWN gate.
    fn apart(&self, found: &mut Vec<Violation>) {
        let gates = |planned, direction| {
            let planned: &Planned = planned;
            planned.gates.toward(direction).map(move |gate| (gate.gate, &planned.gates.switch, gate.port))
        };
        let mut down: Vec<_> =
            self.switches.iter().flat_map(|planned| gates(planned, Direction::Down)).collect();
        down.sort_by_key(|(gate, ..)| *gate);
        for (gate, switch, port) in self.layer(Layer::Core).flat_map(|planned| gates(planned, Direction::Up))
        {
            let place = down.partition_point(|(other, ..)| *other < gate);
            if let Some((_, other, at)) = down.get(place).filter(|(other, ..)| *other == gate) {
                found.push(Violation {
                    property: Property::P2,
                    switch: switch.clone(),
                    port: Some(port),
                    gates: vec![gate],
                    why: format!("gate {gate} leads up, and down at {other}-eth{at}"),
                });
            }
        }
    }
}

/// The layers in the order of an enumeration.
fn order(direction: Direction) -> [Layer; 3] {
    let mut layers = Layer::ALL;
    if direction == Direction::Up {
        layers.reverse();
    }
    layers
}

/// P2 within a switch.
fn differ(planned: &Planned, found: &mut Vec<Violation>) {
    let mut gates: Vec<_> = planned.gates.gates.iter().collect();
    gates.sort_by_key(|gate| (gate.gate, gate.port));
    for pair in gates.windows(2).filter(|pair| pair[0].gate == pair[1].gate) {
        found.push(Violation {
            property: Property::P2,
            switch: planned.gates.switch.clone(),
            port: Some(pair[1].port),
            gates: vec![pair[1].gate],
            why: format!(
                "gate {} is also that of {}-eth{}",
                pair[1].gate, planned.gates.switch, pair[0].port
            ),
        });
    }
}

/// Checks that f yields each gate of a switch, and that it fits the tag.
fn aligned(planned: &Planned, width: TagWidth, found: &mut Vec<Violation>) {
    for gate in &planned.gates.gates {
        let (number, divisor) = (gate.gate, planned.gates.divisor(gate.direction));
        let mut broken = |property, why| {
            let (switch, port) = (planned.gates.switch.clone(), Some(gate.port));
            found.push(Violation { property, switch, port, gates: vec![number], why });
        };
        if number.0 == 0 || divisor == 0 || number.0 % divisor != 0 {
            broken(Property::Aligned, format!("gate {number} is not a positive multiple of {divisor}"));
        }
        let most = match gate.direction {
            Direction::Down => width.max_down(),
            Direction::Up => width.max_up(),
        };
        if number.0 > most {
            broken(Property::Fits, format!("gate {number} is above {most}, the maximum of a {width} tag"));
        }
    }
}

/// The differences between a switch's given gates and its cables.
fn incomplete(given: &SwitchGates, own: &SwitchGates, found: &mut Vec<Violation>) {
    let mut broken = |port, gates, why| {
        let switch = own.switch.clone();
        found.push(Violation { property: Property::Complete, switch, port, gates, why });
    };
    if given.layer != own.layer {
        broken(None, Vec::new(), format!("it is given as layer {}, but is {}", given.layer, own.layer));
    }
    for pair in given.gates.windows(2).filter(|pair| pair[0].port == pair[1].port) {
        let gates = vec![pair[0].gate, pair[1].gate];
        broken(Some(pair[1].port), gates, format!("it has two gates, {} and {}", pair[0].gate, pair[1].gate));
    }
    for gate in given.gates.iter().filter(|gate| own.at(gate.port).is_none()) {
        broken(Some(gate.port), vec![gate.gate], "there is no such port".to_owned());
    }
    for port in &own.gates {
        let Some(gate) = given.at(port.port) else {
            broken(Some(port.port), Vec::new(), format!("the port to {} has no gate", port.peer));
            continue;
        };
        let mut wrong = |why| broken(Some(port.port), vec![gate.gate], why);
        if !gate.peer.is_empty() && gate.peer != port.peer {
            wrong(format!(
                "gate {} was given for a link to {}, but the link leads to {}",
                gate.gate, gate.peer, port.peer
            ));
        } else if gate.direction != port.direction {
            wrong(format!("gate {} to {} leads {}", gate.gate, port.peer, port.direction));
        } else if gate.flag != port.flag {
            let name =
                |flag: Option<super::GateFlag>| flag.map_or("no flag".to_owned(), |flag| flag.to_string());
            let (given, right) = (name(gate.flag), name(port.flag));
            wrong(format!("gate {} to {} has {given}, expected {right}", gate.gate, port.peer));
        }
    }
}
