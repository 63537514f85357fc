//! A TCP flow of numbered frames at a steady pace, and its receiver, which tells what did not arrive: the
//! load of `make bench-switch` while links fail and daemons die.
//!
//! Both ends are made here, by packet sockets, and not by the kernel's TCP: that would send again what is
//! lost, and stop while it waits. The flow opens as any does, by SYN and SYN+ACK, so that switches look for
//! its path; then one segment follows the other, and the receiver acknowledges some.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::CString;
use std::io;
use std::time::Duration;

use clap::{Parser, ValueEnum};

const LENGTH: usize = 62;
const FLAGS: usize = 47;
/// Where the number of a segment is, and when it was sent.
const NUMBER: usize = 38;
const SENT: usize = 54;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const FIN: u8 = 0x01;
/// Of so many segments one is acknowledged.
const ACKNOWLEDGED: u32 = 64;
/// Arrivals further apart than this are a gap, in intervals.
const GAP: u64 = 4;
/// How long the receiver waits for anything at all, in milliseconds.
const PATIENCE: i32 = 60_000;

#[derive(Parser)]
struct Arguments {
    role: Role,
    /// The interface.
    interface: String,
    /// Address of this end.
    #[arg(long, value_parser = mac)]
    here: Mac,
    /// Address of the other end.
    #[arg(long, value_parser = mac)]
    there: Mac,
    /// TCP port of the sender; the receiver's is 5001.
    #[arg(long, default_value_t = 20_000)]
    port: u16,
    /// Between two segments, in microseconds.
    #[arg(long, default_value_t = 200)]
    interval: u64,
    /// How long to send, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    Send,
    Receive,
}

type Mac = [u8; 6];

fn mac(text: &str) -> Result<Mac, String> {
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    bytes
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("{text} is no address like 02:00:00:00:00:01"))
}

/// Nanoseconds of a clock that all processes of this machine share.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value that lives until the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn frame(arguments: &Arguments, flags: u8) -> [u8; LENGTH] {
    let mut frame = [0; LENGTH];
    let sends = arguments.role == Role::Send;
    let (sport, dport) = if sends { (arguments.port, 5001) } else { (5001, arguments.port) };
    frame[..6].copy_from_slice(&arguments.there);
    frame[6..12].copy_from_slice(&arguments.here);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    // IPv4 of 48 bytes, TTL 64, TCP, between 192.0.2.1 and 192.0.2.2 (RFC 5737), which no host here has.
    let (from, to) = if sends { (1, 2) } else { (2, 1) };
    frame[14..34].copy_from_slice(&[0x45, 0, 0, 48, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, from, 192, 0, 2, to]);
    frame[34..36].copy_from_slice(&sport.to_be_bytes());
    frame[36..38].copy_from_slice(&dport.to_be_bytes());
    frame[46] = 0x50;
    frame[FLAGS] = flags;
    frame
}

/// Asks for nobody by ARP, so that switches know where this end is.
fn announcement(here: Mac) -> [u8; 42] {
    let mut frame = [0; 42];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&here);
    frame[12..22].copy_from_slice(&[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame[22..28].copy_from_slice(&here);
    frame[28..32].copy_from_slice(&[192, 0, 2, 3]);
    frame[38..42].copy_from_slice(&[192, 0, 2, 4]);
    frame
}

struct Socket(i32);

impl Socket {
    fn open(interface: &str) -> io::Result<Self> {
        let name = CString::new(interface)?;
        // SAFETY: a string that lives until the call returns.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        let protocol = (libc::ETH_P_IP as u16).to_be();
        // SAFETY: no pointers.
        let socket =
            unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol.into()) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let room: libc::c_int = 64 << 20;
        // SAFETY: the option is an int that outlives the call. Less room is no fault.
        unsafe {
            libc::setsockopt(
                socket,
                libc::SOL_SOCKET,
                libc::SO_RCVBUFFORCE,
                (&raw const room).cast(),
                size_of_val(&room) as u32,
            )
        };
        // SAFETY: all zeros is a value of this structure of integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index as i32;
        // SAFETY: the address and its length agree, and it outlives the call.
        match unsafe { libc::bind(socket, (&raw const address).cast(), size_of_val(&address) as u32) } {
            0 => Ok(Self(socket)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Sends a frame; one that the interface has no room for is lost, as on a wire.
    fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes live until the call returns.
        let sent = unsafe { libc::send(self.0, frame.as_ptr().cast(), frame.len(), 0) };
        let error = io::Error::last_os_error();
        let lost = [libc::ENOBUFS, libc::ENETDOWN].map(Some).contains(&error.raw_os_error());
        if sent >= 0 || lost { Ok(()) } else { Err(error) }
    }

    /// The next frame of the flow that comes in, if one does within `patience` milliseconds.
    fn receive(&self, arguments: &Arguments, patience: i32) -> io::Result<Option<[u8; LENGTH]>> {
        let end = now() + patience as u64 * 1_000_000;
        loop {
            let left = end.saturating_sub(now()).div_ceil(1_000_000) as i32;
            let mut poll = libc::pollfd { fd: self.0, events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure, which lives until the call returns.
            match unsafe { libc::poll(&raw mut poll, 1, left) } {
                0 => return Ok(None),
                1 => {}
                _ => return Err(io::Error::last_os_error()),
            }
            let mut frame = [0; LENGTH];
            // SAFETY: the buffer has that many bytes, and lives until the call returns.
            let got = unsafe { libc::recv(self.0, frame.as_mut_ptr().cast(), LENGTH, libc::MSG_TRUNC) };
            if got < 0 {
                let error = io::Error::last_os_error();
                if error.raw_os_error() == Some(libc::ENETDOWN) {
                    continue;
                }
                return Err(error);
            }
            if got as usize >= LENGTH && frame[..6] == arguments.here && frame[6..12] == arguments.there {
                return Ok(Some(frame));
            }
        }
    }
}

fn send(arguments: &Arguments, socket: &Socket) -> Result<(), Box<dyn Error>> {
    let mut syn = frame(arguments, SYN);
    // By its first sequence number a connection differs from one before of the same ports.
    syn[NUMBER..NUMBER + 4].copy_from_slice(&((now() >> 10) as u32).to_be_bytes());
    let opened = (0..50).any(|_| {
        let answer = socket.send(&syn).and_then(|()| socket.receive(arguments, 100));
        answer.is_ok_and(|frame| frame.is_some_and(|frame| frame[FLAGS] == SYN | ACK))
    });
    if !opened {
        return Err("nobody answers the SYN".into());
    }
    println!("open");
    let mut data = frame(arguments, ACK);
    let (interval, started) = (arguments.interval * 1000, now());
    let count = (arguments.seconds * 1e9) as u64 / interval;
    let mut longest = 0;
    let mut last = started;
    for number in 0..count {
        // What the scheduler has held up is sent at once: the pace is that of the clock.
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
    // The last word has to arrive, whatever happens to the link.
    let mut fin = frame(arguments, FIN | ACK);
    fin[NUMBER..NUMBER + 4].copy_from_slice(&(count as u32).to_be_bytes());
    for _ in 0..20 {
        socket.send(&fin)?;
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{{\"sent\": {count}, \"longest_pause_ns\": {longest}}}");
    Ok(())
}

fn receive(arguments: &Arguments, socket: &Socket) -> Result<(), Box<dyn Error>> {
    let announcement = announcement(arguments.here);
    let mut answer = frame(arguments, SYN | ACK);
    let acknowledgement = frame(arguments, ACK);
    // Segments by number: when they were sent and when they came in.
    let mut arrived: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let (mut twice, mut patience) = (0_u64, PATIENCE);
    socket.send(&announcement)?;
    println!("ready");
    let end = loop {
        let Some(frame) = socket.receive(arguments, 500.min(patience))? else {
            patience -= 500;
            if patience <= 0 {
                return Err("nothing comes in any more".into());
            }
            // A host says something now and then, if only who it is.
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
    println!(
        "{{\"expected\": {end}, \"lost\": {lost}, \"twice\": {twice}, \"gaps\": [{}]}}",
        gaps.join(", ")
    );
    Ok(())
}

/// Runs of lost segments: how many, and from the last segment before that arrived to the first after it,
/// when they were sent and when they came in.
fn gaps(arrived: &BTreeMap<u32, (u64, u64)>, end: u32, interval: u64) -> Vec<String> {
    let numbers: Vec<(u32, u64, u64)> =
        arrived.iter().map(|(number, (sent, at))| (*number, *sent, *at)).collect();
    let between = numbers.windows(2).filter_map(|pair| {
        let [(a, a_sent, a_at), (b, b_sent, b_at)] = *pair else { return None };
        let (lost, still) = (b - a - 1, b_at.saturating_sub(a_at));
        (lost > 0 || still > GAP * interval).then(|| {
            format!(
                "{{\"lost\": {lost}, \"sent_ns\": {}, \"still_ns\": {still}, \"at_ns\": {a_at}}}",
                b_sent - a_sent
            )
        })
    });
    let tail = numbers.last().map_or(end, |(number, ..)| end - number - 1);
    between
        .chain(
            (tail > 0).then(|| {
                format!("{{\"lost\": {tail}, \"sent_ns\": null, \"still_ns\": null, \"at_ns\": null}}")
            }),
        )
        .collect()
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
