//! The language of the vectors, and the endpoint that runs them.
//!
//! A line is a time in milliseconds since the handshake, and what happens then: `write N` segments; `> 1-3 ~1`: these
//! segments leave, `~` marks retransmissions; `< 3 sack 5-6 8 echo 20`: an ACK for the first three segments that reports
//! some and echoes the timestamp of 20 ms, otherwise of the first transmission of the oldest segment outstanding; `mark`: the
//! ACK carries ECE; `cwnd N`, `ssthresh N` (segments, `-`: none), `rto N` (milliseconds), `timeouts N`. What leaves
//! without a line fails.

use std::collections::BTreeMap;

use crate::common::hand::{FIRST, PEER};
use weft_transport::{Config, Endpoint, Flags, ProtocolConfig as _, Segment};
use weft_units::Time;

/// Where the expected behaviour is written down, how the endpoint is set, and what happens.
pub struct Vector {
    pub name: &'static str,
    pub source: &'static str,
    pub tune: fn(&mut Config),
    /// Round-trip time of the handshake, milliseconds.
    pub rtt: u64,
    pub script: &'static str,
}

const MS: u64 = 1_000_000_000;
/// The time of the end of the handshake.
const START: u64 = 100_000 * MS;

/// Runs all vectors, and fails with the names of those that do.
pub fn check(vectors: &[Vector]) {
    let fails = |vector: &&Vector| std::panic::catch_unwind(|| vector.check()).is_err();
    let failed: Vec<_> = vectors.iter().filter(fails).map(|vector| vector.name).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// An endpoint in the middle of a script.
struct Run {
    cfg: Config,
    now: Time,
    end: Endpoint,
    /// Oldest segment outstanding, from 1.
    head: u32,
    /// First transmissions: segment to timestamp.
    first: BTreeMap<u32, u32>,
    left: Vec<String>,
}

impl Vector {
    /// Runs the script.
    fn check(&self) {
        let mut cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        (self.tune)(&mut cfg);
        cfg.validate().expect("a valid config");
        let mut run = Run::open(cfg, self.rtt);
        for line in self.script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (at, action) = line.split_once(' ').expect("a time and an action");
            let place = format!("{} ({}): {line}", self.name, self.source);
            run.wait(START + at.parse::<u64>().expect("a time") * MS, &place);
            run.act(action, &place);
        }
        assert!(run.left.is_empty(), "{}: {:?} left unexpectedly", self.name, run.left);
    }
}

impl Run {
    fn open(cfg: Config, rtt: u64) -> Self {
        let before = Time::from_ps(START - rtt * MS);
        let mut run = Self {
            end: Endpoint::connect(&cfg, before, FIRST - 1),
            cfg,
            now: before,
            head: 1,
            first: BTreeMap::new(),
            left: Vec::new(),
        };
        run.collect();
        run.now = Time::from_ps(START);
        let mut answer = run.segment((before.ps() / MS) as u32);
        (answer.seq, answer.flags) = (PEER - 1, answer.flags | Flags::SYN | Flags::ECE);
        run.receive(answer);
        run
    }

    fn clock(&self) -> u32 {
        (self.now.ps() / MS) as u32
    }

    fn segment(&self, echo: u32) -> Segment {
        let flags = if self.cfg.timestamps { Flags::ACK | Flags::TS } else { Flags::ACK };
        let (ts_val, ts_ecr) = (self.clock(), echo);
        Segment { seq: PEER, ack: FIRST, window: 1 << 24, flags, ts_val, ts_ecr, ..Segment::default() }
    }

    fn receive(&mut self, segment: Segment) {
        self.end.on_segment(&self.cfg, self.now, &segment);
        self.collect();
    }

    /// Notes what leaves now.
    fn collect(&mut self) {
        let mut out = Segment::default();
        while self.end.poll_transmit(&self.cfg, self.now, &mut out) {
            if out.len > 0 {
                let number = (out.seq - FIRST) / u32::from(self.cfg.mss) + 1;
                let clock = self.clock();
                self.first.entry(number).or_insert(clock);
                let again = if out.retransmission { "~" } else { "" };
                self.left.push(format!("{again}{number}"));
            }
        }
    }

    /// Lets timers expire until `at`; what they send may leave up to a millisecond before or after it.
    fn wait(&mut self, at: u64, place: &str) {
        while self.end.next_timeout().ps() < at + MS {
            assert!(self.left.is_empty(), "{place}: {:?} left before", self.left);
            self.now = self.now.max(self.end.next_timeout());
            self.end.on_timeout(&self.cfg, self.now);
            self.collect();
            assert!(self.left.is_empty() || self.now.ps() + MS > at, "{place}: {:?} left early", self.left);
        }
        self.now = self.now.max(Time::from_ps(at));
    }

    fn act(&mut self, action: &str, place: &str) {
        let words: Vec<&str> = action.split(' ').collect();
        if words[0] != ">" && matches!(words[0], "<" | "write") {
            assert!(self.left.is_empty(), "{place}: {:?} left before", self.left);
        }
        let mss = u32::from(self.cfg.mss);
        let windows = |bytes: u32| if bytes == u32::MAX { "-".into() } else { (bytes / mss).to_string() };
        let found = match words[0] {
            "write" => {
                self.end.write(u64::from(number(words[1])) * u64::from(mss));
                return self.collect();
            }
            "<" => return self.ack(&words[1..]),
            ">" => {
                let all: Vec<String> = words[1..].iter().flat_map(|word| spread(word)).collect();
                assert_eq!(std::mem::take(&mut self.left), all, "{place}");
                return;
            }
            "cwnd" => windows(self.end.cwnd(&self.cfg)),
            "ssthresh" => windows(self.end.ssthresh()),
            "rto" => ((self.end.rto(&self.cfg).ps() + MS / 2) / MS).to_string(),
            "timeouts" => self.end.stats().timeouts.to_string(),
            other => panic!("{place}: unknown action `{other}`"),
        };
        assert_eq!(found, words[1], "{place}");
    }

    fn ack(&mut self, words: &[&str]) {
        let mss = u32::from(self.cfg.mss);
        let acked = number(words[0]);
        let mut segment = self.segment(self.first.get(&self.head).copied().unwrap_or_default());
        segment.ack = FIRST + acked * mss;
        let mut words = words[1..].iter();
        while let Some(&word) = words.next() {
            match word {
                "echo" => segment.ts_ecr = (START / MS) as u32 + number(words.next().unwrap()),
                "mark" => segment.flags |= Flags::ECE,
                "sack" => {}
                block => {
                    let (from, to) = range(block);
                    segment.sacks[usize::from(segment.sack_count)] =
                        (FIRST + (from - 1) * mss, FIRST + to * mss);
                    segment.sack_count += 1;
                }
            }
        }
        self.head = self.head.max(acked + 1);
        self.receive(segment);
    }
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is not a number"))
}

/// `3-5` or `3`.
fn range(word: &str) -> (u32, u32) {
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    (number(from), number(to))
}

/// The single segments of `~3-5`.
fn spread(word: &str) -> Vec<String> {
    let again = if word.starts_with('~') { "~" } else { "" };
    let (from, to) = range(word.trim_start_matches('~'));
    (from..=to).map(|n| format!("{again}{n}")).collect()
}
