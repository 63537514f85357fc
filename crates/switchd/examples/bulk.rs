//! Sends as much as goes over one TCP connection through each of several switches in turn: the load of
//! `make bench-switch` where the kernel joins segments (GSO).
//!
//! Turns are short, so that whatever else the machine does slows each switch alike. A turn ends when its
//! bytes have been read at the other end.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of one write, and of one read at most.
const WRITE: usize = 128 << 10;

#[derive(Parser)]
struct Arguments {
    /// Network namespaces of senders and receivers (`/run/netns/h1`), one pair after the other.
    #[arg(required = true)]
    namespaces: Vec<PathBuf>,
    /// Address of each receiver.
    #[arg(long)]
    address: Ipv4Addr,
    #[arg(long)]
    port: u16,
    /// TCP port of each sender.
    #[arg(long)]
    client_port: u16,
    /// How long from each sender, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Bytes of a turn, in MiB.
    #[arg(long, default_value_t = 16)]
    turn: usize,
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// From here on this thread is in the namespace.
fn enter(namespace: &Path) -> io::Result<()> {
    let entered = File::open(namespace)?;
    // SAFETY: a descriptor that is open until the call returns.
    check(unsafe { libc::setns(entered.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

fn set<T>(socket: RawFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let (value, length): (*const T, u32) = (value, size_of::<T>() as u32);
    // SAFETY: the option's value is that structure, which outlives the call.
    check(unsafe { libc::setsockopt(socket, level, option, value.cast(), length) }).map(drop)
}

/// A connection under CUBIC from a port of its own, which ends by a reset: the port is free at once.
fn connect(arguments: &Arguments) -> io::Result<TcpStream> {
    // SAFETY: no pointers.
    let socket = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: nobody else has the descriptor.
    let stream = unsafe { TcpStream::from_raw_fd(socket) };
    set(socket, libc::SOL_SOCKET, libc::SO_LINGER, &libc::linger { l_onoff: 1, l_linger: 0 })?;
    set(socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32)?;
    set(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, b"cubic")?;
    let address = |address: Ipv4Addr, port: u16| libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    };
    let (own, other) =
        (address(Ipv4Addr::UNSPECIFIED, arguments.client_port), address(arguments.address, arguments.port));
    let length = size_of::<libc::sockaddr_in>() as u32;
    // SAFETY: addresses and lengths agree, and outlive the calls.
    unsafe {
        check(libc::bind(socket, (&raw const own).cast(), length))?;
        check(libc::connect(socket, (&raw const other).cast(), length))?;
    }
    Ok(stream)
}

/// A sender, and what it has sent.
struct Sender {
    stream: TcpStream,
    bytes: u64,
    took: Duration,
}

/// Connects each pair; gives the senders, and the receivers' ends in the same order.
fn pairs(arguments: &Arguments) -> Result<(Vec<Sender>, Vec<TcpStream>), Box<dyn Error>> {
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for pair in arguments.namespaces.chunks(2) {
        let [from, to] = pair else { return Err("a sender has no receiver".into()) };
        let named = |error| format!("{}: {error}", from.display());
        enter(to).map_err(named)?;
        let listener =
            TcpListener::bind(SocketAddrV4::new(arguments.address, arguments.port)).map_err(named)?;
        enter(from).map_err(named)?;
        let stream = connect(arguments).map_err(named)?;
        senders.push(Sender { stream, bytes: 0, took: Duration::ZERO });
        receivers.push(listener.accept().map_err(named)?.0);
    }
    Ok((senders, receivers))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let (mut senders, mut receivers) = pairs(&arguments)?;
    let (turn, length) = (arguments.turn << 20, Duration::from_secs_f64(arguments.seconds));
    let (ask, asked) = mpsc::channel::<usize>();
    let (answer, answered) = mpsc::channel::<io::Result<()>>();
    thread::spawn(move || {
        let mut buffer = vec![0; WRITE];
        for at in asked {
            let mut left = turn;
            let mut read = || {
                while left > 0 {
                    match receivers[at].read(&mut buffer[..WRITE.min(left)])? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        read => left -= read,
                    }
                }
                Ok(())
            };
            if answer.send(read()).is_err() {
                return;
            }
        }
    });
    let data = vec![0; WRITE];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut order: Vec<usize> = (0..senders.len()).collect();
    while senders.iter().any(|sender| sender.took < length) {
        // In an order drawn anew: whose turn was before leaves something in the caches.
        for last in (1..order.len()).rev() {
            order.swap(last, random.next_u32() as usize % (last + 1));
        }
        for &at in &order {
            let sender = &mut senders[at];
            let started = Instant::now();
            ask.send(at)?;
            for _ in 0..turn / WRITE {
                sender.stream.write_all(&data)?;
            }
            answered.recv()??;
            sender.took += started.elapsed();
            sender.bytes += turn as u64;
        }
    }
    let rows: Vec<String> = senders
        .iter()
        .map(|sender| format!("{{\"bytes\": {}, \"seconds\": {}}}", sender.bytes, sender.took.as_secs_f64()))
        .collect();
    println!("[{}]", rows.join(", "));
    Ok(())
}
