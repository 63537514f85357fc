//! Notifications to provisioning clients: states of ports, and packets without a rule.

use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::ports::{Port, Role};

/// Lines by which a slow reader may lag before it loses some.
const BEHIND: usize = 8192;

/// The channel to readers.
#[derive(Debug)]
pub struct Notices {
    sender: broadcast::Sender<Value>,
    /// The last notification about each port.
    ports: Vec<Value>,
}

impl Notices {
    /// Starts with the current states of these ports.
    pub fn new(ports: &[Port]) -> Self {
        let ports = ports.iter().enumerate().map(|(number, port)| of_port(number, port)).collect();
        Self { sender: broadcast::channel(BEHIND).0, ports }
    }

    /// The sender for notifications that are not about ports.
    pub fn sender(&self) -> broadcast::Sender<Value> {
        self.sender.clone()
    }

    /// The current states of all ports, and a receiver of changes.
    pub fn subscribe(&self) -> (Vec<Value>, broadcast::Receiver<Value>) {
        (self.ports.clone(), self.sender.subscribe())
    }

    /// Sends the state of a port if it has changed.
    pub fn tell(&mut self, number: u16, port: &Port) {
        let Some(sent) = self.ports.get_mut(usize::from(number)) else { return };
        let now = of_port(number.into(), port);
        if *sent != now {
            sent.clone_from(&now);
            // It does not matter if there is no receiver.
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
