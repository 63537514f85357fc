//! Packets of many UDP flows in turn, from several hosts, at a rate or as fast as one core makes them.
//!
//! Frames are made once and handed to the interface by packet sockets. Where the kernel forwards, it does so in the
//! system call that sends, so who is slower waits by itself; who forwards in a process of its own loses what comes
//! too fast.

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
use weft_loadgen::enter;

use crate::frame::{End, HEADERS, udp};

/// Frames of one system call.
const BATCH: usize = 32;
/// What is left to wait is spent awake below this: a sleep takes longer than it is told.
const AWAKE: Duration = Duration::from_micros(200);

/// What is to be sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    senders: Vec<Sender>,
    flows: Vec<Flow>,
    /// Where frames go to, in Ethernet's terms.
    to_mac: String,
    /// Bytes of an IP packet.
    size: u16,
    /// How many packets a second, of all senders together; 0: as fast as it goes.
    packets_per_s: f64,
    /// How long.
    seconds: f64,
}

/// A host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sender {
    netns: PathBuf,
    interface: String,
    mac: String,
}

/// A flow of a host's.
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
    #[error("`{0}` is no MAC address: expected 02:00:00:00:00:01")]
    Mac(String),
    #[error("packets of {0} bytes: {HEADERS} to 1500 are possible")]
    Size(u16),
    #[error("flow {flow} has the sender {sender}, there are {senders}")]
    Sender { flow: usize, sender: usize, senders: usize },
    #[error("nobody is to send: `senders` is empty")]
    Nobody,
    #[error("sender {sender} has no flow")]
    Idle { sender: usize },
    #[error("a rate of {0} packets a second and {1} s: neither may be negative, and both have to be numbers")]
    Time(f64, f64),
    #[error("{interface} in {netns}: {error}")]
    Interface { interface: String, netns: PathBuf, error: io::Error },
    #[error("cannot send: {0}")]
    Send(#[from] io::Error),
}

/// What was sent.
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
    /// Of each of its flows.
    frames: Vec<Vec<u8>>,
    next: usize,
    sent: u64,
}

/// Sends, each host a batch in its turn.
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
    /// Sends a batch of those whose turn it is; how many the interface refused.
    fn send(&mut self) -> io::Result<u64> {
        let (frames, next) = (&mut self.frames, self.next);
        let count = frames.len();
        let mut parts: [libc::iovec; BATCH] = std::array::from_fn(|at| {
            let frame = &mut frames[(next + at) % count];
            libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() }
        });
        let mut messages = parts.each_mut().map(|part| {
            // SAFETY: all zeros is a value of this structure: no address, no control data.
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
    if !(HEADERS as u16..=1500).contains(&load.size) {
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

/// A packet socket on an interface of a namespace, past its queueing discipline.
fn packet_socket(sender: &Sender) -> io::Result<Socket> {
    enter(&sender.netns)?;
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0)))?;
    let name = std::ffi::CString::new(sender.interface.as_str())?;
    // SAFETY: the name ends with a zero and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeros is a value of this structure of integers.
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

/// Processor time of this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to a load that this process could send on its own loopback interface, with one part changed.
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
            ("to_mac", serde_json::json!("02:00:00:00:00"), "`02:00:00:00:00` is no MAC address"),
            ("to_mac", serde_json::json!("+2:00:00:00:00:99x"), "is no MAC address"),
            ("size", serde_json::json!(27), "packets of 27 bytes: 28 to 1500"),
            ("size", serde_json::json!(1501), "packets of 1501 bytes"),
            ("seconds", serde_json::json!(-1.0), "a rate of 0 packets a second and -1 s"),
            ("packets_per_s", serde_json::json!(-2.0), "a rate of -2 packets"),
            ("senders", serde_json::json!([]), "nobody is to send"),
            ("speed", serde_json::json!(1), "unknown field `speed`"),
            ("size", serde_json::json!(64), "lo in /proc/self/ns/nothing: No such file"),
        ] {
            let said = refusal(key, value);
            assert!(said.contains(expected), "{key}: {said}");
        }
    }
}
