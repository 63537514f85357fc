//! [`Generator`]: the event loop that starts flows on time and runs them to completion.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::time::Duration;

use socket2::Socket;
use weft_poller::{Interest, Poller};

use crate::clock::Clock;
use crate::connection::{Receiver, Scratch, Sender, Step};
use crate::error::{GeneratorError, kernel};
use crate::hosts::{check_host, raise_file_limit};
use crate::lateness::Lateness;
use crate::listeners::{Accepted, Listeners};
use crate::namespace::Namespaces;
use crate::open_flow::{End, Open};
use crate::outcome::Outcome;
use crate::progress::{Observer, Progress, Style};
use crate::record::{Lines, Record, Sample};
use crate::signals::Signals;
use crate::socket;
use crate::token::Token;
use crate::workload::{Flow, Workload};

/// Time between opening the listeners and the start, if `start_at_ns` is not given.
const LEAD: Duration = Duration::from_millis(20);
/// The interval of progress reports, in picoseconds.
const TICK_PS: u64 = 250_000_000_000;
/// Maximum flows started, or connections accepted, per loop iteration.
const TURN: usize = 64;

/// Sends a workload.
pub struct Generator<'a, W: Write> {
    workload: &'a Workload,
    here: Vec<bool>,
    clock: Clock,
    poller: Poller,
    /// Signals are caught until this is dropped.
    _signals: Signals,
    namespaces: Namespaces,
    listeners: Listeners,
    records: Lines<W>,
    observer: Observer,
    scratch: Scratch,
    /// For each flow, whether it has ended on this machine.
    ended: Vec<bool>,
    open: HashMap<u32, Open>,
    /// The index of the next flow to start.
    next: usize,
    progress: Progress,
    late: Vec<u64>,
    congestion: BTreeSet<String>,
    strangers: u64,
    /// Bytes delivered since the last sample, by class.
    delivered: Vec<u64>,
}

impl<'a, W: Write> Generator<'a, W> {
    /// Opens the listeners of the local hosts (`here` has one entry per host) and sets the start time.
    ///
    /// # Errors
    /// What prevents the run from starting. A port in use does not: only its flows fail.
    pub fn open(
        workload: &'a Workload,
        here: Vec<bool>,
        records: W,
        style: Style,
    ) -> Result<Self, GeneratorError> {
        raise_file_limit();
        let namespaces = Namespaces::open(&workload.hosts, &here);
        let mut namespaces =
            namespaces.map_err(|(path, source)| GeneratorError::Namespace { path, source })?;
        for host in (0..workload.hosts.len()).filter(|&host| here[host]) {
            check_host(workload, host, &mut namespaces)?;
        }
        let poller = Poller::new().map_err(kernel("epoll and timer"))?;
        let signals = Signals::new().map_err(kernel("signals"))?;
        poller.add(&signals, Token::Signal, Interest::Read).map_err(kernel("signals"))?;
        let listeners = Listeners::open(workload, &here, &mut namespaces, &poller);
        let listeners = listeners.map_err(kernel("a listener's namespace"))?;
        let clock = match workload.start_at_ns {
            Some(start) => Clock::starting_at(start).map_err(|ago| GeneratorError::Over { ago })?,
            None => Clock::starting_in(LEAD),
        };
        let is_here = |flow: &Flow| here[flow.src as usize] || here[flow.dst as usize];
        let ended: Vec<bool> = workload.flows.iter().map(|flow| !is_here(flow)).collect();
        let to_receive = workload.flows.iter().filter(|flow| here[flow.dst as usize]);
        let progress = Progress {
            flows: ended.iter().filter(|ended| !**ended).count() as u64,
            bytes_total: to_receive.map(|flow| flow.bytes).fold(0, u64::saturating_add),
            ..Progress::default()
        };
        let observer = Observer(style);
        observer.ready(clock.start_ns(), progress.flows);
        Ok(Self {
            workload,
            here,
            clock,
            poller,
            _signals: signals,
            namespaces,
            listeners,
            records: Lines(records),
            observer,
            scratch: Scratch::default(),
            ended,
            open: HashMap::new(),
            next: 0,
            progress,
            late: Vec::new(),
            congestion: BTreeSet::new(),
            strangers: 0,
            delivered: vec![0; workload.classes.len()],
        })
    }

    /// Runs until all flows have ended, the time limit is reached, or the user interrupts it. Every
    /// flow of this machine then has a record.
    ///
    /// # Errors
    /// What prevents the run from continuing; records written so far are kept.
    pub fn run(mut self) -> Result<Outcome, GeneratorError> {
        let limit = self.workload.limit.ps();
        let (mut armed, mut tick, mut samples) = (None, TICK_PS, 1);
        let mut happened = Vec::new();
        let mut interrupted = false;
        while self.progress.finished + self.progress.failed < self.progress.flows {
            let now = self.clock.now_ps();
            if now >= limit {
                break;
            }
            if self.clock.has_begun() {
                self.start_due(now)?;
            }
            samples = self.take_samples(now, samples)?;
            if now >= tick {
                self.progress.elapsed_ps = now;
                self.observer.progress(&self.progress);
                self.records.0.flush().map_err(GeneratorError::Records)?;
                // Others may have freed what the listeners lack.
                self.listeners.resume(&self.poller).map_err(kernel("a listener"))?;
                tick = now + TICK_PS;
            }
            let start = self.next_start().unwrap_or(limit);
            let sample = self.workload.sample.map_or(limit, |span| (span * samples).ps());
            let due = limit.min(start).min(sample).min(tick);
            if armed != Some(due) {
                self.poller.set_timer(self.clock.at_ps(due)).map_err(kernel("the timer"))?;
                armed = Some(due);
            }
            if self.progress.finished + self.progress.failed == self.progress.flows {
                break;
            }
            self.poller.wait(None, &mut happened).map_err(kernel("epoll"))?;
            for token in &happened {
                match Token::from(*token) {
                    Token::Signal => interrupted = true,
                    Token::Listener(at) => self.accept(at)?,
                    Token::Sender(place) => self.send(place)?,
                    Token::Receiver(place) => self.receive(place)?,
                }
            }
            if interrupted {
                break;
            }
        }
        self.end(interrupted)
    }

    /// The start time of the next flow.
    fn next_start(&self) -> Option<u64> {
        self.workload.flows.get(self.next).map(|flow| flow.start.ps())
    }

    /// Starts due flows, up to [`TURN`] of them.
    fn start_due(&mut self, now: u64) -> Result<(), GeneratorError> {
        for _ in 0..TURN {
            let Some(flow) = self.workload.flows.get(self.next).filter(|flow| flow.start.ps() <= now) else {
                return Ok(());
            };
            let place = self.next as u32;
            self.next += 1;
            if self.here[flow.src as usize] && !self.ended[place as usize] {
                self.start(place, flow)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, place: u32, flow: &Flow) -> Result<(), GeneratorError> {
        self.progress.started += 1;
        let open = Open {
            record: Record { flow: flow.id, ..Record::default() },
            sender: End::Awaited,
            receiver: End::awaited(self.here[flow.dst as usize]),
        };
        let open = self.open.entry(place).or_insert(open);
        if let Some(why) = self.listeners.failure(flow) {
            let why = why.to_owned();
            return self.fail(place, why);
        }
        let (from, to) = (self.workload.source(flow), self.workload.destination(flow));
        let congestion = self.workload.congestion.as_deref();
        let entered = self.namespaces.enter(flow.src);
        let socket = match entered.and_then(|()| socket::sender(from, congestion, flow.dscp)) {
            Ok(socket) => socket,
            Err(error) => return self.fail(place, format!("bind to {from}: {error}")),
        };
        if let Ok(name) = socket::congestion(&socket)
            && !self.congestion.contains(&name)
        {
            self.congestion.insert(name);
        }
        let start = self.clock.now_ps();
        open.record.start_ps = Some(start);
        self.late.push(start.saturating_sub(flow.start.ps()));
        let connecting = socket::connect(&socket, to)
            .and_then(|()| self.poller.add(&socket, Token::Sender(place), Interest::Write));
        match connecting {
            Ok(()) => {
                open.sender = End::Here(Sender::new(socket, flow.bytes));
                Ok(())
            }
            Err(error) => self.fail(place, format!("connect to {to}: {error}")),
        }
    }

    fn accept(&mut self, at: u32) -> Result<(), GeneratorError> {
        for _ in 0..TURN {
            match self.listeners.accept(at, &self.poller).map_err(kernel("a listener"))? {
                Accepted::Flow(place, connection) => self.accepted(place, connection)?,
                Accepted::Stranger => self.strangers += 1,
                Accepted::Nothing => break,
            }
        }
        Ok(())
    }

    /// Handles the accepted connection of a flow.
    fn accepted(&mut self, place: u32, connection: Socket) -> Result<(), GeneratorError> {
        if self.ended[place as usize] {
            socket::abort(connection);
            return Ok(());
        }
        let flow = &self.workload.flows[place as usize];
        let open = self.open.entry(place).or_insert_with(|| {
            self.progress.started += 1;
            let record = Record { flow: flow.id, ..Record::default() };
            Open { record, sender: End::awaited(self.here[flow.src as usize]), receiver: End::Awaited }
        });
        let to = self.workload.destination(flow);
        let ready = socket::mark(&connection, to, flow.dscp)
            .and_then(|()| self.poller.add(&connection, Token::Receiver(place), Interest::Read));
        open.receiver = End::Here(Receiver::new(connection, flow.bytes));
        ready
            .or_else(|error| self.fail(place, format!("accept at {to}: {error}")).map_err(io::Error::other))
            .map_err(kernel("a connection"))
    }

    fn send(&mut self, place: u32) -> Result<(), GeneratorError> {
        let Some(Open { record, sender: end, .. }) = self.open.get_mut(&place) else { return Ok(()) };
        let End::Here(sender) = end else { return Ok(()) };
        let step = sender.go_on(&self.clock);
        record.established_ps = sender.established_ps;
        match step {
            Ok(Step::Same) => Ok(()),
            Ok(Step::Written) => {
                let changed = self.poller.change(&sender.socket, Token::Sender(place), Interest::Read);
                changed.map_err(kernel("epoll"))
            }
            Ok(Step::Closed) => {
                record.take_sender(sender);
                *end = End::Closed;
                self.close(place)
            }
            Err(error) => {
                let what = if sender.established_ps.is_none() { "connect" } else { "send" };
                let to = self.workload.destination(&self.workload.flows[place as usize]);
                self.fail(place, format!("{what} to {to}: {error}"))
            }
        }
    }

    fn receive(&mut self, place: u32) -> Result<(), GeneratorError> {
        let Some(Open { record, receiver: end, .. }) = self.open.get_mut(&place) else { return Ok(()) };
        let End::Here(receiver) = end else { return Ok(()) };
        let before = receiver.received();
        let step = receiver.go_on(&self.clock, &mut self.scratch);
        let flow = &self.workload.flows[place as usize];
        let more = receiver.received() - before;
        self.progress.bytes += more;
        self.delivered[usize::from(flow.class)] += more;
        record.end_ps = receiver.end_ps;
        match step {
            Ok(Step::Same | Step::Written) => Ok(()),
            Ok(Step::Closed) => {
                record.take_receiver(receiver);
                *end = End::Closed;
                self.close(place)
            }
            Err(error) => {
                self.fail(place, format!("receive at {}: {error}", self.workload.destination(flow)))
            }
        }
    }

    /// Ends a flow once all of its ends on this machine are closed.
    fn close(&mut self, place: u32) -> Result<(), GeneratorError> {
        let over = self.open.get(&place).is_some_and(|open| open.sender.is_over() && open.receiver.is_over());
        if over {
            self.progress.finished += 1;
            self.write_off(place)?;
        }
        self.listeners.resume(&self.poller).map_err(kernel("a listener"))
    }

    /// Ends a flow with an error.
    fn fail(&mut self, place: u32, why: String) -> Result<(), GeneratorError> {
        if let Some(open) = self.open.get_mut(&place) {
            open.record.error = Some(why);
            self.progress.failed += 1;
            self.write_off(place)?;
        }
        self.listeners.resume(&self.poller).map_err(kernel("a listener"))
    }

    /// Writes a flow's record and drops its state.
    fn write_off(&mut self, place: u32) -> Result<(), GeneratorError> {
        let Some(Open { mut record, sender, receiver }) = self.open.remove(&place) else { return Ok(()) };
        if let End::Here(sender) = sender {
            record.take_sender(&sender);
            socket::abort(sender.socket);
        }
        if let End::Here(receiver) = receiver {
            record.take_receiver(&receiver);
            socket::abort(receiver.socket);
        }
        self.ended[place as usize] = true;
        self.records.write(&record).map_err(GeneratorError::Records)
    }

    /// Takes the samples that are due; returns the number of the next.
    fn take_samples(&mut self, now: u64, mut next: u64) -> Result<u64, GeneratorError> {
        let Some(span) = self.workload.sample else { return Ok(next) };
        while (span * next).ps() <= now {
            for (class, delivered) in self.workload.classes.iter().zip(&mut self.delivered) {
                let delivered_bytes = std::mem::take(delivered);
                let sample = Sample { time_ps: (span * next).ps(), class, delivered_bytes };
                self.records.write(&sample).map_err(GeneratorError::Records)?;
            }
            next += 1;
        }
        Ok(next)
    }

    /// Writes the records of unfinished flows and returns the result.
    fn end(mut self, interrupted: bool) -> Result<Outcome, GeneratorError> {
        let elapsed_ps = self.clock.now_ps();
        let why = if interrupted { "the run was interrupted" } else { "the run's time limit was reached" };
        for place in 0..self.workload.flows.len() {
            if self.ended[place] {
                continue;
            }
            let flow = &self.workload.flows[place];
            let record = Record { flow: flow.id, ..Record::default() };
            let missing = |open: &Open| match (&open.sender, &open.receiver) {
                (_, End::Here(receiver)) => {
                    format!("{why} after {} of {} bytes", receiver.received(), flow.bytes)
                }
                (End::Here(Sender { established_ps: None, .. }), _) => {
                    format!("{why} before the connection was established")
                }
                _ => why.to_owned(),
            };
            let unheard = self.listeners.failure(flow).map(str::to_owned);
            let error = self
                .open
                .get(&(place as u32))
                .map_or_else(|| unheard.unwrap_or_else(|| format!("{why} before the flow started")), missing);
            let (sender, receiver) = (End::Elsewhere, End::Elsewhere);
            self.open.entry(place as u32).or_insert(Open { record, sender, receiver });
            self.fail(place as u32, error)?;
        }
        self.records.0.flush().map_err(GeneratorError::Records)?;
        let outcome = Outcome {
            flows: self.progress.flows,
            finished: self.progress.finished,
            failed: self.progress.failed,
            bytes: self.progress.bytes,
            elapsed_ps,
            start_at_ns: self.clock.start_ns(),
            interrupted,
            strangers: self.strangers,
            congestion: self.congestion,
            lateness: Lateness::of(self.late),
        };
        outcome.lateness.warning().iter().for_each(|warning| self.observer.warning(warning));
        self.observer.done(&outcome);
        Ok(outcome)
    }
}
