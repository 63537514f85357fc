//! The daemon: its event loop and everything that may block. The reactions are in [`switch`], which never blocks; both
//! share a lock that is never held while waiting.

mod adoption;
pub(crate) mod answer;
mod appearing;
mod background;
mod carriers;
mod control;
mod delivery;
pub mod ethtool;
mod excess;
mod exposition;
mod fib;
mod hearing;
mod hello;
mod hold;
mod identity;
mod interfaces;
mod leaves;
mod links;
mod listed;
mod log_limit;
mod longest;
mod loop_counts;
mod loops;
mod losses;
mod memory;
mod metrics;
mod moves;
mod notices;
mod owners;
mod peering;
mod peers;
mod places;
pub(crate) mod ports;
mod presence;
mod privileges;
mod rates;
pub(crate) mod refusal;
mod reload;
mod report;
pub(crate) mod request;
mod route_entries;
mod route_report;
pub(crate) mod shared;
pub(crate) mod socket;
mod staging;
mod start;
mod storms;
mod support;
pub(crate) mod switch;
mod throttle;
mod trace;
mod turn;
mod unkeyed;
mod unrouted;
mod unsent;
mod walks;
mod watch_pins;
mod withdrawal;

use std::sync::{Arc, Mutex};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::clock;
use crate::config::Config;
use crate::names::SwitchName;
use crate::pins::Pins;
use crate::tags::daemon::{self as tags, Tags};
use fib::RouteChanges;
use interfaces::Saved;
use links::{Changes, Event, Links};
use shared::{Inner, Shared, Waiting};
use switch::Task;
use walks::Walks;

pub use listed::warnings;
pub use places::Places;
pub use refusal::Refusal;
pub use start::Start;

/// The signals that the daemon handles.
struct Signals {
    stop: Signal,
    interrupt: Signal,
    reload: Signal,
}

impl Signals {
    fn catch() -> std::io::Result<Self> {
        Ok(Self {
            stop: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            reload: signal(SignalKind::hangup())?,
        })
    }
}

/// Runs the daemon until it is stopped.
///
/// # Errors
/// [`Refusal`].
pub async fn run(start: Start) -> Result<(), Refusal> {
    let config = Config::load(start.file.as_deref(), &start.flags)?;
    start::check_capabilities()?;
    let lock = start::lock(&start.places, &config.name)?;
    let (name, control, metrics) = (config.name.clone(), config.control.clone(), config.metrics);
    let links = Links::open().map_err(Refusal::system("opening netlink"))?;
    // Before interfaces are first listed, so that no change is missed.
    let changes = Changes::open().map_err(Refusal::system("listening to netlink"))?;
    // Acquire resources that may be refused before changing anything.
    let metrics = match metrics {
        Some(address) => Some(exposition::bind(address).await?),
        None => None,
    };
    let socket = control::open(&start.places.run, &name, &control)?;
    let mut saved = Saved::open(start.places.file(&name, "interfaces"));
    // Before routes are first read, so that no change is missed.
    let route_changes = config.uses_kernel.then(RouteChanges::open).transpose();
    let route_changes = route_changes.map_err(Refusal::system("listening to changes of routes"))?;
    let switch = start::start(config, &start.places, start.hook, &links, &mut saved).await;
    let (mut switch, lost) = switch.inspect_err(|_| socket.discard())?;
    let tags = Tags::open(&mut switch, &start.places.run).inspect_err(|_| socket.discard())?;
    let (tags, misses) = tags.unzip();
    let (tasks, todo) = mpsc::unbounded_channel();
    let (down, asked) = mpsc::channel(1);
    let inner = Inner {
        switch: Mutex::new(switch),
        changed: Notify::new(),
        tasks,
        walks: Walks::default(),
        down,
        trace: trace::channel(),
        tags,
        start: start.clone(),
    };
    let shared = Shared(Arc::new(inner));
    let ports = shared.lock().ports.len() as u16;
    for number in 0..ports {
        appearing::listen(&shared, number);
    }
    shared.hand(lost);
    let metrics = metrics.map(|listener| exposition::serve(&shared, listener));
    // Threads inherit privileges, so none may be started before this.
    privileges::drop_all_but(&start::CAPABILITIES);
    carriers::watch(&shared);
    watch_pins::watch(&shared);
    if let Some(misses) = misses {
        tags::watch(&shared, misses);
    }
    // Before anyone can see that the daemon runs, and stop it.
    let signals = Signals::catch().map_err(Refusal::system("catching signals"))?;
    // Logged before the control socket answers: a client that sees the daemon finds these lines.
    {
        let switch = shared.lock();
        tracing::info!(
            name = %name, mode = ?switch.config.mode, ports = switch.ports.len(), hook = ?switch.hook, adopted = switch.adopted,
            id = format!("{:016x}", switch.hellos.id), "switching"
        );
        unkeyed::warn(&switch);
    }
    let control = socket.serve(&shared)?;
    let sweeping = tokio::spawn(background::sweep(shared.clone()));
    let moving = tokio::spawn(moves::watch(shared.clone()));
    let limiting = tokio::spawn(excess::watch(shared.clone()));
    let guarding = tokio::spawn(storms::watch(shared.clone()));
    let routing =
        route_changes.map(|changes| tokio::spawn(leaves::watch(shared.clone(), links.clone(), changes)));
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
    shared.lock().begin_holds(clock::now());
    let ended = serve(&shared, &links, &mut saved, signals, changes, todo, asked).await;
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Stopping]);
    sweeping.abort();
    moving.abort();
    limiting.abort();
    guarding.abort();
    routing.inspect(tokio::task::JoinHandle::abort);
    control.hide();
    if let Some(metrics) = metrics {
        metrics.abort();
        let _ = metrics.await;
    }
    let Some(waiting) = ended? else { return Ok(()) };
    let done = take_down(&shared, &links, &mut saved).await;
    // The client may start another daemon as soon as it has the answer.
    drop(lock);
    if let Ok(lines) = &done {
        tracing::info!(things = lines.len(), "taken down: pins removed, interfaces restored");
        lines.iter().for_each(|line| tracing::debug!("{line}"));
    }
    let _ = waiting.send(done.as_ref().map(Clone::clone).map_err(ToString::to_string));
    control.end().await;
    done.map(|_| ())
}

/// The event loop; returns the answer channel of the client that took the switch down, if one did.
async fn serve(
    shared: &Shared,
    links: &Links,
    saved: &mut Saved,
    Signals { mut stop, mut interrupt, mut reload }: Signals,
    mut changes: Changes,
    mut todo: mpsc::UnboundedReceiver<Task>,
    mut asked: mpsc::Receiver<Waiting>,
) -> Result<Option<Waiting>, Refusal> {
    let alive = watchdog();
    let mut next_alive = Instant::now();
    loop {
        // A hung daemon does not get here, and systemd restarts it (WatchdogSec=). systemd is notified at its own
        // interval, however often the loop runs.
        if let Some(often) = alive.filter(|_| Instant::now() >= next_alive) {
            let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Watchdog]);
            next_alive = Instant::now() + often;
        }
        let (tasks, next) = {
            let mut switch = shared.lock();
            let now = clock::now();
            let (mut tasks, role_ends) = switch.expire(now);
            tasks.extend(switch.leave(now));
            let retry = switch.withdraw(now);
            let sending = switch.greet(now).min(switch.probe(now));
            switch.due = role_ends.min(sending).min(retry);
            (tasks, switch.due)
        };
        shared.hand(tasks);
        let wait = clock::until(next);
        let wake = Instant::now() + wait;
        let wake = alive.map_or(wake, |_| wake.min(next_alive));
        tokio::select! {
            biased;
            Some(waiting) = asked.recv() => return Ok(Some(waiting)),
            _ = stop.recv() => return Ok(None),
            _ = interrupt.recv() => return Ok(None),
            heard = changes.next() => match heard {
                Ok(events) => follow(shared, links, events).await,
                Err(error) => return Err(Refusal::System { what: "listening to netlink", error }),
            },
            Some(task) = todo.recv() => work(shared, links, saved, task).await,
            () = tokio::time::sleep_until(wake) => {}
            () = shared.0.changed.notified() => {}
            _ = reload.recv() => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    if let Err(error) = reload::reload(&shared).await {
                        tracing::error!("reload failed, nothing was changed: {error}");
                    }
                });
            }
        }
    }
}

/// The interval of watchdog notifications, if the service manager expects them.
fn watchdog() -> Option<std::time::Duration> {
    // sd_watchdog_enabled(3): WATCHDOG_PID, if set, must be our process id.
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let ours = std::env::var_os("WATCHDOG_PID").is_none()
        || number("WATCHDOG_PID") == Some(std::process::id().into());
    // systemd kills the daemon after twice this interval without a notification.
    number("WATCHDOG_USEC").filter(|_| ours).map(|usec| std::time::Duration::from_micros(usec / 2))
}

/// Handles interface changes.
async fn follow(shared: &Shared, links: &Links, events: Vec<Event>) {
    // Only messages about a controller need the names of all interfaces.
    let about = |event: &Event| matches!(event, Event::Is(interface) if interface.controller.is_some());
    let all = if events.iter().any(about) { links.all().await.unwrap_or_default() } else { Vec::new() };
    for event in events {
        let tasks = shared.lock().link(event, &all, clock::now());
        shared.hand(tasks);
    }
}

async fn work(shared: &Shared, links: &Links, saved: &mut Saved, task: Task) {
    match task {
        Task::LookAgain => {
            let Ok(all) = links.all().await else { return };
            let known: Vec<u32> = {
                let switch = shared.lock();
                switch.ports.iter().filter_map(|port| Some(port.interface.as_ref()?.index)).collect()
            };
            let gone =
                known.into_iter().filter(|index| !all.iter().any(|interface| interface.index == *index));
            let events: Vec<Event> =
                gone.map(Event::Gone).chain(all.iter().cloned().map(Event::Is)).collect();
            for event in events {
                let tasks = shared.lock().link(event, &all, clock::now());
                shared.hand(tasks);
            }
        }
        Task::Appeared(number) => appearing::take(shared, links, saved, number).await,
        Task::Broken(number) => background::broken(shared, number),
        Task::Left(number) => background::left(shared, number),
    }
}

/// Removes the data plane and its pins and notifies neighbours; returns a line for each thing removed or restored.
async fn take_down(shared: &Shared, links: &Links, saved: &mut Saved) -> Result<Vec<String>, Refusal> {
    let mut done = {
        let mut switch = shared.lock();
        switch.is_gone = true;
        for number in 0..switch.ports.len() as u16 {
            switch.say(number, 0, clock::now());
        }
        switch.held.release();
        let mut removed = switch.pins.remove()?;
        removed.extend(forget_names(&shared.0.start.places, &switch.config.name));
        removed
    };
    done.extend(saved.restore(links).await);
    Ok(done)
}

/// Removes the file of gate names.
fn forget_names(places: &Places, name: &SwitchName) -> Option<String> {
    let path = tags::names_file(&places.run, name);
    std::fs::remove_file(&path).is_ok().then(|| format!("removed {}", path.display()))
}

/// Removes the remains of a stopped daemon of this name; returns a line for each thing removed or restored.
///
/// # Errors
/// [`Refusal`]; nothing is changed if the pin directory has entries that weft-switchd does not create.
pub async fn take_away(places: &Places, name: &SwitchName) -> Result<Vec<String>, Refusal> {
    start::check_capabilities()?;
    let pins = Pins::of(&places.pins, name);
    // Before even a lock file is created.
    pins.inspect()?;
    let _lock = start::lock(places, name)?;
    let links = Links::open().map_err(Refusal::system("opening netlink"))?;
    let mut done = pins.remove()?;
    done.extend(forget_names(places, name));
    done.extend(Saved::open(places.file(name, "interfaces")).restore(&links).await);
    Ok(done)
}
