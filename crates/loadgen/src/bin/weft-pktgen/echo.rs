//! Round trips of ICMP echo requests, each sent when the one before it has been answered.
//!
//! The reply is asked for without sleeping: how long a sleeping process takes to wake up is no part of a network.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use socket2::{Domain, Protocol, Socket, Type};
use weft_loadgen::enter;

use crate::frame::{HEADERS, echo_request, is_reply};

/// The largest reply.
const ROOM: usize = 65_535;

#[derive(Args)]
pub struct Arguments {
    /// Who is to answer.
    to: Ipv4Addr,
    /// The network namespace of the host that asks; none: that of this process
    #[arg(long, value_name = "FILE")]
    netns: Option<PathBuf>,
    /// Bytes of each IP packet, 28 to 65535; the kernel cuts what is larger than the interface carries
    #[arg(long, default_value_t = 84, value_parser = clap::value_parser!(u16).range(HEADERS as i64..))]
    size: u16,
    /// Round trips that are measured
    #[arg(long, default_value_t = 1)]
    count: u16,
    /// Round trips before them that are not
    #[arg(long, default_value_t = 0)]
    warm: u16,
    /// Milliseconds after which a request counts as lost
    #[arg(long, default_value_t = 1000)]
    patience: u64,
}

/// What was measured.
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

/// Asks, and waits for each answer.
///
/// # Errors
/// There is no such namespace, or no way to the destination.
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

/// One round trip; `None` if nobody answers in time.
fn one(
    socket: &Socket,
    arguments: &Arguments,
    id: u16,
    sequence: u16,
    patience: Duration,
) -> Result<Option<Duration>, Box<dyn Error>> {
    let request = echo_request(id, sequence, usize::from(arguments.size));
    let to = SocketAddrV4::new(arguments.to, 0).into();
    let mut room = [MaybeUninit::uninit(); ROOM];
    let asked = Instant::now();
    socket.send_to(&request, &to).map_err(|error| format!("{}: {error}", arguments.to))?;
    while asked.elapsed() < patience {
        match socket.recv(&mut room) {
            Ok(length) => {
                let at = asked.elapsed();
                let packet: Vec<u8> =
                    // SAFETY: the kernel has written that many bytes.
                    room[..length].iter().map(|byte| unsafe { byte.assume_init() }).collect();
                if is_reply(&packet, id, sequence) {
                    return Ok(Some(at));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
