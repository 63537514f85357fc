//! Sends frames for which there was no rule once there is one.

use std::time::Instant;

use weft_units::PortId;

use super::state::lock;
use super::steer::Steering;
use super::waiting::Frame;
use crate::daemon::ports::Role;
use crate::daemon::shared::Shared;
use crate::daemon::switch::Switch;

/// The interface of each port that frames may leave by, including listening ports: gates decide where these lead.
fn open_ports(switch: &Switch) -> Vec<Option<u32>> {
    let carries = |role| matches!(role, Role::Host | Role::Fabric | Role::Unheard | Role::Listening);
    let open = switch.ports.iter().map(|port| {
        let interface = port.interface.as_ref().filter(|_| carries(port.role) && !port.draining)?;
        Some(interface.index)
    });
    open.collect()
}

/// Handles frames without a rule; `None` stands for one that cannot wait.
pub(super) fn came(shared: &Shared, frames: Vec<Option<Frame>>) {
    let Some(tags) = &shared.0.tags else { return };
    {
        let (waiting, _) = &mut *lock(&tags.waiting);
        let now = Instant::now();
        for frame in frames {
            match frame {
                Some(frame) => waiting.keep(frame, now),
                None => waiting.refused(),
            }
        }
    }
    // A rule may have been added since the lookup.
    send_on(shared);
}

/// Sends waiting frames that now have a rule.
pub(super) fn send_on(shared: &Shared) {
    let Some(tags) = &shared.0.tags else { return };
    let flows = tags.flows();
    let (waiting, injector) = &mut *lock(&tags.waiting);
    if waiting.is_empty() {
        return;
    }
    let gated = tags.gates();
    let open = open_ports(&shared.lock());
    let carries = |port: PortId| open.get(port.index()).is_some_and(Option::is_some);
    let steering = Steering {
        table: flows.table(),
        gates: gated.get(),
        carries: &carries,
        tags: tags.pushes.then_some((tags.width, tags.ethertype)),
    };
    for frame in waiting.take(Instant::now(), |frame| steering.has_rule(frame)) {
        let sent = steering.steer(frame).is_some_and(|leaving| {
            let ifindex = open.get(leaving.port.index()).copied().flatten().unwrap_or_default();
            let class = u32::from(tags.queue_major) << 16 | u32::from(leaving.queue + 1);
            let priority = if tags.queue_major > 0 { class } else { 0 };
            injector.send(ifindex, priority, &leaving.bytes).is_ok()
        });
        if sent { waiting.sent() } else { waiting.refused() }
    }
}
