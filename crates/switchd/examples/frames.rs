//! Sends 60-byte TCP segments as fast as one core can, over many tuples in turn: the load of
//! `make bench-switch`. They belong to no connection and their checksums are zero: they are for a
//! switch to forward and for a receiver to count.

use std::ffi::CString;
use std::io;
use std::time::{Duration, Instant};

use clap::Parser;

/// Frames of one system call.
const BATCH: usize = 64;
/// Ethernet, IPv4, TCP, and padding up to the least that Ethernet carries (without its checksum).
const LENGTH: usize = 60;
const SPORT: usize = 34;

#[derive(Parser)]
struct Arguments {
    /// The interface they leave by.
    interface: String,
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
    /// How long, in seconds; 0 sends one frame.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
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

/// A packet socket that sends on `interface`, past its queueing discipline.
fn open(interface: &str) -> io::Result<i32> {
    let name = CString::new(interface)?;
    // SAFETY: a string that lives until the call returns.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no pointers; protocol 0 receives nothing.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let socket = open(&arguments.interface).map_err(|error| format!("{}: {error}", arguments.interface))?;
    let mut frames = [frame(&arguments)?; BATCH];
    let mut parts =
        frames.each_mut().map(|frame| libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: LENGTH });
    let mut messages = parts.each_mut().map(|part| {
        // SAFETY: all zeros is a value of this structure: no address, no control data.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        message.msg_hdr.msg_iov = part;
        message.msg_hdr.msg_iovlen = 1;
        message
    });
    let batch = if arguments.seconds > 0.0 { BATCH } else { 1 };
    let (started, length) = (Instant::now(), Duration::from_secs_f64(arguments.seconds));
    let (mut sent, mut next) = (0_u64, 0_u16);
    loop {
        for part in &parts[..batch] {
            let port = (arguments.first_port + next).to_be_bytes();
            // SAFETY: the frame that `part` is of lives, nobody else writes it, and SPORT + 2 is within it.
            unsafe { std::ptr::copy_nonoverlapping(port.as_ptr(), part.iov_base.cast::<u8>().add(SPORT), 2) };
            next = (next + 1) % arguments.flows.max(1);
        }
        // SAFETY: the messages, their parts and the frames live until the call returns.
        let done = unsafe { libc::sendmmsg(socket, messages.as_mut_ptr(), batch as u32, 0) };
        match u64::try_from(done) {
            Ok(done) => sent += done,
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) => {}
            Err(_) => return Err(io::Error::last_os_error().into()),
        }
        if started.elapsed() >= length {
            break;
        }
    }
    println!("{{\"sent\": {sent}, \"seconds\": {}}}", started.elapsed().as_secs_f64());
    Ok(())
}
