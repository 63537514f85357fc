//! [`Flows`]: the flows of this machine: they start, send and receive, and end with a record.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use socket2::Socket;
use weft_poller::{Interest, Poller};
use weft_units::plural;

use crate::clock::Clock;
use crate::connection::{Receiver, Scratch, Sender, Step};
use crate::error::{GeneratorError, kernel};
use crate::listeners::{Accepted, Listeners};
use crate::namespace::Namespaces;
use crate::open_flow::{End, Open};
use crate::progress::Progress;
use crate::record::{Lines, Record, Sample};
use crate::socket;
use crate::token::Token;
use crate::workload::{Flow, Workload};

/// Maximum flows started, or connections accepted, per loop iteration.
const TURN: usize = 64;

/// The flows of this machine.
pub(super) struct Flows<'a, W: Write> {
    pub(super) workload: &'a Workload,
    here: Vec<bool>,
    pub(super) clock: Clock,
    pub(super) poller: Poller,
    namespaces: Namespaces,
    pub(super) listeners: Listeners,
    pub(super) records: Lines<W>,
    scratch: Scratch,
    /// For each flow, whether it has ended on this machine.
    ended: Vec<bool>,
    open: HashMap<u32, Open>,
    /// The index of the next flow to start.
    next: usize,
    pub(super) progress: Progress,
    pub(super) late: Vec<u64>,
    pub(super) congestion: BTreeSet<String>,
    pub(super) strangers: u64,
    /// Bytes delivered since the last sample, by class.
    delivered: Vec<u64>,
}

impl<'a, W: Write> Flows<'a, W> {
    /// The flows of `workload` with an end `here`, none of which has started.
    pub(super) fn new(
        workload: &'a Workload,
        here: Vec<bool>,
        clock: Clock,
        poller: Poller,
        namespaces: Namespaces,
        listeners: Listeners,
        records: W,
    ) -> Self {
        let is_here = |flow: &Flow| here[flow.src as usize] || here[flow.dst as usize];
        let ended: Vec<bool> = workload.flows.iter().map(|flow| !is_here(flow)).collect();
        let to_receive = workload.flows.iter().filter(|flow| here[flow.dst as usize]);
        let progress = Progress {
            flows: ended.iter().filter(|ended| !**ended).count() as u64,
            bytes_total: to_receive.map(|flow| flow.bytes).fold(0, u64::saturating_add),
            ..Progress::default()
        };
        Self {
            workload,
            here,
            clock,
            poller,
            namespaces,
            listeners,
            records: Lines(records),
            scratch: Scratch::default(),
            ended,
            open: HashMap::new(),
            next: 0,
            progress,
            late: Vec::new(),
            congestion: BTreeSet::new(),
            strangers: 0,
            delivered: vec![0; workload.classes.len()],
        }
    }

    /// Whether all flows have ended.
    pub(super) fn is_over(&self) -> bool {
        self.progress.finished + self.progress.failed == self.progress.flows
    }

    /// The start time of the next flow.
    pub(super) fn next_start(&self) -> Option<u64> {
        self.workload.flows.get(self.next).map(|flow| flow.start.ps())
    }

    /// Starts due flows, up to [`TURN`] of them.
    pub(super) fn start_due(&mut self, now: u64) -> Result<(), GeneratorError> {
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

    pub(super) fn accept(&mut self, at: u32) -> Result<(), GeneratorError> {
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

    pub(super) fn send(&mut self, place: u32) -> Result<(), GeneratorError> {
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

    pub(super) fn receive(&mut self, place: u32) -> Result<(), GeneratorError> {
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
    pub(super) fn take_samples(&mut self, now: u64, mut next: u64) -> Result<u64, GeneratorError> {
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

    /// Ends all other flows with an error that begins with `why`.
    pub(super) fn abandon(&mut self, why: &str) -> Result<(), GeneratorError> {
        for place in 0..self.workload.flows.len() {
            if self.ended[place] {
                continue;
            }
            let flow = &self.workload.flows[place];
            let record = Record { flow: flow.id, ..Record::default() };
            let missing = |open: &Open| match (&open.sender, &open.receiver) {
                (_, End::Here(receiver)) => {
                    format!("{why} after {} of {}", receiver.received(), plural(flow.bytes, "byte"))
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
        Ok(())
    }
}
