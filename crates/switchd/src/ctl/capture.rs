//! `weftctl capture`: the frames at the ports of a switch, as pcapng.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use hyper::Method;
use nix::ifaddrs::getifaddrs;
use serde_json::Value;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{SignalKind, signal};
use weft_fabric::nearest;
use weft_pcapng::{Direction, Interface, Packet, Statistics, Writer, section};
use weft_units::{Bytes, reason};

use super::client::{Client, ClientError};
use super::packets::{Frame, PacketSocket, Wanted};

/// Frames read between two looks at the clock and at signals.
const BATCH: u32 = 256;
/// How often the count is shown on a terminal.
const SHOWN: Duration = Duration::from_secs(1);

/// The ports and frames to capture.
#[derive(Args, Debug)]
pub struct CaptureArgs {
    /// Ports, by interface or number [default: all]
    ports: Vec<String>,
    /// File to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Frames that arrive at the ports, that leave them, or both
    #[arg(long, value_enum, default_value_t = Way::Both)]
    direction: Way,
    /// End after this many frames
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// End when the file has this size, such as "10 MB"
    #[arg(long, value_name = "SIZE", default_value = "100 MB")]
    bytes: Bytes,
    /// End after this time, such as "10 s"
    #[arg(long, value_name = "TIME", default_value = "60 s")]
    duration: weft_units::Duration,
    /// Store at most this many bytes of a frame
    #[arg(long, value_name = "BYTES", default_value_t = 65_535,
          value_parser = clap::value_parser!(u32).range(14..=262_144))]
    snaplen: u32,
    /// Store at most this many frames per second; others are counted
    #[arg(long, value_name = "N", default_value_t = 50_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
}

/// A direction of frames at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Way {
    In,
    Out,
    Both,
}

/// A port that is captured.
struct Port {
    interface: String,
    index: u32,
    description: String,
    frames: u64,
    left_out: u64,
}

fn input(text: impl Into<String>) -> ClientError {
    ClientError::Input(text.into())
}

/// Captures until a limit or a signal ends it.
///
/// # Errors
/// No daemon answers, a port is unknown or elsewhere, or the file cannot be written.
pub async fn capture(client: &Client, arguments: &CaptureArgs) -> Result<(), ClientError> {
    let status = client.ask(Method::GET, "/v1/status").await?;
    let ports = client.ask(Method::GET, "/v1/ports").await?;
    let mut ports = chosen(&status, &ports, &arguments.ports)?;
    let indices: Vec<u32> = ports.iter().map(|port| port.index).collect();
    let wanted = match arguments.direction {
        Way::In => Wanted::Received,
        Way::Out => Wanted::Sent,
        Way::Both => Wanted::Both,
    };
    let socket = PacketSocket::open(&indices, wanted, arguments.snaplen).map_err(|error| {
        input(match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => "capturing needs CAP_NET_RAW: run weftctl as root".to_owned(),
            _ => format!("cannot open a packet socket: {error}"),
        })
    })?;
    let path = &arguments.output;
    let unwritable = |error: io::Error| input(format!("cannot write {}: {}", path.display(), reason(&error)));
    let comment = format!("switch {}, mode {}", text(&status["name"]), text(&status["mode"]));
    let start = section(concat!("weftctl ", env!("CARGO_PKG_VERSION")), &comment);
    let mut writer = Writer::new(create(path)?, &start).map_err(unwritable)?;
    for port in &ports {
        let interface = Interface {
            name: &port.interface,
            description: &port.description,
            speed: None,
            snaplen: arguments.snaplen,
        };
        writer.interface(&interface).map_err(unwritable)?;
    }
    let names: Vec<&str> = ports.iter().map(|port| port.interface.as_str()).collect();
    eprintln!(
        "capturing on {}; ends after {} frames, {} or {}, or with Ctrl-C",
        names.join(", "),
        arguments.count,
        arguments.bytes,
        arguments.duration
    );
    let written = follow(socket, &mut writer, &mut ports, arguments).await;
    let lost = match written {
        // The reader of the pipe has all that it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        written => written.map_err(unwritable)?,
    };
    let frames = ports.iter().map(|port| port.frames).sum::<u64>();
    let left_out = ports.iter().map(|port| port.left_out).sum::<u64>();
    eprintln!(
        "{} frames in {}{}{}",
        frames - left_out,
        if path == Path::new("-") { "standard output".to_owned() } else { path.display().to_string() },
        if left_out > 0 {
            format!(", {left_out} left out beyond --rate {}", arguments.rate)
        } else {
            String::new()
        },
        if lost > 0 {
            format!(", {lost} lost: this machine is too busy to store them")
        } else {
            String::new()
        },
    );
    Ok(())
}

/// The ports with these names, or all that have an interface.
fn chosen(status: &Value, ports: &Value, names: &[String]) -> Result<Vec<Port>, ClientError> {
    let all: Vec<&Value> = ports.as_array().into_iter().flatten().collect();
    let name_of = |port: &Value| port["interface"].as_str().unwrap_or_default().to_owned();
    let number_of = |port: &Value| port["port"].as_u64();
    let mut found: Vec<&Value> = Vec::new();
    for name in names {
        let port = all.iter().find(|port| name_of(port) == *name);
        let port = port.or_else(|| all.iter().find(|port| number_of(port) == name.parse().ok()));
        let Some(port) = port else {
            let known: Vec<String> = all.iter().map(|port| name_of(port)).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = nearest(name, known.iter().copied());
            let hint = near.map_or_else(
                || format!("expected one of {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(input(format!("switch `{}` has no port `{name}`: {hint}", text(&status["name"]))));
        };
        if !found.iter().any(|other| number_of(other) == number_of(port)) {
            found.push(port);
        }
    }
    if names.is_empty() {
        found = all.into_iter().filter(|port| port["ifindex"].is_u64()).collect();
    }
    if found.is_empty() {
        return Err(input("no port of the switch has an interface: see `weftctl show ports`"));
    }
    found.into_iter().map(|port| here(status, port)).collect()
}

/// The port, if its interface is in this network namespace.
fn here(status: &Value, port: &Value) -> Result<Port, ClientError> {
    let name = text(&port["interface"]);
    let Some(index) = port["ifindex"].as_u64().and_then(|index| u32::try_from(index).ok()) else {
        return Err(input(format!("port `{name}` has no interface: see `weftctl show ports`")));
    };
    let address = port["address"].as_str().unwrap_or_default();
    let interfaces = getifaddrs().map_err(|error| input(format!("cannot list the interfaces: {error}")))?;
    let is_here = interfaces.filter(|interface| interface.interface_name == name).any(|interface| {
        let link = interface.address.as_ref().and_then(|address| address.as_link_addr());
        link.is_some_and(|link| {
            let own = link.addr().map(|bytes| weft_wire::Mac(bytes).to_string());
            link.ifindex() == index as usize && own.as_deref() == Some(address)
        })
    });
    if !is_here {
        return Err(input(format!(
            "port `{name}` is in the daemon's network namespace, and weftctl in another one: \
             nsenter -n -t {} weftctl ...",
            status["pid"]
        )));
    }
    let description = format!("port {}, {}", port["port"], text(&port["role"]));
    Ok(Port { interface: name, index, description, frames: 0, left_out: 0 })
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The output: a new file, or standard output.
fn create(path: &Path) -> Result<BufWriter<Box<dyn Write>>, ClientError> {
    if path == Path::new("-") {
        if io::stdout().is_terminal() {
            return Err(input("a capture is not text: write to a file, or pipe it to a program"));
        }
        return Ok(BufWriter::new(Box::new(io::stdout())));
    }
    match File::create_new(path) {
        Ok(file) => Ok(BufWriter::new(Box::new(file))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(input(format!("{} exists: choose another file, or remove it", path.display())))
        }
        Err(error) => Err(input(format!("cannot write {}: {}", path.display(), reason(&error)))),
    }
}

/// Stores frames until a limit or a signal; returns how many the kernel lost.
async fn follow<W: Write>(
    socket: PacketSocket,
    writer: &mut Writer<W>,
    ports: &mut [Port],
    arguments: &CaptureArgs,
) -> io::Result<u64> {
    // SAFETY: the socket owns its descriptor, which stays open and the same.
    let mut socket = unsafe { AsyncFd::register(socket) }?;
    let mut ends = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    let [interrupt, terminate] = &mut ends;
    let over = tokio::time::sleep(Duration::from_nanos(arguments.duration.ps() / 1000));
    tokio::pin!(over);
    let mut shown = tokio::time::interval(SHOWN);
    let is_shown = io::stderr().is_terminal();
    let mut bucket = Bucket { rate: arguments.rate, second: Instant::now(), used: 0 };
    let mut last = 0;
    let mut take = |frame: Frame<'_>, writer: &mut Writer<W>, ports: &mut [Port]| {
        last = last.max(frame.time_ns);
        store(&frame, writer, ports, &mut bucket)?;
        let stored: u64 = ports.iter().map(|port| port.frames - port.left_out).sum();
        io::Result::Ok(stored >= arguments.count || writer.written() >= arguments.bytes.0)
    };
    let mut is_full = false;
    while !is_full {
        tokio::select! {
            biased;
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            () = &mut over => break,
            _ = shown.tick() => {
                // A reader of the pipe sees frames as they come.
                writer.flush()?;
                if is_shown {
                    eprint!("\r{} frames, {}", ports.iter().map(|port| port.frames).sum::<u64>(), Bytes(writer.written()));
                }
            }
            ready = socket.readable_mut() => {
                let mut ready = ready?;
                for _ in 0..BATCH {
                    let Some(frame) = ready.get_inner_mut().receive()? else {
                        ready.clear_ready();
                        break;
                    };
                    is_full = take(frame, writer, ports)?;
                    if is_full {
                        break;
                    }
                }
            }
        }
    }
    // Frames that arrived before a signal or the end of the time may still wait in the socket.
    let socket = socket.get_mut();
    socket.stop()?;
    while !is_full && let Some(frame) = socket.receive()? {
        is_full = take(frame, writer, ports)?;
    }
    if is_shown {
        eprint!("\r");
    }
    let lost = socket.lost();
    let comment = if lost > 0 { format!("frames lost, over all ports: {lost}") } else { String::new() };
    for (number, port) in (0..).zip(ports.iter()) {
        writer.statistics(&Statistics {
            interface: number,
            time_ns: last,
            received: port.frames,
            dropped: port.left_out,
            comment: &comment,
        })?;
    }
    writer.flush()?;
    Ok(lost)
}

fn store<W: Write>(
    frame: &Frame<'_>,
    writer: &mut Writer<W>,
    ports: &mut [Port],
    bucket: &mut Bucket,
) -> io::Result<()> {
    let found = (0..).zip(ports.iter_mut()).find(|(_, port)| port.index == frame.interface);
    let Some((interface, port)) = found else { return Ok(()) };
    port.frames += 1;
    if !bucket.take() {
        port.left_out += 1;
        return Ok(());
    }
    writer.packet(&Packet {
        interface,
        time_ns: frame.time_ns,
        bytes: frame.bytes,
        length: frame.length,
        direction: Some(if frame.is_sent { Direction::Out } else { Direction::In }),
        comment: "",
    })
}

/// The frames of the current second.
struct Bucket {
    rate: u64,
    second: Instant,
    used: u64,
}

impl Bucket {
    /// Counts a frame; returns whether it may be stored in this second.
    fn take(&mut self) -> bool {
        let now = Instant::now();
        if now.duration_since(self.second) >= Duration::from_secs(1) {
            (self.second, self.used) = (now, 0);
        }
        self.used += 1;
        self.used <= self.rate
    }
}
