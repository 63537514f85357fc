//! Ports that receive many frames, which may be circling, send more probes (`loops.rs`).

use std::time::Duration;

use weft_switching::loop_guard::LOOK;
use weft_units::PortId;

use super::ports::Role;
use super::shared::Shared;
use super::switch::Switch;
use crate::clock;

/// Looks for frames that may be circling, until the task is aborted.
pub async fn watch(shared: Shared) {
    loop {
        tokio::time::sleep(Duration::from_nanos(LOOK)).await;
        shared.lock().look_for_storms(clock::now());
    }
}

impl Switch {
    /// Sends probes on host ports that receive many frames.
    fn look_for_storms(&mut self, now: u64) {
        if !self.config.mode.explores() {
            return;
        }
        for number in 0..self.ports.len() as u16 {
            let port = &mut self.ports[usize::from(number)];
            if port.role == Role::Host
                && let Ok(frames) = self.plane.received(PortId(number))
                && port.guard.look(frames)
            {
                self.probe_on(number, now);
            }
        }
    }
}
