//! Traffic between hosts: counted datagrams, and TCP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::net::{Netns, make_room};
use crate::wait::{DEADLINE, Pace, comes, wait_for, wait_for_more};

/// A socket at `address` in the thread's namespace. A child that another test is starting inherits this test's sockets
/// between fork and exec, so an address in use is waited for.
fn bound<S>(address: SocketAddr, bind: impl Fn(SocketAddr) -> io::Result<S>) -> S {
    let mut bound = None;
    wait_for("the address is free", || match bind(address) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => false,
        socket => {
            bound = Some(socket.expect("a port"));
            true
        }
    });
    bound.expect("a port")
}

/// Whether a datagram to `address` is echoed. One is sent each second until then: the first datagram and the first echo
/// may be lost to path exploration.
pub fn reaches(from: &Netns, to_host: &Netns, address: &str) -> bool {
    let address: SocketAddr = address.parse().expect("an address");
    let echo = to_host.run(move || bound(address, UdpSocket::bind));
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
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a time");
    let back =
        comes(DEADLINE, || socket.send_to(b"there?", address).is_ok() && socket.recv(&mut [0; 64]).is_ok());
    over.store(true, Ordering::Relaxed);
    answering.join().expect("the echo");
    back
}

/// Sends datagrams, which may be lost.
pub fn send_datagrams(from: &Netns, address: &str, count: u64) {
    let socket = from.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
    for _ in 0..count {
        socket.send_to(b"datagram", address).expect("it is sent");
    }
}

/// Datagrams that must not arrive. A later event shows that the switch has handled them.
pub struct Strays(UdpSocket);

impl Strays {
    /// Many more than the other frames that a host sends meanwhile.
    pub const COUNT: u64 = 20;

    /// Sends them at once, to a station whose address is known.
    pub fn send(from: &Netns, to_host: &Netns, text: &str) -> Self {
        let address: SocketAddrV4 = text.parse().expect("an address");
        let listening = to_host.run(move || bound(address.into(), UdpSocket::bind));
        listening.set_nonblocking(true).expect("a socket");
        let (ip, number) = (address.ip(), address.ip().octets()[3]);
        from.ip(&format!("neigh replace {ip} lladdr 02:00:00:00:00:{number:02x} dev eth0"));
        send_datagrams(from, text, Self::COUNT);
        from.ip(&format!("neigh del {ip} dev eth0"));
        Self(listening)
    }

    /// Whether none has arrived.
    pub fn are_lost(self) -> bool {
        self.0.recv(&mut [0; 64]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

/// Datagrams from one host to another, at most one in each interval.
pub struct Stream {
    arrived: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    sender: JoinHandle<u64>,
    is_over: Arc<AtomicBool>,
    receiver: JoinHandle<()>,
}

/// The result of a stream.
pub struct Outcome {
    pub sent: u64,
    pub received: u64,
}

impl Stream {
    pub fn start(from: &Netns, to: &Netns, address: &str, every: Duration) -> Self {
        let address: SocketAddr = address.parse().expect("an address");
        let listening = to.run(move || bound(address, UdpSocket::bind));
        listening.set_read_timeout(Some(Duration::from_millis(500))).expect("a time");
        make_room(&listening);
        let socket = from.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let sender = std::thread::spawn(move || {
            let (mut sent, mut pace) = (0, Pace::new(every));
            while !ends.load(Ordering::Relaxed) {
                pace.turn();
                sent += u64::from(socket.send_to(b"datagram", address).is_ok());
            }
            sent
        });
        let (arrived, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, ends) = (arrived.clone(), is_over.clone());
        let receiver = std::thread::spawn(move || {
            loop {
                match listening.recv(&mut [0; 8]) {
                    Ok(_) => drop(count.fetch_add(1, Ordering::Relaxed)),
                    Err(_) if ends.load(Ordering::Relaxed) => return,
                    Err(_) => {}
                }
            }
        });
        Self { arrived, stop, sender, is_over, receiver }
    }

    /// Waits until `more` datagrams have arrived.
    pub fn goes_on(&self, more: u64) {
        wait_for_more("datagrams arrive", more, || self.arrived.load(Ordering::Relaxed));
    }

    pub fn end(self) -> Outcome {
        Self::end_all([self]).remove(0)
    }

    /// Ends streams together, which takes no longer than ending one.
    pub fn end_all(streams: impl IntoIterator<Item = Self>) -> Vec<Outcome> {
        let streams: Vec<Self> =
            streams.into_iter().inspect(|stream| stream.stop.store(true, Ordering::Relaxed)).collect();
        let ending = streams.into_iter().map(|Self { arrived, sender, is_over, receiver, .. }| {
            let sent = sender.join().expect("the sender");
            is_over.store(true, Ordering::Relaxed);
            (sent, arrived, receiver)
        });
        let ending: Vec<_> = ending.collect();
        let outcome = |(sent, arrived, receiver): (u64, Arc<AtomicU64>, JoinHandle<()>)| {
            receiver.join().expect("the receiver");
            Outcome { sent, received: arrived.load(Ordering::Relaxed) }
        };
        ending.into_iter().map(outcome).collect()
    }
}

/// Ends streams with one datagram in each interval; returns for how long the worst of them lost its datagrams.
pub fn lost(streams: impl IntoIterator<Item = Stream>, every: Duration) -> Duration {
    let lost = Stream::end_all(streams).into_iter().map(|end| end.sent - end.received.min(end.sent));
    every * lost.max().unwrap_or_default() as u32
}

/// A TCP connection between two hosts, both ends.
pub struct Connection {
    pub client: TcpStream,
    pub server: TcpStream,
}

impl Connection {
    pub fn open(from: &Netns, to: &Netns, address: &str) -> Self {
        let address: SocketAddr = address.parse().expect("an address");
        let listener = to.run(move || bound(address, TcpListener::bind));
        let accepting = std::thread::spawn(move || listener.accept().expect("a connection").0);
        let client = from.run(move || TcpStream::connect_timeout(&address, DEADLINE).expect("a connection"));
        client.set_nodelay(true).expect("an option");
        Self { client, server: accepting.join().expect("a connection") }
    }

    /// Sends bytes from the client to the server and waits for all of them.
    pub fn send(&mut self, bytes: usize) {
        let mut server = self.server.try_clone().expect("a socket");
        server.set_read_timeout(Some(DEADLINE)).expect("a time");
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
    }
}

/// From now on, connections of this host retransmit nothing before [`Connection::send`] fails: what it sends arrives only if
/// nothing is lost.
pub fn never_retransmits(host: &Netns) {
    host.ip("route change 10.0.0.0/24 dev eth0 rto_min 100s");
    // No tail loss probes.
    host.sh("sysctl -qw net.ipv4.tcp_early_retrans=0");
}

/// A connection that always has something to send.
pub struct Load {
    arrived: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    reading: JoinHandle<()>,
    writing: JoinHandle<()>,
}

impl Load {
    pub fn start(mut connection: Connection) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let writing = std::thread::spawn(move || {
            let mut pace = Pace::new(Duration::from_micros(200));
            while !ends.load(Ordering::Relaxed) {
                pace.turn();
                connection.client.write_all(&[1; 1 << 14]).expect("a connection");
            }
            connection.client.shutdown(Shutdown::Write).expect("a connection");
        });
        let arrived = Arc::new(AtomicU64::new(0));
        let count = arrived.clone();
        let reading = std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let length @ 1.. = connection.server.read(&mut buffer).expect("a connection") {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Self { arrived, stop, reading, writing }
    }

    /// The number of bytes that have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Waits until another megabyte has arrived.
    pub fn goes_on(&self) {
        wait_for_more("data arrives", 1 << 20, || self.arrived());
    }

    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.writing.join().expect("the writer");
        self.reading.join().expect("the reader");
    }
}

/// Datagrams of 1400 bytes at up to 28 Mbit/s, which nobody receives.
pub struct Flood {
    stop: Arc<AtomicBool>,
    sending: JoinHandle<()>,
}

impl Flood {
    pub fn start(from: &Netns, address: &str) -> Self {
        let address: SocketAddr = address.parse().expect("an address");
        let socket = from.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let sending = std::thread::spawn(move || {
            let mut pace = Pace::new(Duration::from_millis(2));
            while !ends.load(Ordering::Relaxed) {
                pace.turn();
                // Nobody listens, and the queue may be full.
                let _ = socket.send_to(&[0; 1400], address);
            }
        });
        Self { stop, sending }
    }

    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.sending.join().expect("the sender");
    }
}
