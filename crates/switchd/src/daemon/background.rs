//! Long-running work, on separate threads: sweeping tables, and notifying the edges of flows whose port is down.

use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::shared::Shared;
use super::socket::PortSocket;
use crate::clock;
use crate::layout::{Flow, Port};
use crate::recovery::Recovery;
use crate::sys::random;
use crate::tables::Tables;

/// Minimum time between two sweeps, and the factor by which the pause exceeds a sweep's duration.
const REST: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;

/// Minimum time between two walks over the flows of one port.
const PAUSE: Duration = Duration::from_millis(10);

/// Attempts to enqueue a frame while the queue is full, a millisecond apart.
const TRIES: u32 = 50;

/// The state of the switch that a thread needs.
struct Snapshot {
    tables: Tables,
    ports: Vec<Port>,
    sockets: Vec<Option<Arc<PortSocket>>>,
    fixed_order: bool,
}

impl Snapshot {
    fn take(shared: &Shared) -> Self {
        let switch = shared.lock();
        Self {
            tables: switch.plane.tables().clone(),
            ports: switch
                .ports
                .iter()
                .map(|port| port.entry(switch.config.tier, switch.config.mode))
                .collect(),
            sockets: switch.ports.iter().map(|port| port.socket.clone()).collect(),
            fixed_order: switch.plane.settings().fixed_order != 0,
        }
    }

    /// Sends each frame out of all its ports.
    fn send(&self, frames: Vec<(Vec<u16>, Vec<u8>)>) {
        for (mut ports, frame) in frames {
            if !self.fixed_order {
                shuffle(&mut ports);
            }
            let entry = |port: u16| self.ports.get(usize::from(port));
            ports.sort_by_key(|port| entry(*port).is_some_and(|port| port.last_resort != 0));
            for port in ports {
                let Some(Some(socket)) = self.sockets.get(usize::from(port)) else { continue };
                for _ in 0..TRIES {
                    match socket.send(&frame) {
                        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN)) => {
                            sleep(Duration::from_millis(1));
                        }
                        _ => break,
                    }
                }
            }
        }
    }
}

fn shuffle(ports: &mut [u16]) {
    for last in (1..ports.len()).rev() {
        ports.swap(last, random() as usize % (last + 1));
    }
}

fn draw(_: &Flow) -> u32 {
    random() as u32
}

/// The port is dead: forgets the stations behind it and notifies the edges of its flows.
pub fn broken(shared: &Shared, number: u16) {
    if !shared.0.walks.begin(number) {
        return;
    }
    let shared = shared.clone();
    tokio::task::spawn_blocking(move || {
        loop {
            let began = Instant::now();
            look_through(&shared, number, "flows of a dead port", |tables, ports| {
                tables.break_port(number, ports, clock::now(), draw)
            });
            if !shared.0.walks.again(number) {
                return;
            }
            // A flapping neighbour takes at most half of a CPU's time.
            sleep(began.elapsed().max(PAUSE));
        }
    });
}

/// The port is draining: moves its flows to other paths while it still forwards.
pub fn drained(shared: &Shared, number: u16) {
    let shared = shared.clone();
    tokio::task::spawn_blocking(move || {
        look_through(&shared, number, "flows of a draining port", |tables, ports| {
            tables.move_off(number, ports, clock::now(), draw)
        });
    });
}

/// The link of the port loses frames: moves flows to other paths while it still forwards.
pub fn left(shared: &Shared, number: u16) {
    let shared = shared.clone();
    tokio::task::spawn_blocking(move || {
        look_through(&shared, number, "flows of a port whose link loses frames", |tables, ports| {
            tables.leave_port(number, ports, clock::now(), random(), draw)
        });
    });
}

/// Carries out the recovery that `decide` finds necessary for the flows of a port.
fn look_through(
    shared: &Shared,
    number: u16,
    what: &'static str,
    decide: impl FnOnce(&Tables, &[Port]) -> io::Result<Recovery>,
) {
    let snapshot = Snapshot::take(shared);
    let began = Instant::now();
    let done = decide(&snapshot.tables, &snapshot.ports);
    let admitted = || shared.lock().log_limit.admit(number, what, clock::now());
    match done {
        Ok(done) => {
            let (frames, recovering) = (done.frames.len(), done.locked.len());
            snapshot.send(done.frames);
            if frames > 0
                && let Some(left_out) = admitted()
            {
                let ms = began.elapsed().as_millis() as u64;
                tracing::info!(port = number, frames, recovering, ms, left_out, "{what}");
            }
        }
        Err(error) => {
            if let Some(left_out) = admitted() {
                tracing::error!(port = number, %error, left_out, "{what}");
            }
        }
    }
}

/// Removes expired entries periodically, using at most a twentieth of the time.
pub async fn sweep(shared: Shared) {
    loop {
        let tables = shared.lock().plane.tables().clone();
        let began = Instant::now();
        let swept = tokio::task::spawn_blocking(move || tables.sweep(clock::now())).await;
        {
            let mut switch = shared.lock();
            switch.tell_of_gso();
            switch.tell_of_long_frames(clock::now());
        }
        match swept {
            Ok(Ok(sizes)) => shared.lock().sizes = sizes,
            Ok(Err(error)) => {
                let admitted = shared.lock().log_limit.admit(0, "sweep", clock::now());
                if let Some(left_out) = admitted {
                    tracing::error!(%error, left_out, "sweeping the tables failed");
                }
            }
            Err(_) => return,
        }
        tokio::time::sleep(REST.max(began.elapsed() * SHARE)).await;
    }
}
