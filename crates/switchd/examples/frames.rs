//! Sends 60-byte TCP segments as fast as one core can, over many tuples in turn, to several switches in
//! turn: the load of `make bench-switch`. They belong to no connection and their checksums are zero: they
//! are for a switch to forward and for a receiver to count.
//!
//! Turns are short, so that whatever else the machine does slows each switch alike. What they took is told
//! by the clock, and in processor time of this process: where the kernel forwards, it does so in the system
//! call that sends, and what others take of the core does not count.

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Frames of one system call.
const BATCH: usize = 64;
/// Ethernet, IPv4, TCP, and padding up to the least that Ethernet carries (without its checksum).
const LENGTH: usize = 60;
const SPORT: usize = 34;

#[derive(Parser)]
struct Arguments {
    /// Network namespaces (`/run/netns/h1`) whose interface `eth0` they leave by.
    #[arg(required = true)]
    namespaces: Vec<PathBuf>,
    /// Source address.
    #[arg(long)]
    source: String,
    /// Destination address.
    #[arg(long)]
    destination: String,
    /// TCP ports of the source that take turns.
    #[arg(long, default_value_t = 1)]
    flows: u16,
    /// The first of them.
    #[arg(long, default_value_t = 10_000)]
    first_port: u16,
    /// TCP port of the destination.
    #[arg(long, default_value_t = 5001)]
    port: u16,
    /// How long from each namespace, in seconds; 0 sends one frame.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// How long a turn is, in milliseconds: long enough for every tuple to come several times.
    #[arg(long, default_value_t = 100)]
    turn: u64,
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    bytes
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("{text} is no address like 02:00:00:00:00:01"))
}

fn frame(arguments: &Arguments) -> Result<[u8; LENGTH], String> {
    let mut frame = [0; LENGTH];
    frame[..6].copy_from_slice(&mac(&arguments.destination)?);
    frame[6..12].copy_from_slice(&mac(&arguments.source)?);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    // IPv4 of 40 bytes, TTL 64, TCP, from 192.0.2.1 to 192.0.2.2 (RFC 5737).
    frame[14..34].copy_from_slice(&[0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    frame[36..38].copy_from_slice(&arguments.port.to_be_bytes());
    // A header of 20 bytes, ACK, a window.
    frame[46..50].copy_from_slice(&[0x50, 0x10, 0xff, 0xff]);
    Ok(frame)
}

/// A packet socket that sends on `eth0` of a namespace, past its queueing discipline.
fn open(namespace: &Path) -> io::Result<i32> {
    let entered = File::open(namespace)?;
    // SAFETY: a descriptor that is open until the call returns.
    if unsafe { libc::setns(entered.as_raw_fd(), libc::CLONE_NEWNET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a string that lives until the call returns.
    let index = unsafe { libc::if_nametoindex(c"eth0".as_ptr()) };
    // SAFETY: no pointers; protocol 0 receives nothing.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if index == 0 || socket < 0 {
        return Err(io::Error::last_os_error());
    }
    let one: libc::c_int = 1;
    // SAFETY: the option is an int, and `one` outlives the call.
    let bypass = unsafe {
        libc::setsockopt(
            socket,
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            (&raw const one).cast(),
            size_of_val(&one) as u32,
        )
    };
    // SAFETY: all zeros is a value of this structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_ifindex = index as i32;
    // SAFETY: the address and its length agree, and it outlives the call.
    let bound = unsafe { libc::bind(socket, (&raw const address).cast(), size_of_val(&address) as u32) };
    if bypass < 0 || bound < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
}

/// What is sent in a system call.
struct Batch {
    frames: [[u8; LENGTH]; BATCH],
    first_port: u16,
    flows: u16,
    next: u16,
}

impl Batch {
    /// Sends `count` frames of the flows whose turn it is; gives how many the interface took.
    fn send(&mut self, socket: i32, count: usize) -> io::Result<u64> {
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
        let sent = unsafe { libc::sendmmsg(socket, messages.as_mut_ptr(), count as u32, 0) };
        match u64::try_from(sent) {
            Ok(sent) => Ok(sent),
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) => Ok(0),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}

/// What a namespace has sent.
struct Sender {
    socket: i32,
    sent: u64,
    took: Duration,
    processor: Duration,
}

/// Processor time of this process.
fn processor() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value that lives until the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let flows = arguments.flows.max(1);
    let mut batch =
        Batch { frames: [frame(&arguments)?; BATCH], first_port: arguments.first_port, flows, next: 0 };
    let mut senders = Vec::new();
    for namespace in &arguments.namespaces {
        let socket = open(namespace).map_err(|error| format!("{}: {error}", namespace.display()))?;
        senders.push(Sender { socket, sent: 0, took: Duration::ZERO, processor: Duration::ZERO });
    }
    let (turn, length) = (Duration::from_millis(arguments.turn), Duration::from_secs_f64(arguments.seconds));
    if length.is_zero() {
        batch.send(senders[0].socket, 1)?;
        return Ok(());
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut order: Vec<usize> = (0..senders.len()).collect();
    while senders.iter().any(|sender| sender.took < length) {
        // In an order drawn anew: whose turn was before leaves something in the caches.
        for last in (1..order.len()).rev() {
            order.swap(last, random.next_u32() as usize % (last + 1));
        }
        for &at in &order {
            let sender = &mut senders[at];
            let (started, used) = (Instant::now(), processor());
            while started.elapsed() < turn {
                sender.sent += batch.send(sender.socket, BATCH)?;
            }
            sender.took += started.elapsed();
            sender.processor += processor() - used;
        }
    }
    let rows: Vec<String> = senders
        .iter()
        .map(|sender| {
            let (took, processor) = (sender.took.as_secs_f64(), sender.processor.as_secs_f64());
            format!("{{\"sent\": {}, \"seconds\": {took}, \"processor_seconds\": {processor}}}", sender.sent)
        })
        .collect();
    println!("[{}]", rows.join(", "));
    Ok(())
}
