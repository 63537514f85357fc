//! Tags on veth links, over three switches: pushed at the first, followed by the second, popped at the last.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, PortGate, SwitchGates};
use weft_switchd::Mode;
use weft_switchd::layout::{Port, Settings};
use weft_switchd::tags::{Rules, Tagging};
use weft_switching::exploration::Exploration;
use weft_switching::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, Way};
use weft_units::PortId;
use weft_wire::{Tag, TagWidth, TaggedFrame};

use crate::net::Netns;
use crate::wait::{DEADLINE, wait_for};
use crate::wires::packet::{self, Segment};
use crate::wires::switch::Switch;
use crate::wires::tap::{Frame, Tap};
use crate::wires::{PORTS, Row, arrives};

/// Gates of the two servers, and of the uplinks.
const SERVERS: [u32; 2] = [2, 10];
const UP: u32 = 8;
/// The queue of the rules, and the major number of the HTB classes.
const QUEUE: u8 = 3;
const MAJOR: u16 = 7;

/// A switch and its rules.
struct Steered {
    switch: Switch,
    rules: Rules,
}

impl Steered {
    /// Attaches Tag-and-Forward to two interfaces of `fabric`.
    fn attach(
        fabric: &Netns,
        width: TagWidth,
        interfaces: [&str; 2],
        gates: [(u32, Option<GateFlag>); 2],
    ) -> Self {
        let tagging =
            Tagging { width, ethertype: width.ethertype(), queue_major: MAJOR, ..Tagging::default() };
        let settings = Settings::new(&Exploration::default()).tagging(&tagging);
        let ports = [Port::decided(false, true); 2];
        let mut switch = Switch::attach(fabric, Mode::TagForward, settings, interfaces, ports);
        let gate = |(port, (gate, flag)): (u16, (u32, Option<GateFlag>))| PortGate {
            port: PortId(port),
            gate: Gate(gate),
            direction: if gate == UP { Direction::Up } else { Direction::Down },
            flag,
            peer: String::new(),
        };
        let down_divisor = if gates.iter().any(|(_, flag)| flag.is_some()) { 2 } else { 4 };
        let gates = (0..).zip(gates).map(gate).collect();
        let (name, layer) = ("s".to_owned(), Layer::Edge);
        let gates = SwitchGates { switch: name, layer, down_divisor, up_divisor: 8, gates };
        switch.plane.set_gates(&gates).expect("sound");
        let rules = Rules::open(width, &switch.pins).expect("maps");
        Self { switch, rules }
    }

    /// Adds rules that send packets to these addresses up, to a server's gate.
    fn steer(&mut self, to: &[&str], down: u32, queue: u8) {
        let to = to.iter().map(|address| {
            let action = FlowAction { queue, down, to: FlowTarget::Way(Way { gate: Gate(UP), up: 0 }) };
            let matches = FlowMatch::to(address.parse().expect("an address"));
            FlowChange::Add(FlowRule { priority: 1, matches, action })
        });
        self.rules.apply(&to.collect::<Vec<_>>()).expect("new rules");
    }
}

/// A row of switches in mode `tag-forward`.
fn tagging(width: TagWidth) -> Row<Steered> {
    Row::new(|fabric| {
        for between in ["s1b", "s2a", "s2b", "s3a"] {
            fabric.ip(&format!("link set {between} mtu 1508"));
        }
        let server = |number: usize| (SERVERS[number], Some(GateFlag::Srv));
        // The smallest multiples of 4 not below the servers' gates, at the second switch.
        let gates = [[server(0), (UP, None)], [(4, None), (12, None)], [(UP, None), server(1)]];
        let mut switches = std::array::from_fn(|at| Steered::attach(fabric, width, PORTS[at], gates[at]));
        let v6 = |last: u8| format!("fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fd{last:02x}");
        switches[0].steer(&["10.0.0.11", &v6(11), "10.0.0.2", "fd00::2"], SERVERS[1], QUEUE);
        switches[2].steer(&["10.0.0.10", &v6(10), "10.0.0.1", "fd00::1"], SERVERS[0], QUEUE);
        switches
    })
}

#[test]
#[ignore = "needs root and BPF"]
fn a_frame_is_tagged_between_switches_and_arrives_byte_for_byte() {
    for width in TagWidth::ALL {
        let row = tagging(width);
        let ([a, b], middle) = (row.taps(), Tap::open(&row.fabric, "s3a"));
        let mut port = 1000;
        for offload in [true, false] {
            row.offload(PORTS.as_flattened(), offload);
            for ipv6 in [false, true] {
                for tags in 0..=2 {
                    for (partial, data) in [(true, 0), (true, 700), (false, 1), (false, 1400), (true, 1420)] {
                        port += 1;
                        let what =
                            format!("{width}, offload {offload}, IPv6 {ipv6}, {tags} tags, {partial} {data}");
                        let frame = Segment { ipv6, tags, port, partial, options: 0, data };
                        for back in [false, true] {
                            let (from, to) = if back { (&b, &a) } else { (&a, &b) };
                            let sent = frame.frame(back, packet::ACK);
                            from.send(&sent);
                            arrives(to, &sent, || {
                                let dropped =
                                    row.switches.each_ref().map(|steered| steered.switch.plane.counters());
                                format!("{what}, {dropped:?}")
                            });
                            if !back {
                                let tagged =
                                    middle.next(|bytes| bytes[12..14] == width.ethertype().0.to_be_bytes());
                                let tagged = tagged.unwrap_or_else(|| panic!("{what}: the frame has no tag"));
                                let read = TaggedFrame::parse(&tagged.bytes, width, width.ethertype())
                                    .expect("a tag");
                                assert_eq!(
                                    read.tag(),
                                    Tag { queue: QUEUE, up: 0, down: SERVERS[1] },
                                    "{what}"
                                );
                            }
                        }
                    }
                }
            }
        }
        let [first, second, third] = row.switches.each_ref().map(|steered| {
            let counters = steered.switch.plane.tag_counters().expect("a map");
            (counters.pushed, counters.forwarded, counters.popped)
        });
        let frames = u64::from(port - 1000);
        assert_eq!(
            (first, second, third),
            ((frames, frames, frames), (0, 2 * frames, 0), (frames, frames, frames))
        );
        // A tag from a host is not trusted.
        a.send(&Frame {
            segment: 0,
            bytes: [&[2; 12][..], &width.ethertype().0.to_be_bytes(), &[1; 60]].concat(),
            partial: None,
        });
        let untrusted = || row.switches[0].switch.dropped("untrusted") == 1;
        wait_for("the tagged frame of a host is dropped", untrusted);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn hosts_ask_for_each_other_and_talk_in_the_queue_of_their_rule() {
    let row = tagging(TagWidth::Narrow);
    row.address();
    row.hosts.iter().for_each(|host| host.sh("ethtool -K h0 tso off gso off"));
    row.fabric.sh(&format!("tc qdisc add dev s2b root handle {MAJOR}: htb default 1"));
    for class in 1..=8 {
        row.fabric
            .sh(&format!("tc class add dev s2b parent {MAJOR}: classid {MAJOR}:{class} htb rate 1gbit"));
    }
    let patience = DEADLINE.as_secs();
    let ping = |words: &str| row.hosts[0].sh(&format!("ping -i 0.05 -W {patience} {words}"));
    // ARP and neighbour discovery follow the rules; nothing is flooded.
    for address in ["10.0.0.2", "fd00::2"] {
        ping(&format!("-c 3 -s 1400 {address}"));
    }
    ping("-c 2 -M do -s 1472 10.0.0.2");
    for address in ["10.0.0.2:90", "[fd00::2]:90"] {
        let socket = row.hosts[1].run(move || UdpSocket::bind(address)).expect("a free port");
        socket.set_read_timeout(Some(DEADLINE)).expect("a socket");
        row.hosts[0]
            .run(move || {
                let socket = UdpSocket::bind(if address.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" })?;
                (0..40_u8).try_for_each(|n| socket.send_to(&[n; 1000], address).map(drop))
            })
            .expect("a datagram is sent");
        let mut buffer = [0; 2000];
        // 40 fit in the default receive buffer, at 4352 bytes each.
        for n in 0..40 {
            let len = socket.recv(&mut buffer).unwrap_or_else(|error| panic!("{address}, {n}: {error}"));
            assert_eq!((len, buffer[0], buffer[999]), (1000, n, n), "{address}");
        }
    }
    for offload in [true, false] {
        row.offload(PORTS.as_flattened(), offload);
        assert_eq!(
            transfer(&row, if offload { "10.0.0.2:91" } else { "[fd00::2]:92" }, 8_000_000),
            Ok(8_000_000)
        );
    }
    let classes = row.fabric.output("tc -s class show dev s2b");
    let sent = |class: u8| -> u64 {
        let mut lines =
            classes.lines().skip_while(|line| !line.contains(&format!("class htb {MAJOR}:{class} ")));
        let words: Vec<&str> = lines.nth(1).unwrap_or_default().split_whitespace().collect();
        words.get(3).and_then(|packets| packets.parse().ok()).unwrap_or_else(|| panic!("{classes}"))
    };
    assert!(sent(QUEUE + 1) > 5000, "packets must use their rule's queue: {classes}");
    assert_eq!((1..=8).filter(|class| *class != QUEUE + 1).map(sent).sum::<u64>(), 0, "{classes}");
    assert_eq!(row.switches.each_ref().map(|steered| steered.switch.dropped("gso")), [0; 3]);
}

/// Sends bytes over TCP; returns how many arrive.
fn transfer(row: &Row<Steered>, address: &'static str, bytes: usize) -> Result<usize, String> {
    let listener = row.hosts[1].run(move || TcpListener::bind(address)).map_err(|error| error.to_string())?;
    let server = row.hosts[1].spawn(move || {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(DEADLINE))?;
        std::io::copy(&mut stream.take(bytes as u64), &mut std::io::sink())
    });
    let client = row.hosts[0].spawn(move || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_write_timeout(Some(DEADLINE))?;
        stream.write_all(&vec![7; bytes])
    });
    client.join().expect("no panic").map_err(|error| error.to_string())?;
    server.join().expect("no panic").map(|got| got as usize).map_err(|error| error.to_string())
}

#[test]
#[ignore = "needs root and BPF"]
fn segments_that_a_host_leaves_together_get_no_tag_and_are_counted() {
    let row = tagging(TagWidth::Narrow);
    row.address();
    // TCP retransmits them one by one.
    assert_eq!(transfer(&row, "10.0.0.2:93", 30_000), Ok(30_000));
    assert!(row.switches[0].switch.dropped("gso") > 0);
    let counts = row.switches[0].switch.plane.port_counters().expect("a map");
    assert_eq!((counts[0].gso, counts[1].gso), (row.switches[0].switch.dropped("gso"), 0));
}
