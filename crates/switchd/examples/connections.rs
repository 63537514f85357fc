//! Opens TCP connections one after the other and resets each once the other end has accepted it: the cost of a new
//! connection, for `make bench-switch`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use rustix::net::sockopt::set_socket_linger;
use serde_json::json;

/// A connection that takes longer has lost a segment: TCP's initial RTO is one second.
const LATE: Duration = Duration::from_millis(900);

#[derive(Parser)]
struct Arguments {
    role: Role,
    /// The address to listen on or to connect to.
    address: SocketAddr,
    /// Duration, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Number of connections opened in parallel.
    #[arg(long, default_value_t = 1)]
    at_once: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Role {
    Serve,
    Open,
}

/// Opens connections until `end`, at least one; returns the time each took.
fn open(address: SocketAddr, end: Instant) -> std::io::Result<Vec<Duration>> {
    let mut took = Vec::new();
    loop {
        let started = Instant::now();
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        took.push(started.elapsed());
        // Bounds the accept backlog to the number opened in parallel.
        stream.read_exact(&mut [0])?;
        // Closing sends a reset: there is no TIME_WAIT, and the port is free again.
        set_socket_linger(&stream, Some(Duration::ZERO))?;
        if Instant::now() >= end {
            return Ok(took);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Role::Serve = arguments.role {
        let listener = TcpListener::bind(arguments.address)?;
        println!("ready");
        for mut stream in listener.incoming().filter_map(Result::ok) {
            // The other end may be gone.
            let _ = stream.write_all(&[0]);
        }
        return Ok(());
    }
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(arguments.seconds);
    let threads: Vec<_> = (0..arguments.at_once.max(1))
        .map(|_| std::thread::spawn(move || open(arguments.address, end)))
        .collect();
    let mut took = Vec::new();
    for thread in threads {
        took.extend(thread.join().map_err(|_| "a thread panicked")??);
    }
    let seconds = started.elapsed().as_secs_f64();
    took.sort_unstable();
    let at = |part: f64| {
        took.get((took.len() as f64 * part) as usize).map_or(0.0, |took| took.as_secs_f64() * 1e6)
    };
    let late = took.iter().filter(|took| **took > LATE).count();
    println!(
        "{}",
        json!({"opened": took.len(), "seconds": seconds, "p50_us": at(0.5), "p99_us": at(0.99), "late": late})
    );
    Ok(())
}
