//! Packets of many UDP flows in turn, from several hosts, at a given rate or as fast as one core can.
//!
//! Frames are built once and sent through packet sockets. If the kernel forwards them, it does so within the sending
//! system call, which slows the sender down to its rate; a switch in a separate process drops frames that come too
//! fast.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;
use weft_fabric::Overhead;
use weft_loadgen::enter;
use weft_units::{plural, reason};

use crate::frame::{End, HEADERS, udp};

/// Frames per system call.
const BATCH: usize = 32;
/// Waits shorter than this are spent spinning: sleeps overshoot.
const AWAKE: Duration = Duration::from_micros(200);

/// The load to send.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    senders: Vec<Sender>,
    flows: Vec<Flow>,
    /// The destination MAC address.
    to_mac: String,
    /// The size of an IP packet, in bytes.
    size: u16,
    /// Packets per second of all senders together; 0 for as fast as possible.
    packets_per_s: f64,
    /// The duration.
    seconds: f64,
}

/// A sending host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sender {
    netns: PathBuf,
    interface: String,
    mac: String,
}

/// A UDP flow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    sender: usize,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    sport: u16,
    dport: u16,
}

/// Why nothing was sent.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("`{0}` is not a MAC address: expected the form 02:00:00:00:00:01")]
    Mac(String),
    #[error("`size` is {0}; expected {HEADERS} to {mtu} bytes", mtu = Overhead::MTU)]
    Size(u16),
    #[error(
        "flows[{flow}]: `sender` is {sender}, and `senders` has {}, counted from 0",
        plural(*senders as u64, "entry")
    )]
    Sender { flow: usize, sender: usize, senders: usize },
    #[error("`senders` is empty; expected at least one")]
    Nobody,
    #[error("senders[{sender}] has no flow; every sender needs at least one")]
    Idle { sender: usize },
    #[error(
        "`packets_per_s` is {0} and `seconds` is {1}; expected numbers of at least 0, and at most 3600 seconds"
    )]
    Time(f64, f64),
    #[error("{interface} in {netns}: {}", reason(error))]
    Interface { interface: String, netns: PathBuf, error: io::Error },
    #[error("cannot send: {}", reason(.0))]
    Send(#[from] io::Error),
}

/// The packets sent.
pub struct Sent {
    by_sender: Vec<u64>,
    refused: u64,
    took: Duration,
    processor: Duration,
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::json!({
            "sent": self.by_sender,
            "refused": self.refused,
            "seconds": self.took.as_secs_f64(),
            "processor_s": self.processor.as_secs_f64(),
        });
        write!(f, "{json}")
    }
}

/// A host that sends.
struct Source {
    socket: Socket,
    /// One per flow.
    frames: Vec<Vec<u8>>,
    next: usize,
    sent: u64,
}

/// Sends batches from the hosts in turn.
///
/// # Errors
/// See [`LoadError`].
pub fn send(load: &Load) -> Result<Sent, LoadError> {
    let mut sources = open(load)?;
    let length = Duration::from_secs_f64(load.seconds);
    let apart = if load.packets_per_s > 0.0 { BATCH as f64 / load.packets_per_s } else { 0.0 };
    let (used, started) = (processor(), Instant::now());
    let mut refused = 0;
    let mut batches = 0_u32;
    'all: loop {
        for source in &mut sources {
            wait_until(started + Duration::from_secs_f64(apart * f64::from(batches)).min(length));
            if started.elapsed() >= length {
                break 'all;
            }
            refused += source.send()?;
            batches += 1;
        }
    }
    Ok(Sent {
        by_sender: sources.iter().map(|source| source.sent).collect(),
        refused,
        took: started.elapsed(),
        processor: processor() - used,
    })
}

impl Source {
    /// Sends the next batch; returns the number of frames that the interface refused.
    fn send(&mut self) -> io::Result<u64> {
        let (frames, next) = (&mut self.frames, self.next);
        let count = frames.len();
        let mut parts: [libc::iovec; BATCH] = std::array::from_fn(|at| {
            let frame = &mut frames[(next + at) % count];
            libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() }
        });
        let mut messages = parts.each_mut().map(|part| {
            // SAFETY: all zeros is a valid value: no address, no control data.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message
        });
        // SAFETY: the messages, their parts and the frames live until the call returns.
        let sent = unsafe { libc::sendmmsg(self.socket.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, 0) };
        let sent = match u64::try_from(sent) {
            Ok(sent) => sent,
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) => 0,
            Err(_) => return Err(io::Error::last_os_error()),
        };
        self.next = (next + BATCH) % count;
        self.sent += sent;
        Ok(BATCH as u64 - sent)
    }
}

fn open(load: &Load) -> Result<Vec<Source>, LoadError> {
    if load.senders.is_empty() {
        return Err(LoadError::Nobody);
    }
    if !(HEADERS as u16..=Overhead::MTU).contains(&load.size) {
        return Err(LoadError::Size(load.size));
    }
    let in_order = |value: f64| value.is_finite() && value >= 0.0;
    if !in_order(load.packets_per_s) || !in_order(load.seconds) || load.seconds > 3600.0 {
        return Err(LoadError::Time(load.packets_per_s, load.seconds));
    }
    let to = mac(&load.to_mac)?;
    let mut sources = Vec::with_capacity(load.senders.len());
    let mut macs = Vec::with_capacity(load.senders.len());
    for sender in &load.senders {
        macs.push(mac(&sender.mac)?);
        let socket = packet_socket(sender).map_err(|error| LoadError::Interface {
            interface: sender.interface.clone(),
            netns: sender.netns.clone(),
            error,
        })?;
        sources.push(Source { socket, frames: Vec::new(), next: 0, sent: 0 });
    }
    let senders = sources.len();
    for (number, flow) in load.flows.iter().enumerate() {
        let Some(source) = sources.get_mut(flow.sender) else {
            return Err(LoadError::Sender { flow: number, sender: flow.sender, senders });
        };
        let from = End { mac: macs[flow.sender], address: flow.source, port: flow.sport };
        let to = End { mac: to, address: flow.destination, port: flow.dport };
        source.frames.push(udp(from, to, load.size));
    }
    match sources.iter().position(|source| source.frames.is_empty()) {
        Some(sender) => Err(LoadError::Idle { sender }),
        None => Ok(sources),
    }
}

/// A packet socket on an interface in a namespace that bypasses the queueing discipline.
fn packet_socket(sender: &Sender) -> io::Result<Socket> {
    enter(&sender.netns)?;
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0)))?;
    let name = std::ffi::CString::new(sender.interface.as_str())?;
    // SAFETY: the name ends with a zero and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeros is a valid value of this structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_ifindex = index as i32;
    let length = size_of_val(&address) as u32;
    // SAFETY: the address and its length agree, and it outlives the call.
    if unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let one: libc::c_int = 1;
    let option = (&raw const one).cast();
    // SAFETY: the option is an int, and `one` outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            option,
            size_of_val(&one) as u32,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
}

fn mac(text: &str) -> Result<[u8; 6], LoadError> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|byte| (byte.len() == 2).then(|| u8::from_str_radix(byte, 16).ok()).flatten())
        .collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| LoadError::Mac(text.to_owned()))
}

fn wait_until(at: Instant) {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > AWAKE { std::thread::sleep(left - AWAKE) } else { std::hint::spin_loop() }
    }
}

/// CPU time of this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error for an otherwise valid load on loopback with one key changed.
    fn refusal(key: &str, value: serde_json::Value) -> String {
        let mut json = serde_json::json!({
            "senders": [{"netns": "/proc/self/ns/nothing", "interface": "lo", "mac": "02:00:00:00:00:01"}],
            "flows": [{"sender": 0, "source": "10.0.0.1", "destination": "10.0.0.2", "sport": 1, "dport": 2}],
            "to_mac": "02:00:00:00:00:99", "size": 64, "packets_per_s": 0.0, "seconds": 1.0,
        });
        json[key] = value;
        match serde_json::from_value(json) {
            Ok(load) => open(&load).map(|_| String::new()).unwrap_or_else(|error| error.to_string()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        for (key, value, expected) in [
            ("to_mac", serde_json::json!("02:00:00:00:00"), "`02:00:00:00:00` is not a MAC address"),
            ("to_mac", serde_json::json!("+2:00:00:00:00:99x"), "is not a MAC address"),
            ("size", serde_json::json!(27), "`size` is 27; expected 28 to 1500"),
            ("size", serde_json::json!(1501), "`size` is 1501"),
            ("seconds", serde_json::json!(-1.0), "`packets_per_s` is 0 and `seconds` is -1"),
            ("packets_per_s", serde_json::json!(-2.0), "`packets_per_s` is -2 "),
            ("senders", serde_json::json!([]), "`senders` is empty"),
            ("speed", serde_json::json!(1), "unknown field `speed`"),
            ("size", serde_json::json!(64), "lo in /proc/self/ns/nothing: No such file"),
        ] {
            let said = refusal(key, value);
            assert!(said.contains(expected), "{key}: {said}");
        }
    }
}
