//! The `ns3-3.37` profile compared with ns-3.37: one flow over one link with chosen packets lost or delayed must send
//! the same data at the same times. `tests/ns3/traces.txt` is ns-3's output; `tests/ns3/make.sh` writes it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use weft_transport::{Config, CongestionControl, Endpoint, Segment};
use weft_units::{Bytes, Duration, Time};

/// ns-3 lets the application write 1 ns after the handshake; otherwise times agree exactly.
const TOLERANCE_NS: u64 = 2;

/// A segment with data: ns since the start, sequence number with ISN 0, bytes.
type Sent = (u64, u32, u32);

struct Case {
    name: String,
    arguments: BTreeMap<String, String>,
    sent: Vec<Sent>,
    fct: u64,
}

impl Case {
    fn number(&self, name: &str, default: u64) -> u64 {
        self.arguments.get(name).map_or(default, |value| value.parse().unwrap())
    }

    /// The plan for packets that arrive at one end, by index: their delay in ns; negative: lost.
    fn plan(&self, name: &str) -> BTreeMap<u32, i64> {
        let text = self.arguments.get(name).map_or("", String::as_str);
        let item = |item: &str| {
            let (index, late) = item.split_once(':').unwrap();
            (index.parse().unwrap(), late.parse().unwrap())
        };
        text.split(',').filter(|text| !text.is_empty()).map(item).collect()
    }
}

fn read_cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("../ns3/traces.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "case" {
            let pair =
                |word: &&str| word.trim_start_matches('-').split_once('=').map(|(a, b)| (a.into(), b.into()));
            cases.push(Case {
                name: words[1].into(),
                arguments: words[2..].iter().filter_map(pair).collect(),
                sent: Vec::new(),
                fct: 0,
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        match words[..] {
            ["fct", ns] => case.fct = ns.parse().unwrap(),
            [ns, seq, len] => {
                case.sent.push((ns.parse().unwrap(), seq.parse().unwrap(), len.parse().unwrap()))
            }
            _ => panic!("{line}"),
        }
    }
    cases
}

fn config(case: &Case) -> Config {
    let reno = case.arguments["tcp"] == "TcpNewReno";
    Config {
        mss: 1448,
        sack: case.arguments["sack"] == "1",
        congestion_control: if reno { CongestionControl::Reno } else { CongestionControl::Cubic },
        receive_buffer: Bytes(1 << 22),
        initial_receive_window: Bytes(1 << 22),
        send_buffer: Bytes(1 << 22),
        ..Config::profile("ns3-3.37").unwrap()
    }
}

/// ns-3's point-to-point link: 2 bytes of PPP, times in ns, a queue.
struct Wire {
    busy_until: u64,
    waiting: VecDeque<u64>,
    arrived: u32,
    plan: BTreeMap<u32, i64>,
}

/// Runs a case; returns the data segments sent until the receiver had everything, and when that was.
fn run(case: &Case) -> (Vec<Sent>, u64) {
    let cfg = config(case);
    let bytes = case.number("bytes", 100_000);
    let (mbps, delay, queue) =
        (case.number("mbps", 1000), case.number("delay", 25_000), case.number("queue", 100));
    let start = case.number("start", 1_000_000);
    let ns = |at: u64| Time::from_ps(at * 1000);
    let mut side = [Endpoint::connect(&cfg, ns(start), 0), Endpoint::listen(&cfg, 0)];
    side[0].write(bytes);
    side[0].close();
    let wire = |plan| Wire { busy_until: 0, waiting: VecDeque::new(), arrived: 0, plan };
    let mut wires = [wire(case.plan("forward")), wire(case.plan("backward"))];
    let mut events = BinaryHeap::new();
    let mut segments: Vec<Segment> = Vec::new();
    let mut sent = Vec::new();
    let mut now = start;
    loop {
        for from in 0..2 {
            let mut segment = Segment::default();
            while side[from].poll_transmit(&cfg, ns(now), &mut segment) {
                if from == 0 && segment.len > 0 {
                    sent.push((now - start, segment.seq, u32::from(segment.len)));
                }
                let wire = &mut wires[from];
                // A packet whose transmission ends now still occupies its slot: ns-3 processes simultaneous
                // events in the order of scheduling.
                while wire.waiting.front().is_some_and(|&end| end < now) {
                    wire.waiting.pop_front();
                }
                if wire.waiting.len() as u64 > queue {
                    continue;
                }
                wire.busy_until =
                    wire.busy_until.max(now) + u64::from(segment.ip_bytes() + 2) * 8 * 1000 / mbps;
                wire.waiting.push_back(wire.busy_until);
                segments.push(segment);
                events.push(Reverse((wire.busy_until + delay, segments.len(), from, false)));
            }
        }
        let timer = side[0].next_timeout().min(side[1].next_timeout());
        let packet = events.peek().map_or(Time::MAX, |&Reverse((at, ..))| ns(at));
        assert!(timer.min(packet) < ns(600_000_000_000), "{}: not all bytes arrived", case.name);
        if timer < packet {
            now = timer.ps() / 1000;
            for side in &mut side {
                side.on_timeout(&cfg, ns(now));
            }
            continue;
        }
        let Some(Reverse((at, id, from, late))) = events.pop() else { continue };
        now = at;
        if !late {
            let wire = &mut wires[from];
            wire.arrived += 1;
            if let Some(&by) = wire.plan.get(&(wire.arrived - 1)) {
                if by >= 0 {
                    events.push(Reverse((at + by as u64, id, from, true)));
                }
                continue;
            }
        }
        side[1 - from].on_segment(&cfg, ns(now), &segments[id - 1]);
        if side[1].delivered() == bytes {
            return (sent, now - start);
        }
    }
}

#[test]
fn data_leaves_as_in_ns3() {
    for case in read_cases() {
        let (sent, fct) = run(&case);
        let same = |a: &Sent, b: &Sent| a.0.abs_diff(b.0) <= TOLERANCE_NS && (a.1, a.2) == (b.1, b.2);
        let differs = sent.iter().zip(&case.sent).position(|(a, b)| !same(a, b));
        if let Some(at) = differs {
            panic!("{}: segment {at} is {:?}, in ns-3 {:?}", case.name, sent[at], case.sent[at]);
        }
        assert_eq!(sent.len(), case.sent.len(), "{}: segments sent", case.name);
        assert!(fct.abs_diff(case.fct) <= TOLERANCE_NS, "{}: {fct} ns, in ns-3 {}", case.name, case.fct);
    }
}

#[test]
fn a_lone_flow_takes_as_long_as_in_ns3() {
    let idle = read_cases().into_iter().filter(|case| case.name.starts_with("idle"));
    for case in idle {
        let (_, fct) = run(&case);
        let error = Duration::from_ns(fct).as_secs_f64() / Duration::from_ns(case.fct).as_secs_f64() - 1.0;
        assert!(error.abs() < 0.005, "{}: {:.3} % off", case.name, error * 100.0);
    }
}
