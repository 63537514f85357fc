//! The daemon: what waits, and what it waits for. What is then done is in [`switch`], which waits for
//! nothing; both share a lock that is never held while waiting.

pub(crate) mod answer;
mod background;
mod carriers;
pub(crate) mod control;
mod delivery;
mod ethtool;
mod excess;
mod hello;
mod interfaces;
mod links;
mod memory;
mod metrics;
mod moves;
mod notices;
pub(crate) mod ports;
mod privileges;
mod quiet;
pub(crate) mod refusal;
mod reload;
mod report;
mod socket;
mod start;
pub(crate) mod switch;
mod trace;
mod turn;
mod unkeyed;
mod watch_pins;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio::time::Instant;
use weft_wire::EtherType;

use crate::clock;
use crate::config::{Config, Flags};
use crate::names::SwitchName;
use crate::pins::{Hook, Pins};
use crate::tags::daemon::{self as tags, Tags};
use interfaces::Saved;
use links::{Changes, Event, Interface, Links};
use socket::PortSocket;
use switch::{Switch, Task};

pub use refusal::Refusal;
pub use start::Places;

/// Hellos of a port that are read in a row, before others get their turn; then it rests.
const ROUND: u32 = 64;
/// How long a port rests that sends more Hellos than any switch.
const REST: std::time::Duration = std::time::Duration::from_millis(10);

/// How the daemon is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The file, and what the command line says before it.
    pub file: Option<std::path::PathBuf>,
    /// See there.
    pub flags: Flags,
    /// Where it keeps what.
    pub places: Places,
    /// How the program is attached; the newest way that the kernel has, if this is not said.
    pub hook: Option<Hook>,
}

/// The switch, and those who wait for it.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    switch: Mutex<Switch>,
    /// That a deadline may have come nearer.
    changed: Notify,
    tasks: mpsc::UnboundedSender<Task>,
    /// Ports whose flows are being looked through.
    walks: background::Walks,
    /// That it is to be taken down, and who waits until it is.
    down: mpsc::Sender<Waiting>,
    /// Events of explorations, to those who want them.
    trace: broadcast::Sender<serde_json::Value>,
    /// Gates and rules, of modes that have them.
    pub(crate) tags: Option<Tags>,
    /// How the daemon was started, to be read again.
    start: Start,
}

/// Who asked for the end, and is told what came of it.
type Waiting = oneshot::Sender<Result<Vec<String>, String>>;

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Switch> {
        self.0.switch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened that may have brought a deadline nearer, and gave these tasks.
    fn happened(&self, tasks: Vec<Task>) {
        self.0.changed.notify_one();
        self.hand(tasks);
    }

    /// Hands on what is to be done.
    fn hand(&self, tasks: Vec<Task>) {
        for task in tasks {
            // The receiver lives as long as the daemon.
            let _ = self.0.tasks.send(task);
        }
    }
}

/// The signals that the daemon is told things by.
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

/// Runs the daemon until it is told to stop.
///
/// # Errors
/// [`Refusal`].
pub async fn run(start: Start) -> Result<(), Refusal> {
    let config = Config::load(start.file.as_deref(), &start.flags)?;
    start::check_capabilities()?;
    let lock = start::lock(&start.places, &config.name)?;
    let (name, control, metrics) = (config.name.clone(), config.control.clone(), config.metrics);
    let links = Links::open().map_err(Refusal::system("opening netlink"))?;
    // From before the first look, so that nothing is missed between the two.
    let changes = Changes::open().map_err(Refusal::system("listening to netlink"))?;
    // What may be refused is had before anything is changed.
    let metrics = match metrics {
        Some(address) => Some(metrics::bind(address).await?),
        None => None,
    };
    let socket = control::open(&start.places.run, &name, &control)?;
    let mut saved = Saved::open(start.places.file(&name, "interfaces"));
    let switch = start::start(config, &start.places, start.hook, &links, &mut saved).await;
    let mut switch = switch.inspect_err(|_| socket.discard())?;
    let tags = Tags::open(&mut switch, &start.places.run).inspect_err(|_| socket.discard())?;
    let (tags, misses) = tags.unzip();
    let (tasks, todo) = mpsc::unbounded_channel();
    let (down, asked) = mpsc::channel(1);
    let inner = Inner {
        switch: Mutex::new(switch),
        changed: Notify::new(),
        tasks,
        walks: background::Walks::default(),
        down,
        trace: trace::channel(),
        tags,
        start: start.clone(),
    };
    let shared = Shared(Arc::new(inner));
    let ports = shared.lock().ports.len() as u16;
    for number in 0..ports {
        listen(&shared, number);
    }
    let metrics = metrics.map(|listener| metrics::serve(&shared, listener));
    // Threads have the privileges of the one that starts them: none is started before.
    privileges::drop_all_but(&start::CAPABILITIES);
    carriers::watch(&shared);
    watch_pins::watch(&shared);
    if let Some(misses) = misses {
        tags::watch(&shared, misses);
    }
    // Before anybody can see that it runs, and end it.
    let signals = Signals::catch().map_err(Refusal::system("catching signals"))?;
    let control = socket.serve(&shared)?;
    {
        let switch = shared.lock();
        tracing::info!(
            name = %name, mode = ?switch.config.mode, ports = switch.ports.len(), hook = ?switch.hook, adopted = switch.adopted,
            id = format!("{:016x}", switch.hellos.id), "switching"
        );
        unkeyed::warn(&switch);
    }
    let sweeping = tokio::spawn(background::sweep(shared.clone()));
    let moving = tokio::spawn(moves::watch(shared.clone()));
    let limiting = tokio::spawn(excess::watch(shared.clone()));
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
    let ended = serve(&shared, &links, &mut saved, signals, changes, todo, asked).await;
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Stopping]);
    sweeping.abort();
    moving.abort();
    limiting.abort();
    control.hide();
    if let Some(metrics) = metrics {
        metrics.abort();
        let _ = metrics.await;
    }
    let Some(waiting) = ended? else { return Ok(()) };
    let done = take_down(&shared, &links, &mut saved).await;
    // Whoever is told that it is over may start another at once.
    drop(lock);
    if let Ok(lines) = &done {
        tracing::info!(things = lines.len(), "taken down: pins are removed, interfaces are as they were");
        lines.iter().for_each(|line| tracing::debug!("{line}"));
    }
    let _ = waiting.send(done.as_ref().map(Clone::clone).map_err(ToString::to_string));
    control.end().await;
    done.map(|_| ())
}

/// Everything that happens while the switch runs; gives who asked to have it taken down, if somebody did.
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
        // A daemon that hangs does not come here, and systemd starts another (WatchdogSec=). Whatever makes the daemon
        // come here more often than that does not make systemd work.
        if let Some(often) = alive.filter(|_| Instant::now() >= next_alive) {
            let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Watchdog]);
            next_alive = Instant::now() + often;
        }
        let (tasks, role_ends, greeting) = {
            let mut switch = shared.lock();
            let (tasks, role_ends) = switch.expire();
            let greeting = switch.greet();
            switch.due = role_ends.min(greeting);
            (tasks, role_ends, greeting)
        };
        shared.hand(tasks);
        let wait = clock::until(role_ends.min(greeting));
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
                        tracing::error!("nothing is changed: {error}");
                    }
                });
            }
        }
    }
}

/// How often the service manager wants to be told that the daemon is alive, if it does.
fn watchdog() -> Option<std::time::Duration> {
    // sd_watchdog_enabled(3): a process id that is given has to be ours.
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let ours = std::env::var_os("WATCHDOG_PID").is_none()
        || number("WATCHDOG_PID") == Some(std::process::id().into());
    // It ends a daemon that was not heard for twice as long.
    number("WATCHDOG_USEC").filter(|_| ours).map(|usec| std::time::Duration::from_micros(usec / 2))
}

/// Looks at what happened to interfaces.
async fn follow(shared: &Shared, links: &Links, events: Vec<Event>) {
    // What an interface is part of is named in messages, and only then looked up.
    let about = |event: &Event| matches!(event, Event::Is(interface) if interface.controller.is_some());
    let all = if events.iter().any(about) { links.all().await.unwrap_or_default() } else { Vec::new() };
    for event in events {
        let tasks = shared.lock().link(event, &all);
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
                let tasks = shared.lock().link(event, &all);
                shared.hand(tasks);
            }
        }
        Task::Appeared(number) => {
            let interface = shared.lock().ports[usize::from(number)].interface.clone();
            if let Some(interface) = interface
                && let Err(error) = appear(shared, links, saved, number, &interface).await
            {
                tracing::error!(port = number, interface = interface.name, %error, "the interface is back and cannot be used");
            }
        }
        Task::Broken(number) => background::broken(shared, number),
        Task::Removed(found) => shared.lock().attach_again(&found),
    }
}

/// An interface is back.
async fn appear(
    shared: &Shared,
    links: &Links,
    saved: &mut Saved,
    number: u16,
    interface: &Interface,
) -> Result<(), Refusal> {
    // There was nothing, so there is nothing to take back to.
    let _ = shared.lock().attach(number)?;
    let mode = shared.lock().config.mode;
    saved.prepare(links, interface, mode).await;
    let socket = PortSocket::open(interface.index, EtherType::HELLO);
    let socket = Arc::new(socket.map_err(Refusal::system("opening a packet socket"))?);
    let all = links.all().await.unwrap_or_default();
    tracing::info!(port = number, interface = interface.name, "the interface of a port is there");
    let tasks = shared.lock().appeared(number, socket, &all);
    shared.hand(tasks);
    listen(shared, number);
    Ok(())
}

/// Begins to read the Hellos of a port.
fn listen(shared: &Shared, number: u16) {
    let Some(socket) = shared.lock().ports[usize::from(number)].socket.clone() else { return };
    let reading = shared.clone();
    let task = tokio::spawn(async move {
        let mut buffer = [0; 2048];
        let mut in_a_row = 0;
        loop {
            match socket.receive(&mut buffer).await {
                Ok(length) => {
                    let tasks = reading.lock().hear(number, &buffer[..length]);
                    reading.happened(tasks);
                    in_a_row += 1;
                    if in_a_row == ROUND {
                        tokio::time::sleep(REST).await;
                        in_a_row = 0;
                    }
                }
                // The interface is down: netlink says so too, and when it is up again.
                Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => in_a_row = 0,
                Err(error) => {
                    tracing::error!(port = number, %error, "Hellos cannot be read");
                    return;
                }
            }
        }
    });
    shared.lock().ports[usize::from(number)].reader = Some(task.abort_handle());
}

/// Takes the data plane and its pins away; neighbours are told. Gives a line for each thing that was removed or set
/// back.
async fn take_down(shared: &Shared, links: &Links, saved: &mut Saved) -> Result<Vec<String>, Refusal> {
    let mut done = {
        let mut switch = shared.lock();
        for number in 0..switch.ports.len() as u16 {
            switch.say(number, 0);
        }
        switch.held.release();
        let mut removed = switch.pins.remove()?;
        removed.extend(forget_names(&shared.0.start.places, &switch.config.name));
        removed
    };
    done.extend(saved.restore(links).await);
    Ok(done)
}

/// Takes away the names of gates that are gone.
fn forget_names(places: &Places, name: &SwitchName) -> Option<String> {
    let path = tags::names_file(&places.run, name);
    std::fs::remove_file(&path).is_ok().then(|| format!("removed {}", path.display()))
}

/// Takes away what a daemon of this name left, while none runs; gives a line for each thing that was removed or set
/// back.
///
/// # Errors
/// [`Refusal`]; nothing is changed where the directory of pins is not as weft-switchd makes it.
pub async fn take_away(places: &Places, name: &SwitchName) -> Result<Vec<String>, Refusal> {
    start::check_capabilities()?;
    let pins = Pins::of(&places.pins, name);
    // Before even a lock is made.
    pins.inspect()?;
    let _lock = start::lock(places, name)?;
    let links = Links::open().map_err(Refusal::system("opening netlink"))?;
    let mut done = pins.remove()?;
    done.extend(forget_names(places, name));
    done.extend(Saved::open(places.file(name, "interfaces")).restore(&links).await);
    Ok(done)
}
