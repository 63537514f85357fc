//! On veth links: two hosts and three switches with attached programs, checksum offload, VLAN tags, and
//! received frames compared byte for byte.

mod packet;
mod switch;
mod tags;
mod tap;
mod unknown;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use weft_switchd::Mode;
use weft_switchd::layout::{Port, Settings};
use weft_switching::exploration::Exploration;

use crate::net::{Netns, cable};
use crate::wait::DEADLINE;
use packet::{Segment, is_complete, own_is_clean, path_type};
use switch::Switch;
use tap::{Frame, Tap};

/// Two hosts and three switches in a row.
struct Row<S> {
    hosts: [Netns; 2],
    fabric: Netns,
    switches: [S; 3],
}

/// The interfaces of the switches.
const PORTS: [[&str; 2]; 3] = [["s1a", "s1b"], ["s2a", "s2b"], ["s3a", "s3b"]];
/// All but the first host's, which always leaves checksums to offload.
const OTHERS: &[&str] = PORTS.as_flattened().split_at(1).1;

impl<S> Row<S> {
    /// With the switches that `attach` puts on [`PORTS`].
    fn new(attach: impl FnOnce(&Netns) -> [S; 3]) -> Self {
        let (hosts, fabric) = ([Netns::new(), Netns::new()], Netns::new());
        // As the daemon does: ports send no frames of their own, which would share the queues.
        for of in ["all", "default"] {
            fabric.sh(&format!("sysctl -qw net.ipv6.conf.{of}.disable_ipv6=1"));
        }
        cable((&hosts[0], "h0"), (&fabric, "s1a"));
        cable((&fabric, "s1b"), (&fabric, "s2a"));
        cable((&fabric, "s2b"), (&fabric, "s3a"));
        cable((&hosts[1], "h0"), (&fabric, "s3b"));
        for (host, mac) in hosts.iter().zip([packet::A, packet::B]) {
            host.ip(&format!("link set h0 address {mac}"));
        }
        let switches = attach(&fabric);
        Self { hosts, fabric, switches }
    }

    /// Enables or disables checksum offload on interfaces of the switches.
    fn offload(&self, interfaces: &[&str], on: bool) {
        for interface in interfaces {
            self.fabric.sh(&format!("ethtool -K {interface} tx {}", if on { "on" } else { "off" }));
        }
    }

    /// Gives the hosts addresses.
    fn address(&self) {
        for (host, number) in self.hosts.iter().zip(1..) {
            host.ip(&format!("addr add 10.0.0.{number}/24 dev h0"));
            host.ip(&format!("addr add fd00::{number}/64 dev h0 nodad"));
        }
    }

    /// The links of both hosts.
    fn taps(&self) -> [Tap; 2] {
        self.hosts.each_ref().map(|host| Tap::open(host, "h0"))
    }
}

/// A row of switches in mode `tcp-path`.
fn exploring() -> Row<Switch> {
    // The stations are announced once: on a busy machine a test takes longer than a lock lasts by default.
    let lock = weft_units::Duration::from_secs(300);
    let settings = Settings::new(&Exploration { lock, ..Exploration::default() });
    let (host, switch) = (Port::decided(false, true), Port::decided(true, false));
    let ports = [[host, switch], [switch, switch], [switch, host]];
    let attach = |fabric: &Netns, at| Switch::attach(fabric, Mode::TcpPath, settings, PORTS[at], ports[at]);
    Row::new(|fabric| std::array::from_fn(|at| attach(fabric, at)))
}

/// Checks that `sent` arrives at `tap` unchanged, except that its checksum may have been filled in. `what` describes a
/// failure.
fn arrives(tap: &Tap, sent: &Frame, what: impl Fn() -> String) {
    let wanted = |bytes: &[u8]| bytes.starts_with(packet::until_checksum(&sent.bytes));
    let got = tap.next(wanted).unwrap_or_else(|| panic!("{}: the frame did not arrive", what()));
    if got.partial.is_some() {
        assert_eq!(&got, sent, "{}", what());
        return;
    }
    assert!(is_complete(&got.bytes), "{}: wrong checksum: {:02x?}", what(), got.bytes);
    let (got, sent) = (packet::without_checksum(&got.bytes), packet::without_checksum(&sent.bytes));
    assert_eq!(got, sent, "{}", what());
}

#[test]
#[ignore = "needs root and BPF"]
fn what_a_host_sends_arrives_byte_for_byte_with_its_checksum() {
    let row = exploring();
    let ([a, b], middle) = (row.taps(), Tap::open(&row.fabric, "s2a"));
    for host in [&a, &b] {
        host.send(&packet::announcement(std::ptr::eq(host, &b)));
    }
    assert!(a.next(|bytes| bytes.starts_with(&[0xff; 6])).is_some(), "the broadcast must arrive");
    let mut port = 1000;
    for offload in [true, false] {
        row.offload(OTHERS, offload);
        for ipv6 in [false, true] {
            for tags in 0..=2 {
                for (partial, options, data) in
                    [(true, 0, 0), (true, 20, 0), (true, 0, 700), (false, 20, 0), (false, 0, 1)]
                {
                    port += 1;
                    let what =
                        format!("offload {offload}, IPv6 {ipv6}, {tags} tags, {partial} {options} {data}");
                    let segment = Segment { ipv6, tags, port, partial, options, data };
                    let syn = segment.frame(false, packet::SYN);
                    a.send(&syn);
                    let explored = middle.next(|bytes| path_type(bytes) == Some(1));
                    let explored = explored.unwrap_or_else(|| panic!("{what}: no Path Request"));
                    if explored.partial.is_none() {
                        assert!(is_complete(&explored.bytes), "{what}, wrapped: {:02x?}", explored.bytes);
                    }
                    arrives(&b, &syn, || format!("{what}, SYN"));
                    let answer = segment.frame(true, packet::SYN | packet::ACK);
                    b.send(&answer);
                    arrives(&a, &answer, || format!("{what}, SYN+ACK"));
                    let known = row.switches.iter().map(|switch| {
                        let of_port = |end: u64| end as u16 == port;
                        let entries = switch.paths().into_iter();
                        entries.filter(|(flow, _)| of_port(flow.host) || of_port(flow.peer)).count()
                    });
                    assert_eq!(
                        known.collect::<Vec<_>>(),
                        [2; 3],
                        "{what}: every switch must have two entries for the flow"
                    );
                    let data = Segment { options: 0, data: 1000, ..segment }.frame(false, packet::ACK);
                    a.send(&data);
                    arrives(&b, &data, || format!("{what}, data"));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_frame_of_the_switchs_own_carries_nothing_of_the_one_it_is_written_over() {
    let row = exploring();
    let ([a, _], middle) = (row.taps(), Tap::open(&row.fabric, "s2a"));
    a.send(&packet::announcement(false));
    let (mut port, mut pending) = (1000, 0);
    for offload in [true, false] {
        row.offload(OTHERS, offload);
        for ipv6 in [false, true] {
            for tags in 0..=2 {
                port += 1;
                let segment = Segment { ipv6, tags, port, partial: true, options: 0, data: 600 };
                let frame = segment.to_nobody(port, packet::ACK);
                a.send(&frame);
                let what = format!("offload {offload}, IPv6 {ipv6}, {tags} tags");
                // Not one for an earlier station.
                let nobody = &frame.bytes[..6];
                let is_for_it = |bytes: &[u8]| bytes.windows(6).any(|address| address == nobody);
                let request = middle.next(|bytes| path_type(bytes) == Some(4) && is_for_it(bytes));
                let request = request.unwrap_or_else(|| panic!("{what}: no Path Request for the station"));
                // The kernel clears the pending checksum of an IP packet with at most one tag, and hardly ever with two.
                assert!(request.partial.is_none() || tags == 2 && offload, "{what}");
                pending += u32::from(request.partial.is_some());
                assert!(own_is_clean(&request, tags), "{what}: {:02x?}", request.bytes);
            }
        }
    }
    assert!(pending > 0, "no frame had a pending checksum");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_real_connection_carries_data_over_explored_paths() {
    let row = exploring();
    row.address();
    for (offload, address) in
        [(true, "10.0.0.2:80"), (true, "[fd00::2]:80"), (false, "10.0.0.2:81"), (false, "[fd00::2]:81")]
    {
        const BYTES: usize = 8_000_000;
        row.offload(OTHERS, offload);
        let listener = row.hosts[1].run(move || TcpListener::bind(address)).expect("a free port");
        let server = row.hosts[1].spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut got = Vec::new();
            stream.read_to_end(&mut got)?;
            stream.write_all(&got[..1000])?;
            std::io::Result::Ok(got)
        });
        let sent: Vec<u8> = (0..BYTES).map(|at| ((at * 7) >> 3) as u8).collect();
        let copy = sent.clone();
        let client = row.hosts[0].spawn(move || {
            let mut stream = TcpStream::connect_timeout(&address.parse().expect("an address"), DEADLINE)?;
            stream.set_read_timeout(Some(DEADLINE))?;
            stream.write_all(&copy)?;
            stream.shutdown(std::net::Shutdown::Write)?;
            let mut back = Vec::new();
            stream.read_to_end(&mut back)?;
            std::io::Result::Ok(back)
        });
        let back = client.join().expect("no panic").unwrap_or_else(|error| panic!("{address}: {error}"));
        let got = server.join().expect("no panic").unwrap_or_else(|error| panic!("{address}: {error}"));
        assert!(got == sent && back == sent[..1000], "{address}: received data differs from sent data");
        for switch in &row.switches {
            let port: u16 = if offload { 80 } else { 81 };
            let known = switch.paths().into_iter();
            let known = known.filter(|(flow, _)| flow.host as u16 == port || flow.peer as u16 == port);
            assert!(
                known.count() >= 2,
                "{address}: the flow must have been explored; dropped: {:?}",
                switch.plane.counters()
            );
        }
    }
}
