//! [`run`]: connects all switches, waits until the controller has discovered the network, opens connections and returns
//! the results.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use thiserror::Error;
use weft_poller::{Interest, Poller};
use weft_units::reason;

use crate::agent::Stage;
use crate::channel::{Channel, ChannelError};
use crate::connections::{Connections, Offer};
use crate::counts::Counts;
use crate::network::Network;
use crate::pace::{Offered, Pace};
use crate::process::{Process, Usage};
use crate::report::{ConnectionCounts, Controller, Fabric, Latencies, Latency, Memory, Report};
use crate::world::{Delays, World};

/// How long the controller must be quiet before it counts as ready.
const QUIET: u64 = 500_000_000;
/// The retry interval of unanswered ARP requests.
const ASK_AGAIN: u64 = 1_000_000_000;
/// Connections opened between two polls.
const AT_ONCE: usize = 16;
/// The longest wait in a poll.
const LONGEST_WAIT: u64 = 100_000_000;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The controller's address and port.
    pub controller: SocketAddr,
    /// Its process, to measure memory and CPU time.
    pub process: Option<Process>,
    /// The kind of connections.
    pub offer: Offer,
    /// The offered load.
    pub offered: Offered,
    /// Connections to open first, not measured.
    pub warm_up: u64,
    /// Connections to measure.
    pub connections: u64,
    /// Maximum complete connections kept alive: beyond it the oldest end.
    pub alive: u64,
    /// Delays outside the controller.
    pub delays: Delays,
    /// Timeout for the controller to discover the network.
    pub patience: Duration,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Why nothing was measured.
#[derive(Debug, Error)]
pub enum RunError {
    /// The controller cannot be reached.
    #[error("cannot connect to a controller on {address}: {}", reason(error))]
    Connect {
        /// Its address.
        address: SocketAddr,
        /// The cause.
        error: io::Error,
    },
    /// A switch lost its connection.
    #[error("switch {switch}: {error}")]
    Channel {
        /// The switch.
        switch: String,
        /// The cause.
        error: ChannelError,
    },
    /// A protocol error between a switch and the controller.
    #[error("switch {switch}: {reason}")]
    Protocol {
        /// The switch.
        switch: String,
        /// The cause.
        reason: String,
    },
    /// The controller did not become ready.
    #[error("the controller was not ready in time: {0}")]
    Unready(String),
    /// The connections alive between two hosts use all ports.
    #[error("two hosts have no free ports for another connection: keep fewer alive, or use more hosts")]
    Ports,
    /// The controller's process cannot be read.
    #[error("the controller's process: {}", reason(.0))]
    Process(io::Error),
    /// A system call failed.
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
}

/// The phases of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Waiting until all switches are known, LLDP has crossed all links, and the controller is quiet.
    Learning,
    /// Waiting until every host's ARP request is answered; the time of the last requests.
    Resolving(u64),
    /// Opening connections that are not measured.
    WarmingUp,
    /// Opening measured connections.
    Loading,
}

/// A run.
struct Run<'a> {
    settings: &'a Settings,
    world: World,
    channels: Vec<Channel>,
    poller: Poller,
    start: Instant,
    /// Switches with possibly unread data.
    unread: Vec<bool>,
    pace: Pace,
    /// The start of the measurement.
    began: u64,
    /// Usage of the controller and of this process at that time.
    before: Option<Usage>,
    cpu_before: Duration,
    memory: Vec<Memory>,
}

/// Runs a measurement with the switches and hosts of `network`.
///
/// # Errors
/// [`RunError`].
pub fn run(network: Network, settings: &Settings) -> Result<Report, RunError> {
    let random =
        |stream: u64| Xoshiro256PlusPlus::seed_from_u64(settings.seed.wrapping_mul(2).wrapping_add(stream));
    let connections = Connections::new(&network, settings.offer, random(0));
    let mut channels = Vec::with_capacity(network.switches.len());
    let poller = Poller::new()?;
    for number in 0..network.switches.len() {
        let address = settings.controller;
        let channel = Channel::open(address).map_err(|error| RunError::Connect { address, error })?;
        poller.add(channel.stream(), number as u64, Interest::Changes)?;
        channels.push(channel);
    }
    let mut run = Run {
        unread: vec![false; channels.len()],
        world: World::new(network, connections, settings.delays),
        channels,
        poller,
        start: Instant::now(),
        pace: Pace::new(settings.offered, random(1)),
        began: 0,
        before: None,
        cpu_before: Duration::ZERO,
        memory: Vec::new(),
        settings,
    };
    run.finish()?;
    run.report()
}

impl Run<'_> {
    fn finish(&mut self) -> Result<(), RunError> {
        let mut phase = Phase::Learning;
        let mut happened = Vec::new();
        loop {
            self.world.now = self.start.elapsed().as_nanos() as u64;
            let due = self.world.on_time();
            match self.step(phase)? {
                Some(next) => phase = next,
                None => return Ok(()),
            }
            self.flush()?;
            let wait = self.wait(phase, due);
            self.poller.wait(Some(Duration::from_nanos(wait)), &mut happened)?;
            happened.iter().for_each(|switch| self.unread[*switch as usize] = true);
            self.read()?;
        }
    }

    /// Advances the run; returns the next phase, or `None` when done.
    fn step(&mut self, phase: Phase) -> Result<Option<Phase>, RunError> {
        let (now, world) = (self.world.now, &mut self.world);
        let patient = Duration::from_nanos(now) < self.settings.patience;
        let connections = world.connections.opened;
        match phase {
            Phase::Learning => {
                let known = world.agents.iter().filter(|agent| agent.stage == Stage::Known).count();
                let (crossed, directions) = (world.directions_crossed(), world.network.directions());
                if known == world.agents.len() && crossed == directions && now > world.busy + QUIET {
                    (0..world.network.hosts.len()).for_each(|host| world.announce(host));
                    return Ok(Some(Phase::Resolving(now)));
                }
                let why = format!(
                    "it has requested features from {known} of {} switches, and LLDP has crossed {crossed} of \
                     {directions} directed links",
                    world.agents.len()
                );
                if patient { Ok(Some(phase)) } else { Err(RunError::Unready(why)) }
            }
            Phase::Resolving(asked) => {
                let unresolved = world.resolved.iter().position(|resolved| !resolved);
                match unresolved {
                    None if now > world.busy + QUIET => Ok(Some(self.begin(Phase::WarmingUp)?)),
                    Some(host) if !patient => {
                        let host = &world.network.hosts[host].name;
                        Err(RunError::Unready(format!("host {host} received no reply to its ARP request")))
                    }
                    Some(_) if now > asked + ASK_AGAIN => {
                        self.ask_again();
                        Ok(Some(Phase::Resolving(now)))
                    }
                    _ => Ok(Some(phase)),
                }
            }
            Phase::WarmingUp
                if world.connections.completed + world.connections.failed >= self.settings.warm_up =>
            {
                Ok(Some(self.begin(Phase::Loading)?))
            }
            Phase::Loading if connections >= self.settings.connections => {
                self.sample_memory()?;
                Ok((self.world.connections.in_progress() > 0).then_some(phase))
            }
            Phase::WarmingUp | Phase::Loading => {
                for _ in 0..AT_ONCE {
                    let world = &mut self.world;
                    let most = if phase == Phase::Loading { self.settings.connections } else { u64::MAX };
                    let in_progress = world.connections.in_progress();
                    if world.connections.opened >= most || !self.pace.take_due(now, in_progress) {
                        break;
                    }
                    if !world.open() {
                        return Err(RunError::Ports);
                    }
                }
                self.world.connections.end_all_but(self.settings.alive);
                self.sample_memory()?;
                Ok(Some(phase))
            }
        }
    }

    /// Repeats all unanswered ARP requests.
    fn ask_again(&mut self) {
        for host in 0..self.world.resolved.len() {
            if !self.world.resolved[host] {
                self.world.resolve(host, self.world.network.neighbor(host));
            }
        }
    }

    /// Resets the measurements and starts opening connections.
    fn begin(&mut self, phase: Phase) -> Result<Phase, RunError> {
        let world = &mut self.world;
        self.began = world.now;
        world.connections.start_over();
        world.counts = Counts::default();
        self.pace.start(self.began);
        self.cpu_before = cpu();
        self.before = self.usage()?;
        self.memory.clear();
        self.sample_memory()?;
        Ok(phase)
    }

    fn usage(&self) -> Result<Option<Usage>, RunError> {
        self.settings.process.map(|process| process.usage().map_err(RunError::Process)).transpose()
    }

    /// Samples the controller's memory after each 10 % of the connections.
    fn sample_memory(&mut self) -> Result<(), RunError> {
        let tenths = self.world.connections.completed * 10 / self.settings.connections.max(1);
        if tenths >= self.memory.len() as u64
            && let Some(usage) = self.usage()?
        {
            self.memory.push(Memory { alive: self.world.connections.alive(), bytes: usage.memory });
        }
        Ok(())
    }

    /// The time until the next action if nothing arrives, in nanoseconds.
    fn wait(&self, phase: Phase, due: Option<u64>) -> u64 {
        let loading = matches!(phase, Phase::WarmingUp | Phase::Loading);
        let unread = self.unread.iter().any(|unread| *unread);
        let offered = match self.settings.offered {
            Offered::InProgress(most) if loading => {
                let connections = &self.world.connections;
                let more = phase == Phase::WarmingUp || connections.opened < self.settings.connections;
                if more && connections.in_progress() < most { 0 } else { LONGEST_WAIT }
            }
            _ => LONGEST_WAIT,
        };
        let next = self.pace.next().filter(|_| loading);
        let times = due.into_iter().chain(next).map(|at| at.saturating_sub(self.world.now));
        if unread { 0 } else { times.chain([offered]).min().unwrap_or(0) }
    }

    /// Reads and handles incoming messages.
    fn read(&mut self) -> Result<(), RunError> {
        for number in 0..self.channels.len() {
            if !self.unread[number] {
                continue;
            }
            let world = &mut self.world;
            world.now = self.start.elapsed().as_nanos() as u64;
            let more = self.channels[number].read(|message| world.message(number, message));
            self.unread[number] = more.map_err(|error| lost(world, number, error))?;
            if let Some(reason) = world.agents[number].failed.take() {
                let switch = world.network.switches[number].name.clone();
                return Err(RunError::Protocol { switch, reason });
            }
        }
        Ok(())
    }

    /// Sends pending messages.
    fn flush(&mut self) -> Result<(), RunError> {
        let world = &mut self.world;
        for (number, channel) in self.channels.iter_mut().enumerate() {
            if !world.agents[number].out.is_empty() {
                let sent = channel.write(&mut world.agents[number].out);
                world.counts.bytes_out += sent.map_err(|error| lost(world, number, error))? as u64;
            }
        }
        Ok(())
    }

    fn report(self) -> Result<Report, RunError> {
        let after = self.usage()?;
        let Self { world, settings, pace, began, before, memory, .. } = self;
        let emulator = (cpu() - self.cpu_before).as_secs_f64();
        let (connections, counts) = (&world.connections, &world.counts);
        let taken = (world.now - began) as f64 / 1e9;
        let seconds = connections.last.saturating_sub(began) as f64 / 1e9;
        let completed = connections.completed as f64;
        let rules = world.agents.iter().map(|agent| agent.table.len());
        Ok(Report {
            fabric: Fabric {
                name: world.network.name.clone(),
                switches: world.network.switches.len(),
                cables: world.network.directions() / 2,
                hosts: world.network.hosts.len(),
            },
            subflows: settings.offer.subflows,
            seconds,
            connections: ConnectionCounts {
                opened: connections.opened,
                completed: connections.completed,
                failed: connections.failed,
                alive: connections.alive(),
            },
            per_second: completed / seconds,
            latency_ms: Latencies {
                connection_syn: Latency::of(&connections.capable),
                join_syn: Latency::of(&connections.join),
                connection: Latency::of(&connections.whole),
            },
            unasked_syns: connections.unasked,
            distinct_paths: connections.distinct_paths as f64 / completed,
            failures: connections.failures,
            messages_per_connection: counts.messages() as f64 / completed,
            messages_per_second: counts.messages() as f64 / seconds,
            messages: counts.clone(),
            rules: rules.clone().sum(),
            most_rules: rules.max().unwrap_or(0),
            late_ms: pace.late as f64 / 1e6,
            emulator_share_of_a_core: emulator / taken,
            controller: before.zip(after).map(|(before, after)| {
                let (user_s, system_s) = (after.user_s - before.user_s, after.system_s - before.system_s);
                Controller { user_s, system_s, share_of_a_core: (user_s + system_s) / taken, memory }
            }),
        })
    }
}

fn lost(world: &World, number: usize, error: ChannelError) -> RunError {
    RunError::Channel { switch: world.network.switches[number].name.clone(), error }
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
