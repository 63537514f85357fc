//! Round-trip times of ICMP echo requests, each sent after the previous one was answered.
//!
//! Replies are polled for without sleeping, so that wake-up latency is not part of the result.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use socket2::{Domain, Protocol, Socket, Type};
use weft_loadgen::enter;

use crate::frame::{HEADERS, echo_request, is_reply};

/// The size of the receive buffer: the largest reply.
const ROOM: usize = 65_535;

#[derive(Args)]
pub struct Arguments {
    /// The destination
    to: Ipv4Addr,
    /// The network namespace to send from [default: the current one]
    #[arg(long, value_name = "FILE")]
    netns: Option<PathBuf>,
    /// Size of each IP packet in bytes, 28 to 65535; the kernel fragments packets above the MTU
    #[arg(long, default_value_t = 84, value_parser = clap::value_parser!(u16).range(HEADERS as i64..))]
    size: u16,
    /// Number of round trips to measure
    #[arg(long, default_value_t = 1)]
    count: u16,
    /// Number of round trips before that, not measured
    #[arg(long, default_value_t = 0)]
    warm: u16,
    /// Timeout after which a request counts as lost, in milliseconds
    #[arg(long, default_value_t = 1000)]
    patience: u64,
}

/// The result.
pub struct Found {
    round_trips: Vec<Duration>,
    lost: u32,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times: Vec<u128> = self.round_trips.iter().map(Duration::as_nanos).collect();
        write!(f, "{}", serde_json::json!({"rtt_ns": times, "lost": self.lost}))
    }
}

/// Sends the requests, one after the other.
///
/// # Errors
/// The namespace does not exist, or there is no route to the destination.
pub fn measure(arguments: &Arguments) -> Result<Found, Box<dyn Error>> {
    if let Some(path) = &arguments.netns {
        enter(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
    socket.set_nonblocking(true)?;
    let patience = Duration::from_millis(arguments.patience);
    let id = std::process::id() as u16;
    let mut found = Found { round_trips: Vec::new(), lost: 0 };
    for sequence in 0..arguments.warm.saturating_add(arguments.count) {
        let took = one(&socket, arguments, id, sequence, patience)?;
        if sequence < arguments.warm {
            continue;
        }
        match took {
            Some(took) => found.round_trips.push(took),
            None => found.lost += 1,
        }
    }
    Ok(found)
}

/// One round trip; `None` if it timed out.
fn one(
    mut socket: &Socket,
    arguments: &Arguments,
    id: u16,
    sequence: u16,
    patience: Duration,
) -> Result<Option<Duration>, Box<dyn Error>> {
    let request = echo_request(id, sequence, usize::from(arguments.size));
    let to = SocketAddrV4::new(arguments.to, 0).into();
    let mut room = [0; ROOM];
    let asked = Instant::now();
    socket.send_to(&request, &to).map_err(|error| format!("{}: {error}", arguments.to))?;
    while asked.elapsed() < patience {
        match socket.read(&mut room) {
            Ok(length) => {
                let at = asked.elapsed();
                if is_reply(&room[..length], id, sequence) {
                    return Ok(Some(at));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
