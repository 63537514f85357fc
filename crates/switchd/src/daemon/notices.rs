//! What whoever provisions switches is told at once: how ports are, and for which packets there is no rule.

use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::ports::{Port, Role};

/// Lines that a slow reader may be behind before it loses some.
const BEHIND: usize = 8192;

/// The way to readers.
#[derive(Debug)]
pub struct Notices {
    sender: broadcast::Sender<Value>,
    /// What was told last of each port.
    ports: Vec<Value>,
}

impl Notices {
    /// Tells of these ports from now on.
    pub fn new(ports: &[Port]) -> Self {
        let ports = ports.iter().enumerate().map(|(number, port)| of_port(number, port)).collect();
        Self { sender: broadcast::channel(BEHIND).0, ports }
    }

    /// The way for notices that are not about ports.
    pub fn sender(&self) -> broadcast::Sender<Value> {
        self.sender.clone()
    }

    /// How all ports are, and every change from now on.
    pub fn subscribe(&self) -> (Vec<Value>, broadcast::Receiver<Value>) {
        (self.ports.clone(), self.sender.subscribe())
    }

    /// Tells how a port is, if it was another way before.
    pub fn tell(&mut self, number: u16, port: &Port) {
        let Some(told) = self.ports.get_mut(usize::from(number)) else { return };
        let now = of_port(number.into(), port);
        if *told != now {
            told.clone_from(&now);
            // That nobody listens is no matter.
            let _ = self.sender.send(now);
        }
    }
}

fn of_port(number: usize, port: &Port) -> Value {
    let neighbour = port.neighbour.as_ref();
    let neighbour =
        neighbour.map(|known| json!({"switch": format!("{:016x}", known.switch), "port": known.port}));
    json!({
        "what": "port",
        "port": number,
        "interface": port.name,
        "role": port.role,
        "up": port.role != Role::Down,
        "neighbour": neighbour,
    })
}
