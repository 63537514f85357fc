//! [`Connection`]: one side of a multipath connection, and its public interface.

use weft_units::Time;

use super::config::Config;
use super::keys::Keys;
use super::path_manager::{Addresses, MAX_SUBFLOWS, NewSubflow, PathManager};
use super::receiver::Incoming;
use super::scheduler::Scheduler;
use super::sender::Outgoing;
use super::stats::Stats;
use super::subflow::{Stage, Subflow};
use crate::congestion::Path;
use crate::endpoint::{Endpoint, State};

/// The mode of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// The handshake of the first subflow is not complete.
    Opening,
    /// Both sides use Multipath TCP.
    Multipath,
    /// Plain TCP, because the other side does not support Multipath TCP.
    Plain,
}

/// One side of a multipath connection. For its use, see the [module](super).
#[derive(Clone, Debug)]
pub struct Connection {
    pub(super) mode: Mode,
    /// This side opened the connection.
    pub(super) active: bool,
    /// The other side is known to have both keys: more subflows may be opened.
    pub(super) confirmed: bool,
    /// All data has arrived both ways, and the subflows are closing.
    pub(super) finishing: bool,
    /// The other side has shown that it has received the last DATA_ACK.
    pub(super) over_at_peer: bool,
    /// There may be data to assign to subflows.
    pub(super) due: bool,
    /// Bit mask of subflows that may have something to send.
    pub(super) ready: u32,
    /// Subflows that may not send now, one bit each.
    pub(super) blocked: u32,
    pub(super) keys: Keys,
    pub(super) subflows: Vec<Subflow>,
    /// When the wait for a data acknowledgment times out; [`Time::MAX`]: no data is outstanding.
    pub(super) stalled_at: Time,
    /// The next timeout of each subflow.
    pub(super) deadlines: Vec<Time>,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    pub(super) scheduler: Scheduler,
    path_manager: PathManager,
    /// Scratch buffer for the paths passed to a coupled controller.
    pub(super) paths: Vec<Path>,
    pub(super) stats: Stats,
}

impl Connection {
    fn new(cfg: &Config, active: bool, key: u64, first: Endpoint, addresses: Addresses) -> Self {
        let mut connection = Self {
            mode: Mode::Opening,
            active,
            confirmed: false,
            finishing: false,
            over_at_peer: false,
            due: false,
            ready: 0,
            blocked: 0,
            keys: Keys::new(cfg, key),
            subflows: Vec::new(),
            stalled_at: Time::MAX,
            deadlines: Vec::new(),
            outgoing: Outgoing::new(),
            incoming: Incoming::new(cfg),
            scheduler: Scheduler::default(),
            path_manager: PathManager::new(addresses),
            paths: Vec::new(),
            stats: Stats::default(),
        };
        connection.add(Subflow::new(first, active, 0, 0));
        connection
    }

    /// A side that opens the connection at `now`: the SYN of subflow 0 waits in [`Self::poll_transmit`]. `key`
    /// identifies the connection at this side: its token should differ from those of the host's other connections.
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

    /// The next subflow to open from this side, if any is due now. `random` provides its initial sequence number and
    /// nonce; it is consumed only if a subflow is returned.
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

    /// Adds a subflow for a join that the other side has started or will start, and returns the number to use for its
    /// segments; its SYN may still be refused. `local` is the number of this side's address, `random` provides the
    /// initial sequence number and nonce. `None`: there are already [`MAX_SUBFLOWS`].
    pub fn accept(&mut self, cfg: &Config, local: u8, random: u64) -> Option<usize> {
        let endpoint = Endpoint::listen(&cfg.subflow, random as u32);
        let subflow = Subflow::new(endpoint, false, local, (random >> 32) as u32);
        if self.subflows.len() < MAX_SUBFLOWS {
            return Some(self.add(subflow));
        }
        // Reuse the slot of a refused join.
        let gone = |subflow: &Subflow| {
            !subflow.opened_here
                && subflow.stage == Stage::Opening
                && subflow.endpoint.state == State::Closed
                && !subflow.endpoint.is_due()
        };
        let number = (1..self.subflows.len()).find(|&number| gone(&self.subflows[number]))?;
        self.subflows[number] = subflow;
        self.deadlines[number] = Time::MAX;
        Some(number)
    }

    /// The application writes `bytes`; ignored after [`Self::close`].
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

    /// The application has written everything: a DATA_FIN follows the data. A listening side closes at once.
    pub fn close(&mut self) {
        self.outgoing.finished = true;
        let first = &mut self.subflows[0].endpoint;
        if self.mode == Mode::Plain || first.state == State::Listen {
            first.close();
            self.ready |= 1;
        }
        self.due = true;
    }

    /// The application has read all that was delivered: delayed ACKs are sent now.
    pub fn read_all(&mut self) {
        for (number, subflow) in self.subflows.iter_mut().enumerate() {
            subflow.endpoint.read_all();
            self.ready |= 1 << number;
        }
    }

    /// When to call [`Self::on_timeout`] next; [`Time::MAX`]: never. Valid once [`Self::poll_transmit`] has returned
    /// `None`.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        let first = self.deadlines.iter().copied().min().unwrap_or(Time::MAX);
        first.min(self.outgoing.fin_timer).min(self.stalled_at)
    }

    /// With `small_queues`: the segment of subflow `number` that [`Self::poll_transmit`] returned at `now`, with `len`
    /// bytes of payload, leaves the host's interface at `leaves`.
    pub fn leaves_at(&mut self, number: usize, now: Time, leaves: Time, len: u16) {
        self.subflows[number].endpoint.leaves_at(now, leaves, len);
    }

    /// When data held for an interface may be sent: call [`Self::poll_transmit`] again then. [`Time::MAX`]: none is
    /// held. Subflows that are [blocked](Self::block) do not count.
    pub fn held_until(&self) -> Time {
        let all = self.subflows().enumerate();
        let free = all.filter(|(number, _)| self.blocked >> number & 1 == 0);
        free.map(|(_, endpoint)| endpoint.held_until()).min().unwrap_or(Time::MAX)
    }

    /// The first timeout after `now`, where those that have passed act with the next segment. See
    /// [`Self::next_timeout`].
    pub fn next_timeout_after(&self, now: Time) -> Time {
        let all = self.deadlines.iter().copied().chain([self.outgoing.fin_timer, self.stalled_at]);
        all.filter(|at| *at > now).min().unwrap_or(Time::MAX)
    }

    /// Of these subflows, one bit each, [`Self::poll_transmit`] returns no segments until the next call.
    pub fn block(&mut self, subflows: u32) {
        self.blocked = subflows;
    }

    /// Whether a subflow that is not blocked may have segments to send.
    pub fn may_send(&self) -> bool {
        self.ready & !self.blocked != 0
    }

    /// The blocked subflows that may have segments to send, one bit each.
    pub fn waiting(&self) -> u32 {
        self.ready & self.blocked
    }

    /// Bytes received in order and delivered to the application.
    #[inline]
    pub fn delivered(&self) -> u64 {
        match self.mode {
            Mode::Plain => self.subflows[0].endpoint.delivered(),
            Mode::Opening | Mode::Multipath => self.incoming.delivered,
        }
    }

    /// Bytes of this side's data acknowledged by the other side's connection.
    #[inline]
    pub fn acked(&self) -> u64 {
        match self.mode {
            Mode::Plain => self.subflows[0].endpoint.acked(),
            Mode::Opening | Mode::Multipath => self.outgoing.acked,
        }
    }

    /// Whether the connection fell back to TCP because the other side does not support Multipath TCP.
    pub fn is_plain(&self) -> bool {
        self.mode == Mode::Plain
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

    /// Whether this side is done: all subflows are closed, in TIME-WAIT, or, once all data has arrived both ways, wait
    /// only for the other side's FIN. Once both sides are done, the connection can be removed.
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

    /// The counters of the connection.
    pub fn stats(&self) -> Stats {
        let Incoming { early, twice, .. } = &self.incoming;
        Stats { out_of_order: *early, duplicate: *twice, ..self.stats }
    }

    /// The endpoints of all subflows so far, by number, with their counters, windows and round-trip times.
    pub fn subflows(&self) -> impl ExactSizeIterator<Item = &Endpoint> {
        self.subflows.iter().map(|subflow| &subflow.endpoint)
    }

    /// The sums of all endpoints' counters.
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
            + self.paths.capacity() * size_of::<Path>()
            + self.outgoing.heap_bytes()
            + self.incoming.heap_bytes()
    }
}
