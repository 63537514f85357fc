//! [`Generator`]: the event loop that starts flows on time and runs them to completion.

mod flows;

use std::io::Write;
use std::time::Duration;

use weft_poller::{Interest, Poller};

use self::flows::Flows;
use crate::clock::Clock;
use crate::error::{GeneratorError, kernel};
use crate::hosts::{check_host, raise_file_limit};
use crate::lateness::Lateness;
use crate::listeners::Listeners;
use crate::namespace::Namespaces;
use crate::outcome::Outcome;
use crate::progress::{Observer, Style};
use crate::signals::Signals;
use crate::token::Token;
use crate::workload::Workload;

/// Time between opening the listeners and the start, if `start_at_ns` is not given.
const LEAD: Duration = Duration::from_millis(20);
/// The interval of progress reports, in picoseconds.
const TICK_PS: u64 = 250_000_000_000;

/// Sends a workload.
pub struct Generator<'a, W: Write> {
    flows: Flows<'a, W>,
    /// Signals are caught until this is dropped.
    _signals: Signals,
    observer: Observer,
}

impl<'a, W: Write> Generator<'a, W> {
    /// Opens the listeners of the local hosts (`here` has one entry per host) and sets the start time.
    ///
    /// # Errors
    /// The reason why the run cannot start. A port in use does not prevent it: only its flows fail.
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
        let flows = Flows::new(workload, here, clock, poller, namespaces, listeners, records);
        let observer = Observer(style);
        observer.ready(flows.clock.start_ns(), flows.progress.flows);
        Ok(Self { flows, _signals: signals, observer })
    }

    /// Runs until all flows have ended, the time limit is reached, or the user interrupts it. Every
    /// flow of this machine then has a record.
    ///
    /// # Errors
    /// The reason why the run cannot continue; records written so far are kept.
    pub fn run(mut self) -> Result<Outcome, GeneratorError> {
        let flows = &mut self.flows;
        let limit = flows.workload.limit.ps();
        let (mut armed, mut tick, mut samples) = (None, TICK_PS, 1);
        let mut happened = Vec::new();
        let mut interrupted = false;
        while !flows.is_over() {
            let now = flows.clock.now_ps();
            if now >= limit {
                break;
            }
            if flows.clock.has_begun() {
                flows.start_due(now)?;
            }
            samples = flows.take_samples(now, samples)?;
            if now >= tick {
                flows.progress.elapsed_ps = now;
                self.observer.progress(&flows.progress);
                flows.records.0.flush().map_err(GeneratorError::Records)?;
                // Others may have freed the ports or descriptors that the listeners lack.
                flows.listeners.resume(&flows.poller).map_err(kernel("a listener"))?;
                tick = now + TICK_PS;
            }
            let start = flows.next_start().unwrap_or(limit);
            let sample = flows.workload.sample.map_or(limit, |span| (span * samples).ps());
            let due = limit.min(start).min(sample).min(tick);
            if armed != Some(due) {
                flows.poller.set_timer(flows.clock.at_ps(due)).map_err(kernel("the timer"))?;
                armed = Some(due);
            }
            if flows.is_over() {
                break;
            }
            flows.poller.wait(None, &mut happened).map_err(kernel("epoll"))?;
            for token in &happened {
                match Token::from(*token) {
                    Token::Signal => interrupted = true,
                    Token::Listener(at) => flows.accept(at)?,
                    Token::Sender(place) => flows.send(place)?,
                    Token::Receiver(place) => flows.receive(place)?,
                }
            }
            if interrupted {
                break;
            }
        }
        self.end(interrupted)
    }

    /// Writes the records of unfinished flows and returns the result.
    fn end(self, interrupted: bool) -> Result<Outcome, GeneratorError> {
        let mut flows = self.flows;
        let elapsed_ps = flows.clock.now_ps();
        let why = if interrupted { "the run was interrupted" } else { "the run's time limit was reached" };
        flows.abandon(why)?;
        flows.records.0.flush().map_err(GeneratorError::Records)?;
        let outcome = Outcome {
            flows: flows.progress.flows,
            finished: flows.progress.finished,
            failed: flows.progress.failed,
            bytes: flows.progress.bytes,
            elapsed_ps,
            start_at_ns: flows.clock.start_ns(),
            interrupted,
            strangers: flows.strangers,
            congestion: flows.congestion,
            lateness: Lateness::of(flows.late),
        };
        outcome.lateness.warning().iter().for_each(|warning| self.observer.warning(warning));
        self.observer.done(&outcome);
        Ok(outcome)
    }
}
