//! Traffic between hosts: counted datagrams, and TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::net::{Netns, make_room};

/// A UDP socket in the thread's namespace. A child that another test is starting inherits this test's sockets between fork
/// and exec, so an address in use is retried.
fn udp(address: SocketAddr) -> UdpSocket {
    let began = Instant::now();
    loop {
        match UdpSocket::bind(address) {
            Err(error)
                if error.kind() == ErrorKind::AddrInUse && began.elapsed() < Duration::from_secs(2) =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            bound => return bound.expect("a port"),
        }
    }
}

/// Whether one of four datagrams to `address` is echoed: the first datagram and the first echo may be lost to path
/// exploration.
pub fn reaches(from: &Netns, to_host: &Netns, address: &str) -> bool {
    let address: SocketAddr = address.parse().expect("an address");
    let echo = to_host.run(move || udp(address));
    echo.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
    let over = Arc::new(AtomicBool::new(false));
    let ends = over.clone();
    let answering = std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while !ends.load(Ordering::Relaxed) {
            if let Ok((length, sender)) = echo.recv_from(&mut buffer) {
                let _ = echo.send_to(&buffer[..length], sender);
            }
        }
    });
    let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = from.run(move || UdpSocket::bind(any).expect("a socket"));
    socket.set_read_timeout(Some(Duration::from_millis(400))).expect("a time");
    let back =
        (0..4).any(|_| socket.send_to(b"there?", address).is_ok() && socket.recv(&mut [0; 64]).is_ok());
    over.store(true, Ordering::Relaxed);
    answering.join().expect("the echo");
    back
}

/// Numbered datagrams from one host to another at a fixed interval.
pub struct Stream {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<u64>,
    receiver: JoinHandle<Vec<(u64, Instant)>>,
}

/// The result of a stream.
pub struct Outcome {
    pub sent: u64,
    pub received: u64,
    /// The longest gap between received datagrams.
    pub gap: Duration,
}

impl Stream {
    pub fn start(from: &Netns, to: &Netns, address: &str, every: Duration) -> Self {
        let address: SocketAddr = address.parse().expect("an address");
        let listening = to.run(move || udp(address));
        listening.set_read_timeout(Some(Duration::from_millis(500))).expect("a time");
        make_room(&listening);
        let socket = from.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let sender = std::thread::spawn(move || {
            let (mut sent, began) = (0_u64, Instant::now());
            while !ends.load(Ordering::Relaxed) {
                if socket.send_to(&sent.to_be_bytes(), address).is_ok() {
                    sent += 1;
                }
                std::thread::sleep((began + every * sent as u32).saturating_duration_since(Instant::now()));
            }
            sent
        });
        let ends = stop.clone();
        let receiver = std::thread::spawn(move || {
            let (mut received, mut buffer) = (Vec::new(), [0; 8]);
            loop {
                match listening.recv(&mut buffer) {
                    Ok(_) => received.push((u64::from_be_bytes(buffer), Instant::now())),
                    Err(_) if ends.load(Ordering::Relaxed) => return received,
                    Err(_) => {}
                }
            }
        });
        Self { stop, sender, receiver }
    }

    pub fn end(self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        let sent = self.sender.join().expect("the sender");
        let received = self.receiver.join().expect("the receiver");
        let gaps = received.windows(2).map(|pair| pair[1].1 - pair[0].1);
        Outcome { sent, received: received.len() as u64, gap: gaps.max().unwrap_or_default() }
    }
}

/// A TCP connection between two hosts, both ends.
pub struct Connection {
    pub client: TcpStream,
    pub server: TcpStream,
}

impl Connection {
    pub fn open(from: &Netns, to: &Netns, address: &str) -> Self {
        let address: SocketAddr = address.parse().expect("an address");
        let listener = to.run(move || TcpListener::bind(address).expect("a port"));
        let accepting = std::thread::spawn(move || listener.accept().expect("a connection").0);
        let client = from
            .run(move || TcpStream::connect_timeout(&address, Duration::from_secs(5)).expect("a connection"));
        client.set_nodelay(true).expect("an option");
        Self { client, server: accepting.join().expect("a connection") }
    }

    /// Sends bytes from the client to the server and waits for all of them; returns the time taken.
    pub fn send(&mut self, bytes: usize) -> Duration {
        let began = Instant::now();
        let mut server = self.server.try_clone().expect("a socket");
        server.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        let reading = std::thread::spawn(move || {
            let (mut buffer, mut left) = (vec![0; 1 << 16], bytes);
            while left > 0 {
                let most = buffer.len().min(left);
                left -= server.read(&mut buffer[..most]).expect("data in time");
            }
        });
        let chunk = vec![7; bytes.min(1 << 16)];
        let mut left = bytes;
        while left > 0 {
            left -= self.client.write(&chunk[..chunk.len().min(left)]).expect("a connection");
        }
        reading.join().expect("all bytes");
        began.elapsed()
    }
}

/// A connection that always has something to send.
pub struct Load {
    stop: Arc<AtomicBool>,
    longest: JoinHandle<Duration>,
    writing: JoinHandle<()>,
}

impl Load {
    pub fn start(mut connection: Connection) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let writing = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                connection.client.write_all(&[1; 1 << 14]).expect("a connection");
                std::thread::sleep(Duration::from_micros(200));
            }
            connection.client.shutdown(Shutdown::Write).expect("a connection");
        });
        let longest = std::thread::spawn(move || {
            let (mut longest, mut last, mut buffer) = (Duration::ZERO, Instant::now(), vec![0; 1 << 16]);
            while connection.server.read(&mut buffer).expect("a connection") > 0 {
                longest = longest.max(last.elapsed());
                last = Instant::now();
            }
            longest
        });
        Self { stop, longest, writing }
    }

    /// The longest gap without data.
    pub fn end(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        self.writing.join().expect("the writer");
        self.longest.join().expect("the reader")
    }
}
