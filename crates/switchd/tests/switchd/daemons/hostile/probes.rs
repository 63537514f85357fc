//! Probes that depend on unknown stations: frames to unknown hosts, ARP, neighbour discovery, DHCP, multicast, new
//! connections. Every probe uses new addresses.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, eth, recv, sockopt};

use super::send;
use crate::net::{Netns, make_room};
use crate::wait::Pace;

/// The timeout of a probe, a thousand times as long as one takes. A lost probe takes this long, and a flood only lasts
/// seconds: with a longer timeout, few probes would be sent during it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The interval between rounds. A round adds 5 stations and starts 10 floods at each end, and a switch accepts 100
/// stations and 1000 floods per second and port in the long run: faster probes would be rate-limited themselves.
const PACE: Duration = Duration::from_millis(50);

/// One end: a host whose link is monitored, with any number of stations behind its port.
pub struct End<'a> {
    host: &'a Netns,
    pub socket: OwnedFd,
    /// A byte in the addresses of its stations.
    side: u8,
}

impl<'a> End<'a> {
    pub fn new(host: &'a Netns, side: u8) -> Self {
        let socket = host.packets("eth0", Some(eth::ALL));
        make_room(&socket);
        let time = Some(Duration::from_millis(20));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, time).expect("a socket");
        // Frames to these stations are monitored, not answered.
        host.ip("link set eth0 promisc on");
        Self { host, socket, side }
    }

    pub fn station(&self, number: u32) -> [u8; 6] {
        let [_, a, b, c] = number.to_be_bytes();
        [2, 0, self.side, a, b, c]
    }

    /// The time from `began` until a frame arrives unchanged; `None` if it does not within `patience`.
    pub fn sees(&self, frame: &[u8], began: Instant, patience: Duration) -> Option<Duration> {
        let mut buffer = [0_u8; 2048];
        while began.elapsed() < patience {
            let received = recv(&self.socket, &mut buffer, RecvFlags::empty());
            if received.is_ok_and(|(length, _)| buffer[..length] == *frame) {
                return Some(began.elapsed());
            }
        }
        None
    }
}

/// The two ends, the number of probes, and the rate of rounds.
pub struct Probes<'a> {
    ends: [End<'a>; 2],
    number: u32,
    pace: Pace,
}

/// The duration of each probe, by kind; `None` if it failed.
pub type Found = BTreeMap<&'static str, Vec<Option<Duration>>>;

impl<'a> Probes<'a> {
    pub fn new(first: &'a Netns, second: &'a Netns) -> Self {
        let ends = [End::new(first, 0x11), End::new(second, 0x22)];
        Self { ends, number: 0, pace: Pace::new(PACE) }
    }

    /// Sends a frame from a station of one end to one of the other, or to a group; returns the time it takes.
    fn passes(&mut self, from: usize, to: [u8; 6], ethertype: [u8; 2], payload: &[u8]) -> Option<Duration> {
        let source = self.ends[from].station(self.number);
        let mut frame = [&to[..], &source, &ethertype, payload].concat();
        frame.resize(frame.len().max(60), 0);
        let began = Instant::now();
        assert!(send(&self.ends[from].socket, &frame), "{}", std::io::Error::last_os_error());
        self.ends[1 - from].sees(&frame, began, PATIENCE)
    }

    /// Sends a request to a group and the reply to the requester; returns the time both take.
    fn asks(&mut self, group: [u8; 6], ethertype: [u8; 2], payloads: [&[u8]; 2]) -> Option<Duration> {
        let there = self.passes(0, group, ethertype, payloads[0])?;
        let asker = self.ends[0].station(self.number);
        Some(there + self.passes(1, asker, ethertype, payloads[1])?)
    }

    /// Runs all probes once, at the next interval.
    pub fn round(&mut self, found: &mut Found) {
        self.pace.turn();
        let number = self.number.to_be_bytes();
        let udp = |ports: [u8; 4]| {
            let header = [0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 9, 1, 255, 255, 255, 255];
            [&header[..], &ports, &[0, 16, 0, 0], &number, &[0; 4]].concat()
        };
        let mut add = |what, took| found.entry(what).or_default().push(took);

        self.number += 1;
        let nobody = self.ends[1].station(self.number);
        add("unknown host", self.passes(0, nobody, [8, 0], &udp([0, 7, 0, 7])));

        self.number += 1;
        let asker = self.ends[0].station(self.number);
        let arp = |operation: u8| {
            [&[0, 1, 8, 0, 6, 4, 0, operation][..], &asker, &number, &[0; 6], &number].concat()
        };
        add("ARP", self.asks([0xff; 6], [8, 6], [&arp(1), &arp(2)]));

        self.number += 1;
        let neighbour = |message: u8| {
            let mut packet = vec![0x60, 0, 0, 0, 0, 24, 58, 255];
            packet.extend([0xfe; 32]);
            packet.extend([message, 0, 0, 0, 0, 0, 0, 0]);
            packet.extend([&[0xfd; 12][..], &number].concat());
            packet
        };
        add("ND", self.asks([0x33, 0x33, 0xff, 0, 0, 1], [0x86, 0xdd], [&neighbour(135), &neighbour(136)]));

        self.number += 1;
        add("DHCP", self.asks([0xff; 6], [8, 0], [&udp([0, 68, 0, 67]), &udp([0, 67, 0, 68])]));

        self.number += 1;
        add("multicast", self.passes(0, [1, 0, 0x5e, 0, 0, 0xfb], [8, 0], &udp([20, 233, 20, 233])));

        add("new connection", self.connects());
    }

    /// The time a TCP connection takes to open.
    fn connects(&mut self) -> Option<Duration> {
        self.number += 1;
        let address: SocketAddr =
            format!("10.0.0.2:{}", 1024 + self.number % 60_000).parse().expect("an address");
        let _listener = self.ends[1].host.run(move || TcpListener::bind(address)).ok()?;
        self.ends[0].host.run(move || {
            let began = Instant::now();
            TcpStream::connect_timeout(&address, PATIENCE).ok().map(|_| began.elapsed())
        })
    }
}

/// The percentage of successful probes, and their median duration.
pub fn summary(tries: &[Option<Duration>]) -> (f64, Duration) {
    let mut took: Vec<Duration> = tries.iter().flatten().copied().collect();
    took.sort_unstable();
    let median = took.get(took.len() / 2).copied().unwrap_or_default();
    (100.0 * took.len() as f64 / tries.len().max(1) as f64, median)
}
