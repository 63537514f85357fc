//! Starts a forwarding switch from a configuration: errors are found before anything is changed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aya::programs::SchedClassifier;
use caps::{CapSet, Capability};
use weft_wire::{EtherType, Key};

use super::adoption::{adopt, settle};
use super::hello::Hellos;
use super::identity::{self, id_of};
use super::interfaces::Saved;
use super::links::{Interface, Links};
use super::listed::{Listed, listed};
use super::memory::Memory;
use super::places::Places;
use super::refusal::Refusal;
use super::socket::PortSocket;
use super::staging::load;
use super::support::{choose, explain};
use super::switch::{Switch, Task};
use super::turn::{self, PATIENCE};
use crate::attach::Undo;
use crate::clock;
use crate::config::{Config, Flags};
use crate::error::PlaneError;
use crate::loading::check_descriptors;
use crate::names::SwitchName;
use crate::pins::{Hook, Pins, Staged};

/// How the daemon is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// Flags, which override the file.
    pub flags: Flags,
    /// The directories.
    pub places: Places,
    /// How the program is attached; by default tcx if the kernel supports it.
    pub hook: Option<Hook>,
}

/// The capabilities that the daemon needs and keeps.
pub const CAPABILITIES: [Capability; 4] =
    [Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW, Capability::CAP_PERFMON];

/// Checks that the daemon has its capabilities.
///
/// # Errors
/// [`Refusal::Capabilities`].
pub fn check_capabilities() -> Result<(), Refusal> {
    let has = |cap: &Capability| caps::has_cap(None, CapSet::Effective, *cap).unwrap_or(false);
    let lacks: Vec<String> = CAPABILITIES.iter().filter(|cap| !has(cap)).map(ToString::to_string).collect();
    match lacks.is_empty() {
        true => Ok(()),
        false => {
            let word = if lacks.len() == 1 { "is" } else { "are" };
            Err(Refusal::Capabilities { lacks: format!("{} {word}", lacks.join(", ")) })
        }
    }
}

/// Creates a directory.
fn make(folder: &Path) -> Result<(), Refusal> {
    fs::create_dir_all(folder).map_err(|error| Refusal::File { path: folder.to_owned(), error })
}

/// Takes the lock of a switch name.
///
/// # Errors
/// [`Refusal::Running`] if another daemon holds it.
pub fn lock(places: &Places, name: &SwitchName) -> Result<File, Refusal> {
    make(&places.run)?;
    let path = places.file(name, "lock");
    let failed = |error| Refusal::File { path: path.clone(), error };
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = options.map_err(failed)?;
    if file.try_lock().is_err() {
        let mut pid = String::new();
        let _ = file.read_to_string(&mut pid);
        return Err(Refusal::Running { name: name.to_string(), pid: pid.trim().to_owned() });
    }
    file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

/// Loads and attaches the program and sets up the interfaces that can be ports; the switch forwards when this returns. Also
/// returns the work for ports that were lost while no daemon ran.
///
/// # Errors
/// [`Refusal`].
pub async fn start(
    config: Config,
    places: &Places,
    hook: Option<Hook>,
    links: &Links,
    saved: &mut Saved,
) -> Result<(Switch, Vec<Task>), Refusal> {
    let all = links.all().await.map_err(Refusal::system("listing interfaces"))?;
    let hook = choose(hook)?;
    // Daemons that start at the same time check the owners of interfaces one after the other.
    make(&places.run)?;
    let attaching = turn::take(&places.run, PATIENCE).await?;
    let listed = listed(places, &config, &all)?;
    let interfaces: Vec<Option<Interface>> = listed.iter().map(|listed| listed.fit().cloned()).collect();
    make(&places.state)?;
    let memory = places.state.join(format!("{}.hellos", config.name));
    let memory = Memory::open(&memory).map_err(|error| Refusal::File { path: memory.clone(), error })?;
    let pins = Pins::open(&places.pins, &config.name)?;
    let default_id = || id_of(places, &config.name, &interfaces, pins.program().exists());
    let hellos = Hellos {
        id: config.switch_id.unwrap_or_else(default_id),
        tier: config.tier,
        hold_ms: u32::try_from(config.hello_hold.ps() / 1_000_000_000).unwrap_or(u32::MAX),
        keys: config.hello_keys.iter().map(|key| Key::new(key)).collect(),
        memory,
        heard: 0,
        sent: 0,
        refused: Default::default(),
    };
    // Until the program is attached to all ports, the old one stays pinned, with its maps unchanged.
    let (mut switch, staged) = load(config, pins, hook, hellos)?;
    let left = adopt(&mut switch, &interfaces)?;
    switch.tell_longest();
    let addresses = switch.leaves.leaves().iter().map(|route| route.leaf.address).collect();
    // Those that cannot be read are read again, and logged, once the switch forwards.
    switch.take_leaves(links.routes_to(addresses).await.found);
    switch.take_routes(left.others.is_empty())?;
    let open = |interface: &Interface| PortSocket::open(interface.index, EtherType::HELLO).map(Arc::new);
    let sockets = interfaces.iter().map(|interface| interface.as_ref().map(open).transpose());
    let sockets: std::io::Result<Vec<_>> = sockets.collect();
    let sockets = sockets.map_err(Refusal::system("opening a packet socket"))?;
    replace(&mut switch, staged)?;
    settle(&mut switch, &interfaces, &left)?;
    drop(attaching);
    if interfaces.iter().all(Option::is_none) {
        tracing::warn!(
            "none of the ports exists and can be used: the switch forwards nothing until one does"
        );
    }
    for ((number, listed), socket) in (0..).zip(listed).zip(sockets) {
        let (interface, socket) = match (listed, socket) {
            (Listed::Fit(interface), Some(socket)) => (interface, socket),
            (listed, _) => {
                switch.start_without(number, listed);
                continue;
            }
        };
        let has_peer = switch.config.may_have_peer(&interface.name);
        saved.prepare(links, &interface, switch.config.mode, has_peer).await;
        switch.appeared(number, socket, &all, clock::now());
    }
    if let Err(error) = switch.held.take(switch.pins.path()) {
        // The switch forwards: exiting now would leave it without a daemon.
        tracing::warn!(%error, "pins removed while this daemon runs cannot be restored");
    }
    if switch.config.switch_id.is_none() {
        identity::store(places, &switch.config.name, switch.hellos.id);
    }
    // Not before: the old program keeps learning until it is replaced.
    let forgotten = switch.plane.tables().forget_ports(&left.others);
    forgotten.map_err(Refusal::system("removing table entries of former ports"))?;
    Ok((switch, left.lost.into_iter().map(Task::Broken).collect()))
}

/// File descriptors needed to replace a program, and additional ones per port, at most.
const SPARE: usize = 16;
const SPARE_OF_PORT: usize = 4;

/// Replaces the old program on all ports and commits the new pins, or undoes everything.
fn replace(switch: &mut Switch, staged: Staged) -> Result<(), Refusal> {
    // The old program, as long as it may have to be restored.
    let program = switch.pins.program();
    let mut old = match program.exists() {
        true => Some(SchedClassifier::from_pin(&program).map_err(PlaneError::from)?),
        false => None,
    };
    let routes = match switch.config.mode.routes() {
        true => Some(switch.plane.routes()?),
        false => None,
    };
    // Undoing needs descriptors too, so enough for both must be free before anything is changed.
    let needed = SPARE + SPARE_OF_PORT * switch.ports.len();
    check_descriptors(needed)
        .map_err(Refusal::system("checking for enough file descriptors to attach the program"))?;
    let mut done = Vec::new();
    let replaced = attach_all(switch, &mut done).and_then(|()| Ok(staged.commit()?));
    if replaced.is_err() {
        let wrong = |error: PlaneError| tracing::error!(%error, "restoring the old data plane failed");
        for undo in done.into_iter().rev() {
            undo.undo(old.as_mut()).unwrap_or_else(wrong);
        }
        if let Some(routes) = routes {
            switch.plane.set_routes(&routes).unwrap_or_else(wrong);
        }
    }
    replaced
}

/// Attaches the program to all ports; `done` receives the steps to undo.
fn attach_all(switch: &mut Switch, done: &mut Vec<Undo>) -> Result<(), Refusal> {
    switch.set_routes()?;
    for number in 0..switch.ports.len() as u16 {
        if switch.ports[usize::from(number)].interface.is_none() {
            continue;
        }
        let hook = switch.hook;
        let undo = switch.attach(number);
        done.push(undo.map_err(|error| explain(error, hook, &switch.ports[usize::from(number)].name))?);
    }
    Ok(())
}
