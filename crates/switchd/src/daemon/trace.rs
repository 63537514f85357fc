//! Exploration events for `weftctl trace`, from the kernel's ring buffer to any number of readers. The kernel writes
//! events only while there is a reader.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast;
use weft_wire::Mac;

use super::shared::Shared;
use crate::error::PlaneError;
use crate::layout::Event;
use crate::names::kind;

/// Lines by which a slow reader may lag before it loses some.
const BEHIND: usize = 4096;
/// Polling interval of the ring buffer, which has room for some thousand events.
const LOOK: Duration = Duration::from_millis(20);

/// The channel to readers.
pub fn channel() -> broadcast::Sender<Value> {
    broadcast::channel(BEHIND).0
}

/// Reads the ring buffer as long as there are readers, then turns tracing off.
///
/// # Errors
/// The kernel's error.
pub async fn follow(shared: Shared) -> Result<(), PlaneError> {
    shared.lock().plane.set_tracing(true)?;
    while shared.0.trace.receiver_count() > 0 {
        let events = shared.lock().plane.events();
        for event in events {
            // Missing readers are noticed by the loop condition.
            let _ = shared.0.trace.send(show(&shared, &event));
        }
        tokio::time::sleep(LOOK).await;
    }
    shared.lock().plane.set_tracing(false)
}

fn show(shared: &Shared, event: &Event) -> Value {
    let interface = shared.lock().ports.get(usize::from(event.port)).map(|port| port.name.clone());
    json!({
        "time_ns": event.time,
        "what": event.what().map_or("unknown", |what| what.name()),
        "src": Mac::from_bits(event.src).to_string(),
        "sport": event.sport,
        "dst": Mac::from_bits(event.dst).to_string(),
        "dport": event.dport,
        "exploration": event.id,
        "port": event.port,
        "interface": interface,
        "frame": kind(event.kind),
    })
}
