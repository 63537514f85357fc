//! Sends as fast as possible over one TCP connection through each of several switches in turn: the bulk load of
//! `make bench-switch`, with GSO.
//!
//! A turn ends when its bytes have been read at the other end.

#[path = "common/namespace.rs"]
mod namespace;
#[path = "common/turns.rs"]
mod turns;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Parser;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use serde_json::{Value, json};

use namespace::enter;
use turns::take_turns;

/// Bytes per write, and maximum bytes per read.
const WRITE: usize = 128 << 10;

#[derive(Parser)]
struct Arguments {
    /// Network namespaces of senders and receivers (`/run/netns/h1`), in pairs.
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
    /// Total duration for each sender, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Size of a turn, in MiB.
    #[arg(long, default_value_t = 16)]
    turn: usize,
}

/// A CUBIC connection from the client port, closed by a reset so that the port is free at once.
fn open(arguments: &Arguments) -> io::Result<TcpStream> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_tcp_congestion(&socket, "cubic")?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, arguments.client_port))?;
    connect(&socket, &SocketAddrV4::new(arguments.address, arguments.port))?;
    Ok(socket.into())
}

/// Connects each pair; returns the senders' ends, and the receivers' in the same order.
fn pairs(arguments: &Arguments) -> Result<(Vec<TcpStream>, Vec<TcpStream>), Box<dyn Error>> {
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for pair in arguments.namespaces.chunks(2) {
        let [from, to] = pair else {
            return Err("expected an even number of namespaces: one receiver per sender".into());
        };
        let named = |error| format!("{}: {error}", from.display());
        enter(to).map_err(named)?;
        let listener =
            TcpListener::bind(SocketAddrV4::new(arguments.address, arguments.port)).map_err(named)?;
        enter(from).map_err(named)?;
        senders.push(open(arguments).map_err(named)?);
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
    let mut bytes = vec![0; senders.len()];
    let took = take_turns(senders.len(), length, |at| -> Result<(), Box<dyn Error>> {
        ask.send(at)?;
        for _ in 0..turn / WRITE {
            senders[at].write_all(&data)?;
        }
        answered.recv()??;
        bytes[at] += turn;
        Ok(())
    })?;
    let row = |(bytes, took): (usize, Duration)| json!({"bytes": bytes, "seconds": took.as_secs_f64()});
    println!("{}", bytes.into_iter().zip(took).map(row).collect::<Value>());
    Ok(())
}
