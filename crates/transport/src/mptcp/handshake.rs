//! Opening connections and joining subflows: the options of SYN, SYN+ACK and third ACK (RFC 8684, sections 3.1 and
//! 3.2).
//!
//! A segment that lacks the option it needs is not passed to the subflow's endpoint, as if it had been lost. Segments
//! that can never become valid cause a reset.

use weft_units::Time;
use weft_wire::mptcp::{Key, Party, Version, join_hmac};

use super::connection::{Connection, Mode};
use super::subflow::Stage;
use super::{Capable, Config, Dss, Join, Options};
use crate::congestion::any::Congestion;
use crate::endpoint::State;
use crate::segment::{Flags, Segment};
use crate::todo;

/// The part of an HMAC that fits a SYN+ACK.
fn first_half(hmac: [u8; 20]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = hmac;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

impl Connection {
    /// The HMAC of a join, from this side to the other or, with `theirs`, the other way.
    fn join_hmac(&self, cfg: &Config, number: usize, theirs: bool) -> [u8; 20] {
        let subflow = &self.subflows[number];
        let own = Party { key: Key(self.keys.own), nonce: subflow.own_nonce };
        let peer = Party { key: Key(self.keys.peer.unwrap_or_default()), nonce: subflow.peer_nonce };
        if theirs { join_hmac(cfg.version(), peer, own) } else { join_hmac(cfg.version(), own, peer) }
    }

    /// Processes a segment on a subflow whose handshake is not complete. Returns whether it completes the handshake of a
    /// join, and is still to be processed like those after it.
    #[cold]
    #[inline(never)]
    pub(super) fn on_handshake(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) -> bool {
        let subflow = &self.subflows[number];
        let (state, flags) = (subflow.endpoint.state, seg.flags);
        let says_nothing = flags.has(Flags::RST) || flags.has(Flags::SYN) && state == State::SynReceived;
        if says_nothing || state == State::Closed {
            self.deliver(cfg, number, now, seg, None);
            return false;
        }
        match (number, subflow.opened_here, subflow.endpoint.state) {
            (0, true, _) => self.on_first_answer(cfg, now, seg, options),
            (0, false, State::Listen) => self.on_first_syn(cfg, now, seg, options),
            (0, false, _) => self.on_first_ack(cfg, now, seg, options),
            (_, true, State::SynSent) => self.on_join_answer(cfg, number, now, seg, options),
            (_, true, _) => return self.on_join_confirmation(cfg, number, now, seg, options),
            (_, false, State::Listen) => self.on_join_syn(cfg, number, now, seg, options),
            (_, false, _) => self.on_join_ack(cfg, number, now, seg, options),
        }
        false
    }

    /// The SYN+ACK of the first subflow.
    fn on_first_answer(&mut self, cfg: &Config, now: Time, seg: &Segment, options: &Options) {
        self.deliver(cfg, 0, now, seg, None);
        let subflow = &mut self.subflows[0];
        match (subflow.endpoint.state, options) {
            (State::SynSent | State::Closed, _) => {}
            (State::Established, Options::Capable(Capable { version, sender_key: Some(key), .. }))
                if *version == cfg.version() as u8 =>
            {
                subflow.answers_syn = true;
                subflow.stage = Stage::Confirmed;
                self.mode = Mode::Multipath;
                self.keys.learn(cfg, *key);
                self.outgoing.on_data_ack(0, seg.window);
                self.stats.subflows += 1;
            }
            // The other side does not support it, or both opened at once.
            _ => self.fall_back(cfg, seg),
        }
    }

    /// The SYN of a connection.
    fn on_first_syn(&mut self, cfg: &Config, now: Time, seg: &Segment, options: &Options) {
        if seg.flags.has(Flags::SYN) && matches!(options, Options::Join(_)) {
            self.subflows[0].endpoint.refuse_syn(seg);
            return;
        }
        self.deliver(cfg, 0, now, seg, None);
        if self.subflows[0].endpoint.state != State::SynReceived {
            return;
        }
        match options {
            Options::Capable(Capable { version: 0, sender_key: Some(key), .. })
                if cfg.version() == Version::V0 =>
            {
                self.keys.learn(cfg, *key);
            }
            Options::Capable(Capable { version: 1, .. }) if cfg.version() == Version::V1 => {}
            _ => return self.fall_back(cfg, seg),
        }
        self.outgoing.on_data_ack(0, seg.window);
    }

    /// The third ACK of a connection, or the first data in its place.
    fn on_first_ack(&mut self, cfg: &Config, now: Time, seg: &Segment, options: &Options) {
        let data = match options {
            Options::Capable(Capable { sender_key: Some(peer), receiver_key: Some(own), .. }) => {
                let known = cfg.version() == Version::V1 || self.keys.peer == Some(*peer);
                if *own != self.keys.own || !known {
                    return;
                }
                self.keys.learn(cfg, *peer);
                (cfg.version() == Version::V1).then_some(0)
            }
            // In version 1 the other side's key is not known yet: this segment overtook the one that carries it. (Linux
            // falls back to TCP here, and documents it as a weakness.)
            Options::Dss(_) if self.keys.peer.is_none() => return,
            Options::Dss(dss) => dss.dsn.map(|dsn| dsn.wrapping_sub(self.keys.peer_first)),
            Options::None => {
                self.deliver(cfg, 0, now, seg, None);
                if self.subflows[0].endpoint.state != State::SynReceived {
                    self.fall_back(cfg, seg);
                }
                return;
            }
            Options::Capable(_) | Options::Join(_) => return,
        };
        self.deliver(cfg, 0, now, seg, data);
        let subflow = &mut self.subflows[0];
        if matches!(subflow.endpoint.state, State::SynReceived | State::Closed) {
            return;
        }
        subflow.stage = Stage::Confirmed;
        self.mode = Mode::Multipath;
        self.confirmed = true;
        self.stats.subflows += 1;
        match options {
            Options::Dss(dss) => self.on_dss(now, seg, dss),
            _ => self.outgoing.on_data_ack(0, seg.window),
        }
    }

    /// The SYN+ACK of a join.
    fn on_join_answer(&mut self, cfg: &Config, number: usize, now: Time, seg: &Segment, options: &Options) {
        let subflow = &mut self.subflows[number];
        if !seg.flags.has(Flags::SYN | Flags::ACK) || seg.ack != subflow.endpoint.tx.snd_una {
            return;
        }
        let good = match options {
            Options::Join(Join::SynAck { hmac, nonce, .. }) => {
                subflow.peer_nonce = *nonce;
                *hmac == first_half(self.join_hmac(cfg, number, true))
            }
            _ => false,
        };
        if !good {
            self.subflows[number].endpoint.rx.rcv_nxt = seg.seq.wrapping_add(1);
            return self.refuse(number);
        }
        self.deliver(cfg, number, now, seg, None);
        let subflow = &mut self.subflows[number];
        if subflow.endpoint.state == State::Established {
            subflow.stage = Stage::Unconfirmed;
        }
    }

    /// The fourth segment of a join: it confirms that the other side received the third. Returns whether it does.
    fn on_join_confirmation(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) -> bool {
        match options {
            // A repeated SYN+ACK: the endpoint answers, and every answer carries the HMAC until it is confirmed.
            _ if seg.flags.has(Flags::SYN) => self.deliver(cfg, number, now, seg, None),
            Options::Dss(_) => {
                let subflow = &mut self.subflows[number];
                subflow.stage = Stage::Confirmed;
                subflow.endpoint.rx.ack_timer_at = Time::MAX;
                self.stats.subflows += 1;
                return true;
            }
            Options::None => self.refuse(number),
            Options::Capable(_) | Options::Join(_) => {}
        }
        false
    }

    /// The SYN of a join.
    fn on_join_syn(&mut self, cfg: &Config, number: usize, now: Time, seg: &Segment, options: &Options) {
        let wanted = Key(self.keys.own).token(cfg.version()).0;
        match options {
            _ if !seg.flags.has(Flags::SYN) || seg.flags.any(Flags::ACK | Flags::FIN) => {}
            Options::Join(Join::Syn { token, nonce, .. })
                if *token == wanted && self.mode == Mode::Multipath && !self.is_complete() =>
            {
                self.subflows[number].peer_nonce = *nonce;
                self.deliver(cfg, number, now, seg, None);
            }
            _ => {
                self.stats.refused += 1;
                self.subflows[number].endpoint.refuse_syn(seg);
            }
        }
    }

    /// The third ACK of a join.
    fn on_join_ack(&mut self, cfg: &Config, number: usize, now: Time, seg: &Segment, options: &Options) {
        let Options::Join(Join::Ack { hmac }) = options else { return };
        if *hmac != self.join_hmac(cfg, number, true) {
            return self.refuse(number);
        }
        self.deliver(cfg, number, now, seg, None);
        let subflow = &mut self.subflows[number];
        if subflow.endpoint.state == State::Established {
            subflow.stage = Stage::Confirmed;
            subflow.endpoint.rx.todo |= todo::ACK;
            self.stats.subflows += 1;
        }
    }

    /// Refuses an invalid join.
    fn refuse(&mut self, number: usize) {
        self.stats.refused += 1;
        self.subflows[number].reset();
    }

    /// The option of this side's SYN or SYN+ACK.
    pub(super) fn syn_option(&self, cfg: &Config, number: usize) -> Options {
        let subflow = &self.subflows[number];
        let version = cfg.version() as u8;
        let (nonce, address) = (subflow.own_nonce, subflow.local);
        match (number, subflow.opened_here) {
            (0, opened_here) => {
                let shown = version == 0 || !opened_here;
                let sender_key = shown.then_some(self.keys.own);
                Options::Capable(Capable { version, sender_key, receiver_key: None })
            }
            (_, true) => {
                let token = Key(self.keys.peer.unwrap_or_default()).token(cfg.version()).0;
                Options::Join(Join::Syn { token, nonce, address })
            }
            (_, false) => {
                let hmac = first_half(self.join_hmac(cfg, number, false));
                Options::Join(Join::SynAck { hmac, nonce, address })
            }
        }
    }

    /// The option of a third ACK.
    pub(super) fn third_ack_option(&self, cfg: &Config, number: usize) -> Options {
        if number > 0 {
            return Options::Join(Join::Ack { hmac: self.join_hmac(cfg, number, false) });
        }
        let (sender_key, receiver_key) = (Some(self.keys.own), self.keys.peer);
        Options::Capable(Capable { version: cfg.version() as u8, sender_key, receiver_key })
    }

    /// Falls back to TCP: the first subflow becomes the whole connection. So far only the first subflow has sent data,
    /// so its sequence numbers are in step with the data.
    #[cold]
    pub(super) fn fall_back(&mut self, cfg: &Config, seg: &Segment) {
        self.mode = Mode::Plain;
        self.outgoing.fin_timer = Time::MAX;
        self.stalled_at = Time::MAX;
        let (outgoing, incoming) = (&self.outgoing, &self.incoming);
        let subflow = &mut self.subflows[0];
        let endpoint = &mut subflow.endpoint;
        endpoint.rx.rcv_wnd = incoming.window;
        endpoint.tx.snd_wnd = seg.window;
        if endpoint.tx.snd_max == subflow.first {
            endpoint.tx.congestion = Congestion::default();
        } else if subflow.coupled {
            endpoint.tx.congestion.uncouple(&cfg.plain);
        }
        endpoint.write(outgoing.written - outgoing.mapped);
        if outgoing.finished {
            endpoint.close();
        }
    }

    /// A DSS option.
    pub(super) fn dss(&self, dsn: Option<u64>, data_fin: bool) -> Options {
        Options::Dss(Dss {
            data_ack: self.keys.peer_first.wrapping_add(self.incoming.expected()),
            dsn: dsn.map(|data| self.keys.own_first.wrapping_add(data)),
            data_fin,
        })
    }
}
