//! Links that lose some frames in one direction: both ends notice by the numbers of Hello messages
//! (`crates/switching/src/hello_loss.rs`).

use weft_wire::{EtherType, Hello, HelloFrame};

use super::ports::{Port, Role};
use super::switch::{Switch, Task};

/// The kind of log message at the beginning and at the end of a loss, and what it says.
type Texts = [(&'static str, &'static str); 2];

const OF_NEIGHBOUR: Texts = [
    (
        "loss",
        "the link loses Hello messages of the neighbour: check the cable, both transceivers, and frames that this port drops on \
     arrival (ip -s link: dropped, missed)",
    ),
    ("no loss", "the link loses hardly any Hello messages of the neighbour now"),
];
const OF_THIS: Texts = [
    (
        "missed",
        "the link loses Hello messages to the neighbour: check the cable, both transceivers, and frames that the neighbour's port \
     drops on arrival (ip -s link there: dropped, missed)",
    ),
    ("not missed", "the link loses hardly any Hello messages to the neighbour now"),
];

impl Switch {
    /// The ports whose flows should move to other paths now: their links lose frames, and another port to a switch is better.
    pub(super) fn leave(&mut self, now: u64) -> Vec<Task> {
        let is_better = |port: &Port| port.role == Role::Fabric && !port.is_last_resort() && !port.draining;
        if !self.config.mode.keeps_flows() || !self.ports.iter().any(is_better) {
            return Vec::new();
        }
        let due = |port: &mut Port| port.loses() && port.leaving.is_due(now);
        (0..)
            .zip(&mut self.ports)
            .filter_map(|(number, port)| due(port).then_some(Task::Left(number)))
            .collect()
    }

    /// Whether a Hello that was refused as a replay is one that others have overtaken on the way, which is not lost. Whoever
    /// repeats such a Hello can at most hide a loss.
    pub(super) fn is_late(&mut self, number: u16, frame: &[u8]) -> bool {
        let hello = HelloFrame::parse(frame, EtherType::HELLO).map(|frame| frame.hello());
        let loss = &mut self.ports[usize::from(number)].loss;
        hello.is_ok_and(|hello| hello.number.is_some_and(|number| loss.overtaken(number)))
    }

    /// Counts by an accepted Hello the lost ones before it, and logs when a link begins and ceases to lose many.
    pub(super) fn hear_number(&mut self, number: u16, hello: &Hello, now: u64) {
        let port = &mut self.ports[usize::from(number)];
        let before = (port.loss.is_lossy(), port.is_missed);
        let known = port.neighbour.as_ref().map(|known| (known.switch, known.port));
        if known.is_some_and(|known| known != (hello.switch.0, hello.port)) || hello.hold_ms == 0 {
            port.loss.forget();
        }
        // While this switch starts, or after its daemon was late, gaps may be its own.
        match port.role.has_neighbour() && now >= port.certain_from {
            true => port.loss.hear(hello.number),
            false => port.loss.resume(hello.number),
        }
        port.is_missed = hello.misses && hello.hold_ms > 0;
        let after = (port.loss.is_lossy(), port.is_missed);
        let loss = port.loss.share();
        if before != after {
            // Other ports are preferred, or not any more.
            self.tell(number);
        }
        for (was, is, [begins, ends]) in [(before.0, after.0, OF_NEIGHBOUR), (before.1, after.1, OF_THIS)] {
            if was == is {
                continue;
            }
            let (kind, text) = if is { begins } else { ends };
            let interface = &self.ports[usize::from(number)].name;
            match self.log_limit.admit(number, kind, now) {
                Some(left_out) if is => {
                    tracing::warn!(port = number, %interface, received_loss = loss, left_out, "{text}")
                }
                Some(left_out) => {
                    tracing::info!(port = number, %interface, received_loss = loss, left_out, "{text}")
                }
                None => {}
            }
        }
    }
}
