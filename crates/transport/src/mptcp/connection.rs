//! [`Connection`]: one side of a multipath connection, and what the outside may do with it.

use weft_units::Time;

use super::handshake::Keys;
use super::path_manager::PathManager;
use super::receiver::Incoming;
use super::scheduler::Scheduler;
use super::sender::{Next, Outgoing};
use super::subflow::{Stage, Subflow};
use super::{Addresses, Config, Dss, MAX_SUBFLOWS, NewSubflow, Options};
use crate::config::{self, MptcpCongestion};
use crate::congestion::Path;
use crate::endpoint::{Endpoint, State, todo};
use crate::segment::{Flags, Segment};
use crate::sender::{SYN_WINDOW, sack_options};
use crate::seq::{before, earlier, later, span};

/// Bytes that the options of a segment may have (RFC 9293, section 3.1).
const MOST_OPTIONS: u8 = 40;

/// What a connection has become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// The handshake of the first subflow is not over.
    Opening,
    /// Both sides speak multipath TCP.
    Multipath,
    /// TCP, for the other side does not.
    Plain,
}

/// Counts of one side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Subflows whose handshake was finished, the first included.
    pub subflows: u32,
    /// Joins that were refused here, for a wrong token or HMAC or none.
    pub refused: u32,
    /// Times that a subflow became stale.
    pub stale: u32,
    /// Bytes of data that were given to a second subflow.
    pub reinjected: u64,
    /// Pieces of data that were received before others; on a subflow they were in order.
    pub out_of_order: u32,
    /// Bytes of data that were received twice, on two subflows.
    pub duplicate: u64,
}

/// One side of a multipath connection. How to drive it is said [above](super).
#[derive(Clone, Debug)]
pub struct Connection {
    pub(super) mode: Mode,
    /// This side connected.
    active: bool,
    /// The other side is known to have both keys: further subflows may be opened.
    pub(super) confirmed: bool,
    /// Everything has arrived both ways, and the subflows were told to end.
    finishing: bool,
    /// Data may have to be given to subflows.
    due: bool,
    /// Subflows that may have something to send, a bit each.
    ready: u32,
    pub(super) keys: Keys,
    pub(super) subflows: Vec<Subflow>,
    /// When each of them needs to be woken.
    deadlines: Vec<Time>,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    scheduler: Scheduler,
    path_manager: PathManager,
    pub(super) stats: Stats,
}

impl Connection {
    fn new(cfg: &Config, active: bool, key: u64, first: Endpoint, addresses: Addresses) -> Self {
        let mut connection = Self {
            mode: Mode::Opening,
            active,
            confirmed: false,
            finishing: false,
            due: false,
            ready: 0,
            keys: Keys::new(cfg, key),
            subflows: Vec::new(),
            deadlines: Vec::new(),
            outgoing: Outgoing::new(),
            incoming: Incoming::new(cfg),
            scheduler: Scheduler::default(),
            path_manager: PathManager::new(addresses),
            stats: Stats::default(),
        };
        connection.add(Subflow::new(first, active, 0, 0));
        connection
    }

    /// A side that opens the connection at `now`: the SYN of subflow 0 waits in [`Self::poll_transmit`]. `key` names the
    /// connection at this side: its [token](super::token) should differ from those of the host's other connections.
    /// `isn` is the initial sequence number of the first subflow.
    pub fn connect(cfg: &Config, now: Time, key: u64, isn: u32, addresses: Addresses) -> Self {
        let first = Endpoint::connect(&cfg.subflow, now, isn);
        Self::new(cfg, true, key, first, addresses)
    }

    /// A side that waits for the SYN of a connection, on subflow 0.
    pub fn listen(cfg: &Config, key: u64, isn: u32) -> Self {
        let first = Endpoint::listen(&cfg.subflow, isn);
        Self::new(cfg, false, key, first, Addresses::default())
    }

    fn add(&mut self, subflow: Subflow) -> usize {
        self.ready |= 1 << self.subflows.len();
        self.subflows.push(subflow);
        self.deadlines.push(Time::MAX);
        self.subflows.len() - 1
    }

    /// The next subflow that this side opens, if there is one to open now. `random` gives its initial sequence number and
    /// its nonce; it is used up only where a subflow is given.
    pub fn poll_open(&mut self, cfg: &Config, now: Time, random: u64) -> Option<NewSubflow> {
        let sends_no_more = self.outgoing.finished && self.outgoing.mapped == self.outgoing.written;
        let may_open = self.active && self.confirmed && self.mode == Mode::Multipath;
        if !may_open || sends_no_more || self.is_closed() || self.subflows.len() >= MAX_SUBFLOWS {
            return None;
        }
        let (local, remote) = self.path_manager.next(cfg)?;
        let endpoint = Endpoint::connect(&cfg.subflow, now, random as u32);
        let subflow = self.add(Subflow::new(endpoint, true, local, (random >> 32) as u32));
        Some(NewSubflow { subflow, local, remote })
    }

    /// A subflow for a join that the other side has begun or will: the number that its segments are to be given with. Its
    /// SYN decides whether it is refused. `local` is the number of the address that it comes to, `random` gives its initial
    /// sequence number and its nonce. `None`: there are [`MAX_SUBFLOWS`] already.
    pub fn accept(&mut self, cfg: &Config, local: u8, random: u64) -> Option<usize> {
        let endpoint = Endpoint::listen(&cfg.subflow, random as u32);
        let subflow = Subflow::new(endpoint, false, local, (random >> 32) as u32);
        if self.subflows.len() < MAX_SUBFLOWS {
            return Some(self.add(subflow));
        }
        // What was refused leaves its place.
        let gone = |subflow: &Subflow| {
            !subflow.opened_here
                && subflow.stage == Stage::Opening
                && subflow.endpoint.state == State::Closed
                && subflow.endpoint.todo == 0
        };
        let number = (1..self.subflows.len()).find(|&number| gone(&self.subflows[number]))?;
        self.subflows[number] = subflow;
        self.deadlines[number] = Time::MAX;
        Some(number)
    }

    /// The application writes `bytes`; nothing happens after [`Self::close`].
    pub fn write(&mut self, bytes: u64) {
        if self.outgoing.finished {
            return;
        }
        self.outgoing.written = self.outgoing.written.saturating_add(bytes);
        if self.mode == Mode::Plain {
            self.subflows[0].endpoint.write(bytes);
            self.ready |= 1;
        }
        self.due = true;
    }

    /// The application has written all: a DATA_FIN follows the data. A side that still listens is gone.
    pub fn close(&mut self) {
        self.outgoing.finished = true;
        let first = &mut self.subflows[0].endpoint;
        if self.mode == Mode::Plain || first.state == State::Listen {
            first.close();
            self.ready |= 1;
        }
        self.due = true;
    }

    /// A segment from the other side arrives on a subflow. Whatever it says, nothing panics; for a subflow that does not
    /// exist nothing happens.
    #[inline]
    pub fn on_segment(&mut self, cfg: &Config, subflow: usize, now: Time, seg: &Segment, options: &Options) {
        let Some(to) = self.subflows.get_mut(subflow) else { return };
        self.ready |= 1 << subflow;
        self.due = true;
        if self.mode == Mode::Plain && subflow == 0 {
            to.endpoint.on_segment(&cfg.plain, now, seg);
            return;
        }
        if to.stage == Stage::Confirmed {
            self.on_confirmed(cfg, subflow, now, seg, options);
        } else {
            self.on_handshake(cfg, subflow, now, seg, options);
        }
        if self.subflows[subflow].endpoint.state == State::Closed {
            self.bury(subflow);
        }
        if self.is_complete() && !self.finishing {
            self.finish(cfg);
        }
    }

    /// A segment on a subflow whose handshake is over.
    #[inline]
    pub(super) fn on_confirmed(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) {
        if let Options::Dss(dss) = options
            && !seg.flags.any(Flags::SYN | Flags::RST)
        {
            let data = dss.dsn.map(|dsn| dsn.wrapping_sub(self.keys.peer_first));
            self.deliver(cfg, number, now, seg, data);
            self.on_dss(seg, dss);
            if dss.data_fin {
                self.subflows[number].endpoint.todo |= todo::ACK;
            }
        } else {
            self.on_confirmed_without_dss(cfg, number, now, seg, options);
        }
    }

    #[cold]
    fn on_confirmed_without_dss(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) {
        let plain = !seg.flags.any(Flags::SYN | Flags::RST) && *options == Options::None;
        if plain && !self.confirmed {
            // The other side has fallen back: it did not see this one's key.
            self.mode = Mode::Opening;
            self.deliver(cfg, number, now, seg, None);
            return self.fall_back(cfg, seg);
        }
        if plain && seg.len > 0 {
            // RFC 8684, section 3.7: something on the path takes options away.
            self.subflows[number].reset();
            return;
        }
        let first_data = matches!(options, Options::Capable(_)) && number == 0 && !self.active;
        let data = (first_data && cfg.version() == 1).then_some(0);
        if data.is_none() && seg.len > 0 && !seg.flags.any(Flags::SYN | Flags::RST) {
            return;
        }
        self.deliver(cfg, number, now, seg, data);
        let subflow = &mut self.subflows[number];
        subflow.answers_syn |= subflow.opened_here && seg.flags.has(Flags::SYN | Flags::ACK);
        if matches!(options, Options::Join(_)) {
            // The third ACK of a join again: the answer to it was lost.
            subflow.endpoint.todo |= todo::ACK;
        }
    }

    /// Hands a segment to the endpoint of its subflow, and what that has received in order to the connection. `data`: what
    /// the first byte of the segment is.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        data: Option<u64>,
    ) {
        let subflow = &mut self.subflows[number];
        let tells = seg.ack != subflow.endpoint.snd_una || seg.sack_count > 0 || seg.flags.has(Flags::ECE);
        if subflow.coupled && tells {
            self.observe(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        let endpoint = &mut subflow.endpoint;
        let (next, una, before_it) = (endpoint.rcv_nxt, endpoint.snd_una, endpoint.delivered);
        let in_order = seg.seq == next && subflow.held.is_empty();
        if let Some(data) = data
            && !in_order
        {
            let end = seg.seq.wrapping_add(u32::from(seg.len));
            let limit = next.wrapping_add(endpoint.rcv_wnd);
            let (start, end) = (later(seg.seq, next), earlier(end, limit));
            if before(start, end) && !before(start, next) {
                let offset = u64::from(span(seg.seq, start));
                subflow.held.insert(start, span(start, end), data.wrapping_add(offset));
            }
        }
        // The connection's window is what limits; that of the subflow is out of the way.
        let inner = Segment { window: cfg.subflow_window(), ..*seg };
        endpoint.on_segment(&cfg.subflow, now, &inner);
        if endpoint.snd_una != una {
            subflow.sent.release(endpoint.snd_una);
            subflow.stale &= endpoint.backoff > 0;
        }
        let bytes = (endpoint.delivered - before_it) as u32;
        if bytes == 0 {
            return;
        }
        let incoming = &mut self.incoming;
        let mapped = match data {
            Some(data) if in_order => {
                let mapped = bytes.min(u32::from(seg.len));
                incoming.receive(cfg, data, mapped);
                mapped
            }
            _ => {
                let end = next.wrapping_add(bytes);
                subflow.held.take(next, end, |data, len| incoming.receive(cfg, data, len))
            }
        };
        if mapped < bytes && self.mode != Mode::Opening {
            // RFC 8684, section 3.3.1: data that nobody knows the place of is lost, and so is the subflow.
            subflow.reset();
        }
    }

    /// What a DSS says of this side's data, and where the other's ends.
    #[inline]
    pub(super) fn on_dss(&mut self, seg: &Segment, dss: &Dss) {
        self.confirmed = true;
        self.outgoing.on_data_ack(dss.data_ack.wrapping_sub(self.keys.own_first), seg.window);
        if dss.data_fin
            && let Some(dsn) = dss.dsn
        {
            let end = dsn.wrapping_sub(self.keys.peer_first).saturating_add(u64::from(seg.len));
            self.incoming.on_data_fin(end);
        }
    }

    /// Shows a subflow's controller all subflows.
    fn observe(&mut self, cfg: &Config, number: usize) {
        if cfg.congestion() == MptcpCongestion::Uncoupled {
            return;
        }
        let mut paths = [Path { window: 0.0, rtt: 0.0, between_losses: 0.0 }; MAX_SUBFLOWS];
        let (mut count, mut own) = (0, usize::MAX);
        for (other, subflow) in self.subflows.iter().enumerate() {
            if let Some(path) = subflow.path() {
                if other == number {
                    own = count;
                }
                paths[count] = path;
                count += 1;
            }
        }
        let endpoint = &mut self.subflows[number].endpoint;
        endpoint.congestion.observe(&paths[..count], own, endpoint.acked);
    }

    /// To be called when [`Self::next_timeout`] has come; harmless earlier.
    pub fn on_timeout(&mut self, cfg: &Config, now: Time) {
        self.due = true;
        for number in 0..self.subflows.len() {
            if self.subflows[number].endpoint.next_timeout() <= now {
                self.subflow_expires(cfg, number, now);
            }
        }
        if self.outgoing.fin_timer <= now {
            self.fin_expires(cfg, now);
        }
    }

    fn subflow_expires(&mut self, cfg: &Config, number: usize, now: Time) {
        self.ready |= 1 << number;
        if self.mode == Mode::Plain {
            self.subflows[number].endpoint.on_timeout(&cfg.plain, now);
            return;
        }
        if self.subflows[number].coupled {
            self.observe(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        if subflow.stage == Stage::Unconfirmed && subflow.third_acks > cfg.plain.syn_retries {
            subflow.reset();
        }
        subflow.endpoint.on_timeout(&cfg.subflow, now);
        let waits_long = subflow.endpoint.backoff >= cfg.plain.mptcp_stale_timeouts;
        if subflow.endpoint.state == State::Closed {
            self.bury(number);
        } else if waits_long && self.finishing {
            // Nobody waits for the end of this one.
            self.subflows[number].reset();
            self.bury(number);
        } else if waits_long && !self.subflows[number].stale {
            self.suspect(cfg, number);
        }
    }

    /// A subflow makes no progress: if there is another, that gets what it has sent.
    fn suspect(&mut self, cfg: &Config, number: usize) {
        let most = cfg.plain.mptcp_stale_timeouts;
        let good = |other: &Subflow| other.is_usable() && other.endpoint.backoff < most;
        let another = (0..self.subflows.len()).any(|other| other != number && good(&self.subflows[other]));
        if another && self.subflows[number].is_outstanding() {
            self.stats.stale += 1;
            self.give_again(number);
            self.subflows[number].stale = true;
        }
    }

    /// What a subflow has sent, and nobody has acknowledged, is for others.
    fn give_again(&mut self, number: usize) {
        for mapping in self.subflows[number].sent.iter() {
            self.outgoing.give_again(mapping.data, mapping.data + u64::from(mapping.len));
        }
        self.due = true;
    }

    /// A subflow has ended: others get what it had.
    #[cold]
    fn bury(&mut self, number: usize) {
        let subflow = &self.subflows[number];
        if subflow.buried || self.mode == Mode::Plain {
            return;
        }
        if !subflow.stale {
            self.give_again(number);
        }
        let subflow = &mut self.subflows[number];
        subflow.buried = true;
        subflow.sent = Default::default();
        subflow.held = Default::default();
        if !self.subflows.iter().any(Subflow::is_usable) {
            // A bad one is better than none.
            self.subflows.iter_mut().for_each(|other| other.stale = false);
        }
    }

    /// The DATA_FIN was not acknowledged in time.
    fn fin_expires(&mut self, cfg: &Config, now: Time) {
        let over = self.is_closed();
        let outgoing = &mut self.outgoing;
        if over {
            outgoing.fin_timer = Time::MAX;
            return;
        }
        if outgoing.is_idle() {
            if outgoing.fin_tries >= cfg.plain.data_retries && cfg.plain.data_retries < u8::MAX {
                outgoing.fin_timer = Time::MAX;
                for number in 0..self.subflows.len() {
                    self.remove(number);
                }
                return;
            }
            outgoing.fin_tries = outgoing.fin_tries.saturating_add(1);
            for (number, subflow) in self.subflows.iter_mut().enumerate() {
                if subflow.is_open() {
                    subflow.tell_fin();
                    self.ready |= 1 << number;
                }
            }
        }
        self.arm_fin(cfg, now);
    }

    fn arm_fin(&mut self, cfg: &Config, now: Time) {
        let tries = self.outgoing.fin_tries;
        let timeout = match Scheduler::best(&self.subflows) {
            Some(best) => self.subflows[best].endpoint.rtt.timeout(&cfg.subflow, tries),
            None => cfg.plain.initial_rto,
        };
        self.outgoing.fin_timer = now + timeout;
    }

    /// Ends a subflow with a reset, as when its address has gone: others get what it had. The connection goes on while
    /// there is another.
    pub fn remove(&mut self, subflow: usize) {
        if subflow < self.subflows.len() {
            self.subflows[subflow].reset();
            self.ready |= 1 << subflow;
            self.bury(subflow);
        }
    }

    /// Everything has arrived both ways: the subflows end.
    #[cold]
    fn finish(&mut self, cfg: &Config) {
        self.finishing = true;
        for (number, subflow) in self.subflows.iter_mut().enumerate() {
            subflow.finish(&cfg.plain);
            self.ready |= 1 << number;
        }
    }

    /// Writes the next segment to send and its options, and says which subflow it is for; `None` if there is none.
    /// Only the first `sack_count` of `out.sacks` are written.
    #[inline]
    pub fn poll_transmit(
        &mut self,
        cfg: &Config,
        now: Time,
        out: &mut Segment,
        options: &mut Options,
    ) -> Option<usize> {
        loop {
            if self.due {
                self.due = false;
                self.schedule(cfg, now);
            }
            while self.ready != 0 {
                let number = self.ready.trailing_zeros() as usize;
                let plain = self.mode == Mode::Plain;
                let endpoint = &mut self.subflows[number].endpoint;
                let tcp: &config::Config = if plain { &cfg.plain } else { &cfg.subflow };
                if endpoint.poll_transmit(tcp, now, out) {
                    *options = if plain { Options::None } else { self.label(cfg, now, number, out) };
                    return Some(number);
                }
                self.deadlines[number] = endpoint.next_timeout();
                self.ready &= self.ready - 1;
            }
            if !self.wants_data_fin() {
                return None;
            }
        }
    }

    /// Gives data to the subflows that would send it now.
    fn schedule(&mut self, cfg: &Config, now: Time) {
        if self.mode != Mode::Multipath {
            return;
        }
        if self.outgoing.fin_is_due() {
            if !self.outgoing.fin_sent && self.subflows.iter().all(|subflow| subflow.endpoint.unsent == 0) {
                self.send_data_fin();
            }
        } else if self.outgoing.mapped < self.outgoing.written {
            self.restart_idle(cfg, now);
        }
        self.give(cfg, now);
    }

    fn restart_idle(&mut self, cfg: &Config, now: Time) {
        for subflow in self.subflows.iter_mut().filter(|subflow| !subflow.is_outstanding()) {
            subflow.endpoint.restart_after_idle(&cfg.subflow, now);
        }
    }

    fn give(&mut self, cfg: &Config, now: Time) {
        loop {
            match self.outgoing.next(cfg) {
                Next::Piece(piece) => {
                    let Some(chosen) = self.scheduler.choose(cfg, &self.subflows, piece.len) else { return };
                    self.outgoing.give(piece);
                    self.stats.reinjected += if piece.again { u64::from(piece.len) } else { 0 };
                    self.subflows[chosen].give(cfg.congestion(), piece.data, piece.len);
                    self.ready |= 1 << chosen;
                }
                Next::Closed => return self.await_window(cfg, now),
                Next::Nothing => return,
            }
        }
    }

    /// The other side's window is closed. With nothing on its way only a probe can find out that it has opened.
    #[cold]
    fn await_window(&mut self, cfg: &Config, now: Time) {
        if self.outgoing.is_idle()
            && let Some(best) = Scheduler::best(&self.subflows)
        {
            self.subflows[best].endpoint.window_is_full(&cfg.subflow, now);
            self.ready |= 1 << best;
        }
    }

    /// Whether there is a DATA_FIN to send that no data has taken along: then a subflow does.
    fn wants_data_fin(&mut self) -> bool {
        let due = self.mode == Mode::Multipath && self.outgoing.fin_is_due() && !self.outgoing.fin_sent;
        due && self.send_data_fin()
    }

    /// Has a subflow send a DATA_FIN without data, if there is one to do so.
    fn send_data_fin(&mut self) -> bool {
        let Some(best) = Scheduler::best(&self.subflows) else { return false };
        self.subflows[best].tell_fin();
        self.ready |= 1 << best;
        true
    }

    /// Finds the options of a segment that an endpoint has written, and makes room for them.
    #[inline]
    fn label(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        out.window = self.incoming.window;
        let subflow = &self.subflows[number];
        let usual = subflow.stage == Stage::Confirmed
            && !subflow.answers_syn
            && !out.flags.any(Flags::SYN | Flags::RST)
            && (self.confirmed || out.seq != subflow.first);
        let options = if usual {
            self.dss_for(cfg, now, number, out)
        } else {
            self.unusual_option(cfg, now, number, out)
        };
        fit(cfg, out, options.bytes(cfg, out));
        options
    }

    #[cold]
    fn unusual_option(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        if out.flags.has(Flags::RST) {
            return Options::None;
        }
        if out.flags.has(Flags::SYN) {
            out.window = out.window.min(SYN_WINDOW);
            return self.syn_option(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        match subflow.stage {
            // The endpoint answers something odd before the third ACK has come: the SYN+ACK's option does no harm.
            Stage::Opening => self.syn_option(cfg, number),
            Stage::Unconfirmed => {
                subflow.await_confirmation(&cfg.subflow, now);
                self.third_ack_option(cfg, number)
            }
            Stage::Confirmed if out.len == 0 && subflow.answers_syn => {
                subflow.answers_syn = false;
                self.third_ack_option(cfg, number)
            }
            // Version 1 repeats the keys on the first data, in case that the third ACK is lost.
            Stage::Confirmed
                if out.len > 0
                    && cfg.version() == 1
                    && number == 0
                    && out.seq == subflow.first
                    && !self.confirmed =>
            {
                self.third_ack_option(cfg, number)
            }
            Stage::Confirmed => self.dss_for(cfg, now, number, out),
        }
    }

    /// The DSS of a segment: what its payload is, and whether the data ends there.
    #[inline]
    fn dss_for(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        let ends_at = self.outgoing.written;
        if out.len == 0 {
            let tells = std::mem::take(&mut self.subflows[number].tells_fin) && self.outgoing.fin_is_due();
            if !tells {
                return self.dss(None, false);
            }
            self.fin_leaves(cfg, now);
            return self.dss(Some(ends_at), true);
        }
        let Some((data, left)) = self.subflows[number].sent.find(out.seq) else {
            debug_assert!(false, "an endpoint sends what it was not given");
            return self.dss(None, false);
        };
        if left < u32::from(out.len) {
            // What is sent again need not begin where it did. A segment has one mapping; the rest is sent later.
            out.len = left as u16;
            out.flags = Flags(out.flags.0 & !Flags::FIN.0);
        }
        let last = self.outgoing.finished && data + u64::from(out.len) == ends_at;
        if last {
            self.fin_leaves(cfg, now);
        }
        self.dss(Some(data), last)
    }

    fn fin_leaves(&mut self, cfg: &Config, now: Time) {
        self.outgoing.fin_sent = true;
        if self.outgoing.fin_timer == Time::MAX && !self.outgoing.fin_acked {
            self.arm_fin(cfg, now);
        }
    }

    /// The next instant at which [`Self::on_timeout`] is needed; [`Time::MAX`]: none. Counts once
    /// [`Self::poll_transmit`] has given all.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        let first = self.deadlines.iter().copied().min().unwrap_or(Time::MAX);
        first.min(self.outgoing.fin_timer)
    }

    /// Bytes that arrived in order: what the application has.
    #[inline]
    pub fn delivered(&self) -> u64 {
        match self.mode {
            Mode::Plain => self.subflows[0].endpoint.delivered(),
            Mode::Opening | Mode::Multipath => self.incoming.delivered,
        }
    }

    /// Bytes of this side's data that the other's connection acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        match self.mode {
            Mode::Plain => self.subflows[0].endpoint.acked(),
            Mode::Opening | Mode::Multipath => self.outgoing.acked,
        }
    }

    /// Whether the connection is TCP, because the other side does not speak multipath TCP.
    pub fn is_plain(&self) -> bool {
        self.mode == Mode::Plain
    }

    /// Whether the other side is known to have both keys: from then on subflows may join.
    pub fn is_fully_established(&self) -> bool {
        self.confirmed
    }

    /// Whether data and DATA_FIN have arrived both ways.
    pub(super) fn is_complete(&self) -> bool {
        self.outgoing.fin_acked && self.incoming.finished
    }

    /// Whether the other side has finished and all its data was delivered.
    pub fn is_finished_by_peer(&self) -> bool {
        match self.mode {
            Mode::Plain => self.subflows[0].endpoint.is_finished_by_peer(),
            Mode::Opening | Mode::Multipath => self.incoming.finished,
        }
    }

    /// Whether this side has nothing more to do for its own sake: all subflows are closed, in TIME-WAIT, or, once all data
    /// has arrived both ways, wait only for the other side's FIN. Both sides closed: the connection can go.
    pub fn is_closed(&self) -> bool {
        let over = |subflow: &Subflow| {
            let endpoint = &subflow.endpoint;
            endpoint.is_closed() || self.finishing && endpoint.state == State::FinWait2
        };
        let never_came = |subflow: &Subflow| subflow.endpoint.state == State::Listen;
        let (first, others) = (&self.subflows[0], &self.subflows[1..]);
        over(first) && others.iter().all(|subflow| over(subflow) || never_came(subflow))
    }

    /// Whether the connection ended before all data had arrived.
    pub fn is_aborted(&self) -> bool {
        if self.mode != Mode::Multipath {
            return self.subflows[0].endpoint.is_aborted();
        }
        let said = self.outgoing.is_idle() && self.outgoing.mapped == self.outgoing.written;
        self.is_closed() && !(self.incoming.finished && said)
    }

    /// Counts of the connection.
    pub fn stats(&self) -> Stats {
        let Incoming { early, twice, .. } = &self.incoming;
        Stats { out_of_order: *early, duplicate: *twice, ..self.stats }
    }

    /// The endpoints of all subflows there have been, by number: their counts, windows and round-trip times.
    pub fn subflows(&self) -> impl ExactSizeIterator<Item = &Endpoint> {
        self.subflows.iter().map(|subflow| &subflow.endpoint)
    }

    /// Counts of all endpoints together.
    pub fn totals(&self) -> crate::Stats {
        let mut all = crate::Stats::default();
        for stats in self.subflows().map(Endpoint::stats) {
            all.data_segments_sent += stats.data_segments_sent;
            all.retransmissions += stats.retransmissions;
            all.timeouts += stats.timeouts;
            all.fast_recoveries += stats.fast_recoveries;
            all.first_transmissions_received += stats.first_transmissions_received;
            all.out_of_order += stats.out_of_order;
            all.ecn_marks += stats.ecn_marks;
        }
        all
    }

    /// Bytes that this side holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let subflows: usize = self.subflows.iter().map(Subflow::heap_bytes).sum();
        subflows
            + self.subflows.capacity() * size_of::<Subflow>()
            + self.deadlines.capacity() * size_of::<Time>()
            + self.outgoing.heap_bytes()
            + self.incoming.heap_bytes()
    }
}

/// Makes room for `bytes` of option beside what the segment has: SACK blocks give way, as in Linux.
#[inline]
fn fit(cfg: &Config, out: &mut Segment, bytes: u8) {
    while out.options + bytes > MOST_OPTIONS && out.sack_count > 0 {
        out.sack_count -= 1;
        out.options = match out.sack_count {
            0 => cfg.subflow.plain_options(),
            count => sack_options(&cfg.subflow, count),
        };
    }
    out.options += bytes;
}
