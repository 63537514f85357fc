//! One endpoint driven by hand: the test acts as the other side and the clock.

use weft_transport::{Config, Endpoint, Flags, ProtocolConfig as _, Segment, State};
use weft_units::{Duration, Time};

/// Sequence numbers of the first data byte of the endpoint and of the test.
pub const FIRST: u32 = 1001;
pub const PEER: u32 = 5001;

/// An endpoint under test.
pub struct Hand {
    pub cfg: Config,
    pub now: Time,
    pub end: Endpoint,
    /// The window that the test announces.
    pub window: u32,
}

impl Hand {
    /// An established client with a round-trip time of 10 ms and `segments` full segments to send.
    pub fn client(cfg: Config, segments: u64) -> Self {
        cfg.validate().expect("a valid config");
        let mut hand = Self {
            end: Endpoint::connect(&cfg, Time::ZERO, FIRST - 1),
            cfg,
            now: Time::from_ps(5_000_000_000),
            window: 1 << 20,
        };
        let syn = hand.sent();
        assert_eq!(syn.len(), 1);
        hand.wait(Duration::from_ms(10));
        hand.end.write(segments * u64::from(hand.cfg.mss));
        let mut answer = hand.segment(Flags::SYN | Flags::ACK);
        answer.seq = PEER - 1;
        if syn[0].flags.has(Flags::ECE) {
            answer.flags |= Flags::ECE;
        }
        hand.receive(answer);
        assert_eq!(hand.end.state(), State::Established);
        hand
    }

    /// Such a client that has sent what its initial window allows.
    pub fn sending(cfg: Config, segments: u64) -> Self {
        let mut hand = Self::client(cfg, segments);
        hand.data();
        hand
    }

    /// An established server that has sent no data.
    pub fn server(cfg: Config) -> Self {
        cfg.validate().expect("a valid config");
        let mut hand = Self {
            end: Endpoint::listen(&cfg, FIRST - 1),
            cfg,
            now: Time::from_ps(5_000_000_000),
            window: 1 << 20,
        };
        let mut syn = hand.segment(Flags::SYN);
        syn.seq = PEER - 1;
        syn.flags |= Flags::ECE | Flags::CWR;
        hand.receive(syn);
        assert_eq!(hand.sent().len(), 1);
        hand.receive(hand.segment(Flags::ACK));
        assert_eq!(hand.end.state(), State::Established);
        hand
    }

    /// A segment from the test without data.
    pub fn segment(&self, flags: Flags) -> Segment {
        let ms = (self.now.ps() / 1_000_000_000) as u32;
        Segment {
            seq: PEER,
            ack: FIRST,
            window: self.window,
            flags: if self.cfg.timestamps { flags | Flags::TS } else { flags },
            ts_val: ms,
            ts_ecr: ms.saturating_sub(10),
            ..Segment::default()
        }
    }

    pub fn receive(&mut self, segment: Segment) {
        self.end.on_segment(&self.cfg, self.now, &segment);
    }

    /// Everything the endpoint has to send.
    pub fn sent(&mut self) -> Vec<Segment> {
        let mut all = Vec::new();
        let mut segment = Segment::default();
        while self.end.poll_transmit(&self.cfg, self.now, &mut segment) {
            all.push(segment);
            assert!(all.len() < 10_000);
        }
        all
    }

    /// The same as segment numbers from 1: `n` for new data, `-n` for a retransmission; segments without data are left
    /// out.
    pub fn data(&mut self) -> Vec<i64> {
        let mss = u32::from(self.cfg.mss);
        let number = |s: &Segment| i64::from(s.seq.wrapping_sub(FIRST) / mss) + 1;
        let data = self.sent();
        data.iter()
            .filter(|s| s.len > 0)
            .map(|s| if s.retransmission { -number(s) } else { number(s) })
            .collect()
    }

    pub fn wait(&mut self, span: Duration) {
        self.now += span;
    }

    /// First sequence number of segment `n`, counted from 1.
    pub fn start_of(&self, n: u32) -> u32 {
        FIRST.wrapping_add((n - 1) * u32::from(self.cfg.mss))
    }

    /// An ACK for the first `n` segments, with SACK blocks for segments `from..=to`, in the given order.
    pub fn ack_with(&self, n: u32, sacks: &[(u32, u32)]) -> Segment {
        let mut ack = self.segment(Flags::ACK);
        ack.ack = self.start_of(n + 1);
        for (slot, &(from, to)) in ack.sacks.iter_mut().zip(sacks) {
            *slot = (self.start_of(from), self.start_of(to + 1));
            ack.sack_count += 1;
        }
        ack
    }

    /// Receives such an ACK and returns the data sent in response.
    pub fn ack(&mut self, n: u32, sacks: &[(u32, u32)]) -> Vec<i64> {
        self.receive(self.ack_with(n, sacks));
        self.data()
    }

    /// Lets the next timer expire and returns the data sent in response.
    pub fn timeout(&mut self) -> Vec<i64> {
        let at = self.end.next_timeout();
        assert_ne!(at, Time::MAX, "no timer runs");
        self.now = at;
        self.end.on_timeout(&self.cfg, at);
        self.data()
    }

    /// Segment number `n` of the test's data.
    pub fn their(&self, n: u32) -> Segment {
        let mut segment = self.segment(Flags::ACK);
        segment.seq = PEER + (n - 1) * u32::from(self.cfg.mss);
        segment.len = self.cfg.mss;
        segment
    }

    /// Receives segment `n` of the test's data; returns the ACKs sent in response, as numbers of in-order segments.
    pub fn data_in(&mut self, n: u32) -> Vec<u32> {
        self.receive(self.their(n));
        self.acks()
    }

    pub fn acks(&mut self) -> Vec<u32> {
        let mss = u32::from(self.cfg.mss);
        self.sent().iter().map(|s| s.ack.wrapping_sub(PEER) / mss).collect()
    }

    pub fn cwnd(&self) -> u32 {
        self.end.cwnd(&self.cfg) / u32::from(self.cfg.mss)
    }
}
