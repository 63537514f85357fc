//! Rules of host schemes by hand: segments in, entropy out, without a network.

use std::sync::Arc;

use weft_fabric::{FabricBuilder, LinkSpec, build};
use weft_switching::ecmp::Ecmp;
use weft_switching::host::distinct_paths::{DistinctPaths, PathFinder};
use weft_switching::host::path_selector::{Host, Opening, PathSelector};
use weft_switching::host::selected::{Selected, Selecting, Shared};
use weft_switching::spray::Spray;
use weft_switching::{Forwarding, Header, Mac, SchemeSpec, registry};
use weft_transport::{Ecn, Flags, Segment};
use weft_units::{Duration, HostId, NodeId, Rate, Time};

use crate::common::{routes, scheme};

/// One end under a host scheme, with four paths.
struct End {
    scheme: Selecting,
    end: Selected,
    shared: Shared,
    now: Time,
    sent: u32,
    acked: u32,
}

const PATHS: [u32; 4] = [100, 200, 300, 400];

impl End {
    fn new(name: &str) -> Self {
        Self::of(&scheme(name))
    }

    fn of(spec: &SchemeSpec) -> Self {
        let scheme = Selecting::new(spec, 1).unwrap();
        let opening = Opening { paths: Arc::new(PATHS), random: 0, rate: Rate::from_gbps(10) };
        let end = Selected::open(&scheme, opening);
        Self { scheme, end, shared: Shared::default(), now: Time::ZERO, sent: 0, acked: 0 }
    }

    fn host(&mut self) -> (&mut Selected, Host<'_, Selected>) {
        (&mut self.end, Host { scheme: &self.scheme, shared: &mut self.shared, now: self.now })
    }

    /// The header of the next segment with 1000 bytes.
    fn send(&mut self) -> Header {
        let segment = Segment { seq: self.sent, len: 1000, flags: Flags::ACK, ..Segment::default() };
        self.sent += 1000;
        let mut header = Header::default();
        let (end, mut host) = self.host();
        end.stamp(&mut host, &mut header, &segment);
        header
    }

    /// All that was sent is acknowledged, a segment each, the first `marked` of them with an echo of a mark.
    fn acks(&mut self, marked: u32) {
        for number in 0..(self.sent - self.acked) / 1000 {
            self.acked += 1000;
            let flags = if number < marked { Flags::ACK | Flags::ECE } else { Flags::ACK };
            let segment = Segment { ack: self.acked, flags, ..Segment::default() };
            let (end, mut host) = self.host();
            assert!(!end.receive(&mut host, &Header::default(), &segment));
        }
    }

    /// A round trip of ten segments. Returns the entropy of the last one.
    fn round(&mut self, marked: u32) -> u32 {
        let entropy = (0..10).map(|_| self.send().entropy).last();
        self.now += Duration::from_us(100);
        self.acks(marked);
        entropy.unwrap()
    }

    fn timeout(&mut self) {
        let (end, mut host) = self.host();
        end.timed_out(&mut host);
    }
}

#[test]
fn flowbender_moves_after_a_round_trip_with_more_marks_than_the_threshold() {
    let mut end = End::new("flowbender");
    let first = end.round(0);
    assert_eq!(first, end.round(0));
    assert_eq!(first, end.round(1), "10 % in this round trip move the next");
    let second = end.round(0);
    assert_ne!(first, second);
    end.timeout();
    assert_ne!(second, end.round(0), "a timeout moves at once");
}

#[test]
fn flowbender_comes_back_to_the_first_of_its_choices() {
    let mut end = End::new("flowbender");
    let seen: Vec<u32> = (0..9).map(|_| end.round(10)).collect();
    let mut distinct = seen[..8].to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((distinct.len(), seen[8]), (8, seen[0]));
}

#[test]
fn plb_moves_an_idle_flow_after_three_congested_round_trips_and_others_after_twelve() {
    let mut end = End::new("plb");
    let first = end.round(5);
    assert_eq!([end.round(5), end.round(5)], [first; 2]);
    assert_ne!(end.round(4), first, "nothing was in flight");
    // Now with a segment in flight at all times.
    let mut end = End::new("plb");
    let first = end.send().entropy;
    // The first acknowledgement opens the first round trip.
    for _ in 0..13 {
        assert_eq!(end.send().entropy, first);
        end.acked += 1000;
        let ack = Segment { ack: end.acked, flags: Flags::ACK | Flags::ECE, ..Segment::default() };
        let (selected, mut host) = end.host();
        selected.receive(&mut host, &Header::default(), &ack);
    }
    assert_ne!(end.send().entropy, first);
}

#[test]
fn plb_starts_to_count_again_after_a_round_trip_without_congestion() {
    let mut end = End::new("plb");
    let first = end.round(10);
    assert_eq!([end.round(10), end.round(4), end.round(10), end.round(10)], [first; 4]);
    assert_eq!(end.round(0), first, "two in a row");
}

#[test]
fn plb_moves_at_a_timeout_and_then_pauses_for_one_to_two_minutes() {
    let mut end = End::new("plb");
    let first = end.round(0);
    end.timeout();
    let second = end.round(10);
    assert_ne!(first, second);
    assert!((0..40).all(|_| end.round(10) == second));
    end.now += Duration::from_secs(121);
    end.round(10);
    assert_ne!(end.round(10), second);
}

/// Six paths from `first` on.
fn in_turn(first: u32) -> Vec<u32> {
    PATHS.into_iter().cycle().skip_while(|path| *path != first).take(6).collect()
}

#[test]
fn drb_takes_the_paths_in_turn() {
    let mut end = End::new("drb");
    let sent: Vec<u32> = (0..6).map(|_| end.send().entropy).collect();
    assert_eq!(sent, in_turn(sent[0]));
}

#[test]
fn presto_takes_the_next_path_after_64_kib_and_numbers_the_cells() {
    let mut end = End::new("presto");
    let sent: Vec<Header> = (0..131).map(|_| end.send()).collect();
    let cells = sent.iter().map(|header| (header.entropy, header.overlay[7]));
    let mut cells: Vec<(u32, u8, usize)> = cells.map(|(path, cell)| (path, cell, 1)).collect();
    cells.dedup_by(|next, last| {
        let same = (next.0, next.1) == (last.0, last.1);
        last.2 += usize::from(same);
        same
    });
    let paths = in_turn(cells[0].0);
    assert_eq!(cells, [(paths[0], 0, 65), (paths[1], 1, 65), (paths[2], 2, 1)]);
}

#[test]
fn clove_keeps_a_flowlet_on_its_path_and_avoids_a_path_that_the_other_side_reports() {
    let mut end = End::new("clove");
    let first = end.send();
    assert_eq!(end.send().entropy, first.entropy);
    let report = [0, 1, 0, 0, 0, 0, 0, 0];
    let mut flowlets = |reported: bool| {
        let mut counts = [0_usize; 4];
        for _ in 0..400 {
            end.now += Duration::from_us(100);
            let path = PATHS.iter().position(|path| *path == end.send().entropy).unwrap();
            counts[path] += 1;
            if reported {
                let (selected, mut host) = end.host();
                let header = Header { overlay: report, ..Header::default() };
                let segment = Segment { flags: Flags::ACK, ..Segment::default() };
                selected.receive(&mut host, &header, &segment);
            }
        }
        counts
    };
    assert!(flowlets(false).iter().all(|count| count.abs_diff(100) <= 1));
    assert!(flowlets(true)[0] < 10);
}

#[test]
fn a_clove_end_reports_the_path_of_a_marked_packet() {
    let (mut source, mut end) = (End::new("clove"), End::new("clove"));
    let header = source.send();
    let segment = Segment { len: 1000, ecn: Ecn::Ce, flags: Flags::ACK, ..Segment::default() };
    end.now += Duration::from_us(10);
    let (selected, mut host) = end.host();
    selected.receive(&mut host, &header, &segment);
    let reports: Vec<u8> = (0..2).map(|_| end.send().overlay[1]).collect();
    assert_eq!(reports, [header.overlay[0], 0], "once for a mark");
}

#[test]
fn hermes_chooses_another_path_at_a_timeout_and_has_one_even_if_all_have_failed() {
    let mut end = End::new("hermes");
    let first = end.round(0);
    assert_eq!(end.round(0), first, "it keeps a path that works");
    let mut used = Vec::new();
    for _ in 0..40 {
        end.timeout();
        used.push(end.send().entropy);
    }
    assert!(PATHS.iter().all(|path| used.contains(path)), "{used:?}");
}

#[test]
fn a_hermes_probe_is_answered_with_its_path_and_mark_and_kept_from_tcp() {
    let (mut source, mut other) = (End::new("hermes"), End::new("hermes"));
    source.round(0);
    other.round(0);
    source.now += Duration::from_ms(1);
    let mut probes = Vec::new();
    let (mut header, mut segment) = (Header::default(), Segment::default());
    let (selected, mut host) = source.host();
    while selected.own(&mut host, &mut header, &mut segment) {
        probes.push((header, segment));
    }
    assert_eq!(probes.len(), 3);
    let (probe, segment) = probes[0];
    let marked = Segment { ecn: Ecn::Ce, ..segment };
    let (selected, mut host) = other.host();
    assert!(selected.receive(&mut host, &probe, &marked), "TCP does not see it");
    let mut answer = Header::default();
    let mut sent = Segment::default();
    while selected.own(&mut host, &mut answer, &mut sent) && answer.overlay[0] != 2 {}
    assert_eq!((answer.overlay[0], answer.overlay[1], answer.overlay[2]), (2, probe.overlay[1], 1));
    let (selected, mut host) = source.host();
    assert!(selected.receive(&mut host, &answer, &sent));
}

#[test]
fn any_header_from_the_other_side_is_harmless() {
    for name in registry().iter().filter(|known| known.is_at_hosts).map(|known| known.name) {
        let mut end = End::new(name);
        for number in 0..2000_u64 {
            let random = weft_switching::mix64(number);
            let header = Header { overlay: random.to_be_bytes(), ..Header::default() };
            let flags = Flags((random >> 3) as u8);
            let (seq, ack) = (random as u32, (random >> 32) as u32);
            let segment =
                Segment { seq, ack, len: (random >> 50) as u16, flags, ecn: Ecn::Ce, ..Segment::default() };
            let (selected, mut host) = end.host();
            selected.receive(&mut host, &header, &segment);
            let mut out = Segment::default();
            while selected.release(Time::MAX, &mut out) {}
            let sent =
                (0..100).take_while(|_| selected.own(&mut host, &mut Header::default(), &mut out)).count();
            assert!(sent < 20, "{name} answers without end");
            let entropy = end.send().entropy;
            let names_paths = !["flowbender", "plb"].contains(&name);
            assert!(!names_paths || PATHS.contains(&entropy), "{name}: {entropy}");
        }
    }
}

#[test]
fn all_equal_cost_paths_are_found_and_the_first_choice_changes_fastest() {
    let link = LinkSpec::default();
    let fabric = build::fat_tree(4, &link, &link).unwrap();
    let routes = routes(&fabric, &[]);
    let ecmp = Ecmp::new(Arc::clone(&routes), 7, &scheme("ecmp"));
    let finder = DistinctPaths::new(&fabric, &ecmp);
    let edge = fabric.link(fabric.ports(fabric.hosts()[0])[0]).to;
    for (host, count) in [(15, 4), (2, 2), (1, 1)] {
        let paths = finder.paths(edge, HostId(host), &routes);
        assert_eq!(paths.len(), count, "to host {host}");
        let first: Vec<u16> =
            paths.iter().map(|path| first_port(&ecmp, &fabric, edge, host, *path)).collect();
        assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "{first:?}");
    }
}

fn first_port(ecmp: &Ecmp, fabric: &weft_fabric::Fabric, edge: NodeId, host: u32, path: u32) -> u16 {
    use weft_switching::{Blueprint, Switch};
    let header = Header { dst: Mac::of_host(host), entropy: path, ..Header::default() };
    ecmp.switch(fabric, edge).decide(&header).unwrap().0
}

#[test]
fn no_path_is_named_where_there_is_none_or_where_switches_draw() {
    let mut builder = FabricBuilder::new("apart");
    let nodes = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switch = builder.add_switch("s0", 1, None).unwrap();
    for host in nodes {
        builder.connect(host, switch, &LinkSpec::default()).unwrap();
    }
    let fabric = builder.build().unwrap();
    let cut: Arc<Forwarding> = Arc::new(Forwarding::new(&fabric, |_| false));
    let ecmp = Ecmp::new(Arc::clone(&cut), 7, &scheme("ecmp"));
    assert!(DistinctPaths::new(&fabric, &ecmp).paths(switch, HostId(1), &cut).is_empty());
    let routes = routes(&fabric, &[]);
    let spray = Spray::new(Arc::clone(&routes));
    assert!(DistinctPaths::new(&fabric, &spray).paths(switch, HostId(1), &routes).is_empty());
}
