//! [`Gated`]: the gates of the switch as configured. The program forwards by its maps; this also holds the names that
//! it does not need, which are saved in a file across restarts of the daemon.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_fabric::gates::{Direction, Gate, Layer, PortGate, SwitchGates, forward};
use weft_units::{PortId, plural};

use crate::tags::GatesRefused;

/// Why the gates are unchanged.
#[derive(Debug, Error)]
pub enum GateRefusal {
    /// The gates conflict, or the data plane could not be updated.
    #[error(transparent)]
    Refused(#[from] GatesRefused),
    /// A gate of a port that the switch does not have.
    #[error(
        "gate {gate} is set for port {port}, but this switch has {}, numbered from 0",
        plural(*ports as u64, "port")
    )]
    NoPort {
        /// The gate.
        gate: u32,
        /// The port.
        port: PortId,
        /// The number of ports.
        ports: usize,
    },
    /// No gate is a multiple of it.
    #[error("the {0} divisor cannot be 0: it is the distance between {0} gates, 1 or more")]
    Divisor(Direction),
    /// Tags lead only to multiples of the divisor.
    #[error(
        "no tag leads to gate {gate}: {direction} gates of this switch are multiples of {divisor}, and the next is \
         {next} (or change the divisor first: set-divisors)"
    )]
    Unreachable {
        /// The gate.
        gate: Gate,
        /// Its direction.
        direction: Direction,
        /// The distance between gates of this direction.
        divisor: u32,
        /// The next multiple, in words.
        next: String,
    },
    /// The port has no gate.
    #[error("port {0} has no gate")]
    None(PortId),
}

/// Refuses a gate that no tag can address; a divisor of 0 is not set yet.
///
/// # Errors
/// [`GateRefusal::Unreachable`].
pub fn check_reachable(gate: Gate, direction: Direction, divisor: u32) -> Result<(), GateRefusal> {
    if divisor == 0 || gate.0.is_multiple_of(divisor) {
        return Ok(());
    }
    let next = forward(gate, divisor).map_or_else(|| "none".to_owned(), |next| next.to_string());
    Err(GateRefusal::Unreachable { gate, direction, divisor, next })
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct Kept {
    gates: SwitchGates,
    /// The interfaces of the ports, by number.
    interfaces: Vec<String>,
}

/// The gates of a switch.
pub struct Gated {
    now: SwitchGates,
    /// The interfaces of the ports when the gates were set, by number.
    interfaces: Vec<String>,
    file: PathBuf,
}

/// A switch without gates.
fn none() -> SwitchGates {
    let (switch, gates) = (String::new(), Vec::new());
    SwitchGates { switch, layer: Layer::Edge, down_divisor: 0, up_divisor: 0, gates }
}

/// These gates without names.
fn nameless(gates: &SwitchGates) -> SwitchGates {
    let mut gates = SwitchGates { switch: String::new(), ..gates.clone() };
    gates.gates.iter_mut().for_each(|gate| gate.peer.clear());
    gates.gates.sort_by_key(|gate| gate.port);
    gates
}

impl Gated {
    /// The gates of the program, with the names in `file` if it describes the same gates.
    pub fn adopt(program: Option<SwitchGates>, file: PathBuf) -> Self {
        let program = program.unwrap_or_else(none);
        let kept: Option<Kept> =
            fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        let kept = kept.filter(|kept| nameless(&kept.gates) == nameless(&program));
        let Kept { gates, interfaces } = kept.unwrap_or(Kept { gates: program, interfaces: Vec::new() });
        Self { now: gates, interfaces, file }
    }

    /// Warnings about gates whose port now has another interface; `interfaces` are the current ones.
    pub fn moved(&self, interfaces: &[String]) -> Vec<String> {
        let moved = self.now.gates.iter().filter_map(|PortGate { port, gate, .. }| {
            let before = self.interfaces.get(port.index())?;
            match interfaces.get(port.index()) {
                Some(now) if now == before => None,
                Some(now) => Some(format!(
                    "gate {gate} was set for `{before}`, but its port {port} is now `{now}`: set the gates again \
                     if it is another link"
                )),
                None => Some(format!("gate {gate} was removed with its port {port} (`{before}`)")),
            }
        });
        moved.collect()
    }

    /// The gates without those of ports from `ports` on; `None` if there are none.
    pub fn without_those_beyond(&self, ports: usize) -> Option<SwitchGates> {
        let mut gates = self.now.clone();
        gates.gates.retain(|gate| gate.port.index() < ports);
        (gates != self.now).then_some(gates)
    }

    /// The current gates.
    pub const fn get(&self) -> &SwitchGates {
        &self.now
    }

    /// Replaces the gates, which `tell` writes to the data plane; nothing changes on an error. `interfaces` are those
    /// of the ports.
    ///
    /// # Errors
    /// [`GateRefusal`].
    pub fn set(
        &mut self,
        mut gates: SwitchGates,
        interfaces: &[String],
        tell: impl FnOnce(&SwitchGates) -> Result<(), GatesRefused>,
    ) -> Result<(), GateRefusal> {
        let ports = interfaces.len();
        for PortGate { port, gate, .. } in &gates.gates {
            if port.index() >= ports {
                return Err(GateRefusal::NoPort { gate: gate.0, port: *port, ports });
            }
        }
        gates.gates.sort_by_key(|gate| gate.port);
        tell(&gates)?;
        let kept = Kept { gates, interfaces: interfaces.to_vec() };
        let text = serde_json::to_string(&kept).unwrap_or_default();
        (self.now, self.interfaces) = (kept.gates, kept.interfaces);
        if let Err(error) = fs::write(&self.file, text) {
            tracing::warn!(path = %self.file.display(), %error, "cannot save the names of gates");
        }
        Ok(())
    }

    /// The gates with `gate` replacing that of its port.
    pub fn with(&self, gate: PortGate) -> SwitchGates {
        let mut gates = self.now.clone();
        gates.gates.retain(|other| other.port != gate.port);
        gates.gates.push(gate);
        gates
    }

    /// The gates without that of a port.
    ///
    /// # Errors
    /// [`GateRefusal::None`].
    pub fn without(&self, port: PortId) -> Result<SwitchGates, GateRefusal> {
        let mut gates = self.now.clone();
        gates.gates.retain(|gate| gate.port != port);
        if gates.gates.len() == self.now.gates.len() { Err(GateRefusal::None(port)) } else { Ok(gates) }
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::gates::GateFlag;

    use super::*;

    fn gate(port: u16, gate: u32, peer: &str) -> PortGate {
        let (direction, flag) = (Direction::Down, Some(GateFlag::Srv));
        PortGate { port: PortId(port), gate: Gate(gate), direction, flag, peer: peer.to_owned() }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_outlive_the_daemon_while_the_gates_are_the_same() {
        let file = std::env::temp_dir().join(format!("weft-gates-{}", std::process::id()));
        let mut gated = Gated::adopt(None, file.clone());
        let given = SwitchGates {
            switch: "es1".to_owned(),
            down_divisor: 2,
            gates: vec![gate(1, 4, "h2"), gate(0, 2, "h1")],
            ..none()
        };
        gated.set(given, &names(&["a", "b"]), |_| Ok(())).unwrap();
        let program = nameless(gated.get());
        let adopted = Gated::adopt(Some(program.clone()), file.clone());
        assert_eq!((adopted.get().switch.as_str(), adopted.get().gates[0].peer.as_str()), ("es1", "h1"));
        assert_eq!(adopted.moved(&names(&["a", "b", "c"])), [""; 0]);
        let moved = adopted.moved(&names(&["b"]));
        assert!(moved[0].starts_with("gate 2 was set for `a`, but its port 0 is now `b`"), "{moved:?}");
        assert_eq!(moved[1..], ["gate 4 was removed with its port 1 (`b`)"]);
        assert_eq!(adopted.without_those_beyond(2), None);
        assert_eq!(adopted.without_those_beyond(1).unwrap().gates, [gate(0, 2, "h1")]);
        let other = SwitchGates { gates: program.gates[..1].to_vec(), ..program };
        assert_eq!(Gated::adopt(Some(other.clone()), file.clone()).get(), &other);
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn what_no_switch_can_have_is_refused_and_changes_nothing() {
        let file = std::env::temp_dir().join(format!("weft-gates-refused-{}", std::process::id()));
        let mut gated = Gated::adopt(None, file.clone());
        let mut set = |gates: Vec<PortGate>| {
            let refuse = |_: &SwitchGates| Err(GatesRefused::Zero { port: PortId(0) });
            gated.set(SwitchGates { gates, ..none() }, &names(&["a", "b"]), refuse).unwrap_err().to_string()
        };
        assert_eq!(
            set(vec![gate(2, 2, "")]),
            "gate 2 is set for port 2, but this switch has 2 ports, numbered from 0"
        );
        assert_eq!(set(vec![gate(0, 0, "")]), GatesRefused::Zero { port: PortId(0) }.to_string());
        assert_eq!(gated.get(), &none());
        assert!(!file.exists());
    }
}
