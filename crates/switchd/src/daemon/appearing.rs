//! Takes an interface that appears while the daemon runs, with the checks and settings of the start.

use std::sync::Arc;
use std::time::Duration;

use weft_wire::EtherType;

use super::interfaces::{Saved, unfit};
use super::links::{Interface, Links};
use super::owners::owned;
use super::refusal::Refusal;
use super::shared::Shared;
use super::socket::PortSocket;
use super::switch::Task;
use super::turn;
use crate::clock;

/// Hellos read from one port in a row, before its reader pauses and others get their turn.
const ROUND: u32 = 64;
/// The pause of a port that receives more Hellos than any switch sends.
const REST: Duration = Duration::from_millis(10);
/// The pause before another attempt while another daemon attaches its program.
const AGAIN: Duration = Duration::from_millis(20);

/// Takes the interface of a port, or logs once why it cannot be used.
pub async fn take(shared: &Shared, links: &Links, saved: &mut Saved, number: u16) {
    match attempt(shared, links, saved, number).await {
        Ok(None) => {}
        Ok(Some(why)) => shared.lock().reject(number, why),
        Err(error) => shared.lock().reject(number, format!("cannot be used: {error}")),
    }
}

/// Takes the interface of a port; returns why it is unfit, if it is.
async fn attempt(
    shared: &Shared,
    links: &Links,
    saved: &mut Saved,
    number: u16,
) -> Result<Option<String>, Refusal> {
    if !shared.lock().ports[usize::from(number)].is_untaken() {
        return Ok(None);
    }
    let all = links.all().await.map_err(Refusal::system("listing interfaces"))?;
    let (interface, name, mode, has_peer) = {
        let switch = shared.lock();
        let port = &switch.ports[usize::from(number)];
        let is_known = |other: &&Interface| {
            port.interface.as_ref().is_some_and(|known| known.index == other.index) && port.name == other.name
        };
        // An interface that is gone or has another name by now sends another event.
        let Some(interface) = all.iter().find(is_known) else { return Ok(None) };
        if let Some(why) = unfit(interface, &all, &switch.config, port.carries_tags) {
            return Ok(Some(why));
        }
        let has_peer = switch.config.may_have_peer(&port.name);
        (interface.clone(), switch.config.name.clone(), switch.config.mode, has_peer)
    };
    let places = &shared.0.start.places;
    // Waiting for another daemon here would delay Hello messages.
    let Ok(attaching) = turn::take(&places.run, Duration::ZERO).await else {
        let tasks = shared.0.tasks.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AGAIN).await;
            let _ = tasks.send(Task::Appeared(number));
        });
        return Ok(None);
    };
    if let Some(why) = owned(&places.pins, &name, &interface.name)? {
        return Ok(Some(why));
    }
    // Nothing was attached before, so there is nothing to undo.
    let _ = shared.lock().attach(number)?;
    drop(attaching);
    saved.prepare(links, &interface, mode, has_peer).await;
    let socket = PortSocket::open(interface.index, EtherType::HELLO);
    let socket = Arc::new(socket.map_err(Refusal::system("opening a packet socket"))?);
    tracing::info!(port = number, interface = interface.name, "the interface of a port has appeared");
    let tasks = shared.lock().appeared(number, socket, &all, clock::now());
    shared.hand(tasks);
    listen(shared, number);
    Ok(None)
}

/// Starts reading the Hellos of a port.
pub fn listen(shared: &Shared, number: u16) {
    let Some(socket) = shared.lock().ports[usize::from(number)].socket.clone() else { return };
    let reading = shared.clone();
    let task = tokio::spawn(async move {
        let mut buffer = [0; 2048];
        let mut in_a_row = 0;
        loop {
            match socket.receive(&mut buffer).await {
                Ok(length) => {
                    let tasks = reading.lock().hear(number, &buffer[..length], clock::now());
                    reading.happened(tasks);
                    in_a_row += 1;
                    if in_a_row == ROUND {
                        tokio::time::sleep(REST).await;
                        in_a_row = 0;
                    }
                }
                // The interface is down: netlink reports this as well, and when it is up again.
                Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => in_a_row = 0,
                Err(error) => {
                    tracing::error!(port = number, %error, "receiving Hellos failed");
                    return;
                }
            }
        }
    });
    shared.lock().ports[usize::from(number)].reader = Some(task.abort_handle());
}
