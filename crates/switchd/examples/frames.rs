//! Sends 60-byte TCP segments as fast as one core can, cycling through many tuples, to several switches in turn: the
//! small frame load of `make bench-switch`. They belong to no connection.
//!
//! Turns are measured both in wall-clock time and in CPU time of this process: the kernel forwards within the sending
//! system call, so CPU time excludes other processes' use of the core.

#[path = "common/namespace.rs"]
mod namespace;
#[path = "common/packet.rs"]
mod packet;
#[path = "common/segment.rs"]
mod segment;
#[path = "common/turns.rs"]
mod turns;

use std::error::Error;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use weft_switching::Mac;

use namespace::enter;
use segment::{End, segment};
use turns::take_turns;

/// Frames per system call.
const BATCH: usize = 64;
/// Ethernet, IPv4, TCP, and padding to the minimum frame size (without FCS).
const LENGTH: usize = 60;
/// Offset of the TCP source port.
const SPORT: usize = 34;
const ACK: u8 = 0x10;

#[derive(Parser)]
struct Arguments {
    /// Network namespaces (`/run/netns/h1`), each of which sends from its `eth0`.
    #[arg(required = true)]
    namespaces: Vec<PathBuf>,
    /// Source address.
    #[arg(long)]
    source: Mac,
    /// Destination address.
    #[arg(long)]
    destination: Mac,
    /// Number of TCP source ports to cycle through.
    #[arg(long, default_value_t = 1)]
    flows: u16,
    /// The first source port.
    #[arg(long, default_value_t = 10_000)]
    first_port: u16,
    /// TCP port of the destination.
    #[arg(long, default_value_t = 5001)]
    port: u16,
    /// Total duration for each namespace, in seconds; 0 sends one frame.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Length of a turn, in milliseconds: long enough for every tuple to occur several times.
    #[arg(long, default_value_t = 100)]
    turn: u64,
}

fn frame(arguments: &Arguments) -> [u8; LENGTH] {
    let source = End { mac: arguments.source, host: 1, port: 0 };
    segment(source, End { mac: arguments.destination, host: 2, port: arguments.port }, ACK, 0)
}

/// A packet socket that sends on `eth0` of a namespace, bypassing its qdisc.
fn open(namespace: &Path) -> io::Result<OwnedFd> {
    enter(namespace)?;
    let socket = packet::open("eth0", None)?;
    let one: libc::c_int = 1;
    // SAFETY: the option is an int, and `one` outlives the call.
    let bypass = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            (&raw const one).cast(),
            size_of_val(&one) as u32,
        )
    };
    if bypass < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
}

/// The frames of one system call.
struct Batch {
    frames: [[u8; LENGTH]; BATCH],
    first_port: u16,
    flows: u16,
    next: u16,
}

impl Batch {
    /// Sends `count` frames of the next flows; returns how many the interface accepted.
    fn send(&mut self, socket: &OwnedFd, count: usize) -> io::Result<u64> {
        for frame in &mut self.frames[..count] {
            frame[SPORT..SPORT + 2].copy_from_slice(&(self.first_port + self.next).to_be_bytes());
            self.next = (self.next + 1) % self.flows;
        }
        let mut parts = self
            .frames
            .each_mut()
            .map(|frame| libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: LENGTH });
        let mut messages = parts.each_mut().map(|part| {
            // SAFETY: all zeros is a value of this structure: no address, no control data.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message
        });
        // SAFETY: the messages, their parts and the frames live until the call returns.
        let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count as u32, 0) };
        match u64::try_from(sent) {
            Ok(sent) => Ok(sent),
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) => Ok(0),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}

/// The sender of a namespace.
struct Sender {
    socket: OwnedFd,
    sent: u64,
    processor: Duration,
}

/// CPU time of this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let flows = arguments.flows.max(1);
    let mut batch =
        Batch { frames: [frame(&arguments); BATCH], first_port: arguments.first_port, flows, next: 0 };
    let mut senders = Vec::new();
    for namespace in &arguments.namespaces {
        let socket = open(namespace).map_err(|error| format!("{}: {error}", namespace.display()))?;
        senders.push(Sender { socket, sent: 0, processor: Duration::ZERO });
    }
    let (turn, length) = (Duration::from_millis(arguments.turn), Duration::from_secs_f64(arguments.seconds));
    if length.is_zero() {
        batch.send(&senders[0].socket, 1)?;
        return Ok(());
    }
    let took = take_turns(senders.len(), length, |at| -> io::Result<()> {
        let sender = &mut senders[at];
        let (started, used) = (Instant::now(), processor());
        while started.elapsed() < turn {
            sender.sent += batch.send(&sender.socket, BATCH)?;
        }
        sender.processor += processor() - used;
        Ok(())
    })?;
    let row = |(sender, took): (&Sender, Duration)| {
        let (took, processor) = (took.as_secs_f64(), sender.processor.as_secs_f64());
        json!({"sent": sender.sent, "seconds": took, "processor_seconds": processor})
    };
    println!("{}", senders.iter().zip(took).map(row).collect::<Value>());
    Ok(())
}
