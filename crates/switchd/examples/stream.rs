//! A TCP flow of numbered frames at a constant rate, and its receiver, which reports losses: the load of
//! `make bench-switch` while links fail and daemons die.
//!
//! Both ends use packet sockets instead of the kernel's TCP, which would retransmit lost segments and pause while
//! waiting. The flow opens normally, with SYN and SYN+ACK, so that switches explore its path; then segments follow at
//! a fixed interval, and the receiver acknowledges some of them.

#[path = "common/packet.rs"]
mod packet;
#[path = "common/segment.rs"]
mod segment;

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, eth, recv, sockopt};
use serde_json::{Value, json};
use weft_switchd::clock::now;
use weft_switching::Mac;

use segment::{End, segment};

const LENGTH: usize = 62;
/// Payload bytes of a segment.
const DATA: u16 = 8;
const FLAGS: usize = 47;
/// Offsets of a segment's number and sending time.
const NUMBER: usize = 38;
const SENT: usize = 54;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const FIN: u8 = 0x01;
/// One in this many segments is acknowledged.
const ACKNOWLEDGED: u32 = 64;
/// Arrivals further apart than this are a gap, in intervals.
const GAP: u64 = 4;
/// Timeout of the receiver without any frame, in milliseconds.
const PATIENCE: u64 = 60_000;
/// Time without a frame after which the receiver announces itself again, in milliseconds.
const STILL: u64 = 500;

#[derive(Parser)]
struct Arguments {
    role: Role,
    /// The interface.
    interface: String,
    /// Address of this end.
    #[arg(long)]
    here: Mac,
    /// Address of the other end.
    #[arg(long)]
    there: Mac,
    /// TCP port of the sender; the receiver's is 5001.
    #[arg(long, default_value_t = 20_000)]
    port: u16,
    /// Interval between two segments, in microseconds.
    #[arg(long, default_value_t = 200)]
    interval: u64,
    /// Sending time, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    Send,
    Receive,
}

fn frame(arguments: &Arguments, flags: u8) -> [u8; LENGTH] {
    let sender = |mac| End { mac, host: 1, port: arguments.port };
    let receiver = |mac| End { mac, host: 2, port: 5001 };
    let (from, to) = match arguments.role {
        Role::Send => (sender(arguments.here), receiver(arguments.there)),
        Role::Receive => (receiver(arguments.here), sender(arguments.there)),
    };
    segment(from, to, flags, DATA)
}

/// An ARP Request for an unused address, so that switches learn where this end is.
fn announcement(here: Mac) -> [u8; 42] {
    let mut frame = [0; 42];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&here.0);
    frame[12..22].copy_from_slice(&[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame[22..28].copy_from_slice(&here.0);
    frame[28..32].copy_from_slice(&[192, 0, 2, 3]);
    frame[38..42].copy_from_slice(&[192, 0, 2, 4]);
    frame
}

struct Socket(OwnedFd);

impl Socket {
    fn open(interface: &str) -> io::Result<Self> {
        let socket = packet::open(interface, Some(eth::IP))?;
        // A smaller buffer is acceptable.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, 64 << 20);
        Ok(Self(socket))
    }

    /// Sends a frame; it is lost if the interface has no room, as on a wire.
    fn send(&self, frame: &[u8]) -> io::Result<()> {
        match rustix::net::send(&self.0, frame, SendFlags::empty()) {
            Ok(_) | Err(Errno::NOBUFS | Errno::NETDOWN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next received frame of the flow, if one arrives within `patience` milliseconds.
    fn receive(&self, arguments: &Arguments, patience: u64) -> io::Result<Option<[u8; LENGTH]>> {
        let end = now() + patience * 1_000_000;
        loop {
            let left = Duration::from_nanos(end.saturating_sub(now()));
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            if poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&left))? == 0 {
                return Ok(None);
            }
            let mut frame = [0; LENGTH];
            let length = match recv(&self.0, &mut frame, RecvFlags::TRUNC) {
                Ok((_, length)) => length,
                Err(Errno::NETDOWN) => continue,
                Err(error) => return Err(error.into()),
            };
            if length >= LENGTH && frame[..6] == arguments.here.0 && frame[6..12] == arguments.there.0 {
                return Ok(Some(frame));
            }
        }
    }
}

fn send(arguments: &Arguments, socket: &Socket) -> Result<(), Box<dyn Error>> {
    let mut syn = frame(arguments, SYN);
    // The initial sequence number distinguishes the connection from an earlier one with the same ports.
    syn[NUMBER..NUMBER + 4].copy_from_slice(&((now() >> 10) as u32).to_be_bytes());
    let opened = (0..50).any(|_| {
        let answer = socket.send(&syn).and_then(|()| socket.receive(arguments, 100));
        answer.is_ok_and(|frame| frame.is_some_and(|frame| frame[FLAGS] == SYN | ACK))
    });
    if !opened {
        return Err("no answer to the SYN".into());
    }
    println!("open");
    let mut data = frame(arguments, ACK);
    let (interval, started) = (arguments.interval * 1000, now());
    let count = (arguments.seconds * 1e9) as u64 / interval;
    let mut longest = 0;
    let mut last = started;
    for number in 0..count {
        // Segments delayed by the scheduler are sent at once, to keep the rate.
        while let Some(left) = (started + number * interval).checked_sub(now()).filter(|left| *left > 0) {
            std::thread::sleep(Duration::from_nanos(left));
        }
        let at = now();
        longest = longest.max(at - last);
        last = at;
        data[NUMBER..NUMBER + 4].copy_from_slice(&(number as u32).to_be_bytes());
        data[SENT..SENT + 8].copy_from_slice(&at.to_be_bytes());
        socket.send(&data)?;
    }
    // The FIN has to arrive, whatever happens to the link.
    let mut fin = frame(arguments, FIN | ACK);
    fin[NUMBER..NUMBER + 4].copy_from_slice(&(count as u32).to_be_bytes());
    for _ in 0..20 {
        socket.send(&fin)?;
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{}", json!({"sent": count, "longest_pause_ns": longest}));
    Ok(())
}

fn receive(arguments: &Arguments, socket: &Socket) -> Result<(), Box<dyn Error>> {
    let announcement = announcement(arguments.here);
    let mut answer = frame(arguments, SYN | ACK);
    let acknowledgement = frame(arguments, ACK);
    // Sending and arrival times, by segment number.
    let mut arrived: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let (mut twice, mut patience) = (0_u64, PATIENCE);
    socket.send(&announcement)?;
    println!("ready");
    let end = loop {
        let Some(frame) = socket.receive(arguments, STILL)? else {
            patience = patience.saturating_sub(STILL);
            if patience == 0 {
                return Err("no more frames arrive".into());
            }
            // A real host also sends something from time to time.
            socket.send(&announcement)?;
            continue;
        };
        patience = PATIENCE;
        let at = now();
        let number = u32::from_be_bytes(frame[NUMBER..NUMBER + 4].try_into()?);
        match frame[FLAGS] {
            SYN => {
                answer[NUMBER..NUMBER + 4].copy_from_slice(&frame[NUMBER..NUMBER + 4]);
                socket.send(&answer)?;
            }
            ACK => {
                let sent = u64::from_be_bytes(frame[SENT..SENT + 8].try_into()?);
                twice += u64::from(arrived.insert(number, (sent, at)).is_some());
                if number % ACKNOWLEDGED == 0 {
                    socket.send(&acknowledgement)?;
                }
            }
            _ => break number,
        }
    };
    let gaps = gaps(&arrived, end, arguments.interval * 1000);
    let lost = u64::from(end) - arrived.len() as u64;
    println!("{}", json!({"expected": end, "lost": lost, "twice": twice, "gaps": gaps}));
    Ok(())
}

/// Runs of lost segments: their number, and the times between the last segment received before and the first one after,
/// both when sent and when received.
fn gaps(arrived: &BTreeMap<u32, (u64, u64)>, end: u32, interval: u64) -> Vec<Value> {
    let numbers: Vec<(u32, u64, u64)> =
        arrived.iter().map(|(number, (sent, at))| (*number, *sent, *at)).collect();
    let between = numbers.windows(2).filter_map(|pair| {
        let [(a, a_sent, a_at), (b, b_sent, b_at)] = *pair else { return None };
        let (lost, still) = (b - a - 1, b_at.saturating_sub(a_at));
        let gap = || json!({"lost": lost, "sent_ns": b_sent - a_sent, "still_ns": still, "at_ns": a_at});
        (lost > 0 || still > GAP * interval).then(gap)
    });
    let tail = numbers.last().map_or(end, |(number, ..)| end - number - 1);
    let last = json!({"lost": tail, "sent_ns": null, "still_ns": null, "at_ns": null});
    between.chain((tail > 0).then_some(last)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let socket =
        Socket::open(&arguments.interface).map_err(|error| format!("{}: {error}", arguments.interface))?;
    match arguments.role {
        Role::Send => send(&arguments, &socket),
        Role::Receive => receive(&arguments, &socket),
    }
}
