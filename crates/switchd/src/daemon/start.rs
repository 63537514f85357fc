//! Starts a forwarding switch from a configuration: errors are found before anything is changed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aya::programs::SchedClassifier;
use caps::{CapSet, Capability};
use weft_switching::tfe::Classifier;
use weft_switching::{ParamValue, mix64};
use weft_wire::{EtherType, Key};

use super::adoption::{adopt, settle};
use super::hello::{Hellos, Schedule};
use super::interfaces::{Saved, WRAP, find, unfit};
use super::links::{Interface, Links};
use super::log_limit::LogLimit;
use super::memory::Memory;
use super::notices::Notices;
use super::ports::Port;
use super::refusal::Refusal;
use super::socket::PortSocket;
use super::switch::{Restored, Switch};
use super::turn::{self, PATIENCE};
use crate::attach::{Owner, Undo, has_tcx, other_owner};
use crate::clock;
use crate::config::{Config, Flags};
use crate::error::PlaneError;
use crate::held::Held;
use crate::layout::{NEVER, Settings};
use crate::loading::check_descriptors;
use crate::names::SwitchName;
use crate::pins::{Hook, Pins, Staged};
use crate::plane::Plane;
use crate::tables::Sizes;

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

/// The directories of a daemon.
#[derive(Clone, Debug)]
pub struct Places {
    /// Socket, lock and saved interface settings.
    pub run: PathBuf,
    /// Pins.
    pub pins: PathBuf,
    /// State that should survive a reboot: Hello sequence numbers.
    pub state: PathBuf,
}

impl Places {
    /// The default of `run`; `python/weft/sockets.py` has the same.
    pub const RUN: &str = "/run/weft";

    /// The file of this kind (`sock`, `lock`, `interfaces`) of the switch `name` in the run directory.
    pub fn file(&self, name: &SwitchName, kind: &str) -> PathBuf {
        self.run.join(format!("{name}.{kind}"))
    }
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

/// Loads and attaches the program and sets up interfaces; the switch forwards when this returns.
///
/// # Errors
/// [`Refusal`].
pub async fn start(
    config: Config,
    places: &Places,
    hook: Option<Hook>,
    links: &Links,
    saved: &mut Saved,
) -> Result<Switch, Refusal> {
    let all = links.all().await.map_err(Refusal::system("listing interfaces"))?;
    let before = known_before(places, &config);
    let mut interfaces = Vec::new();
    for (name, before) in config.ports.iter().zip(before) {
        let interface = find(name, &all, before)?;
        if let Some(why) = unfit(interface, &all, &config, config.carries_tags(name)) {
            return Err(Refusal::Unfit { name: name.clone(), why });
        }
        interfaces.push(interface.clone());
    }
    let hook = choose(hook)?;
    // Daemons that start at the same time check the owners of interfaces one after the other.
    make(&places.run)?;
    let attaching = turn::take(&places.run, PATIENCE).await?;
    for name in &config.ports {
        refuse_owned(places, &config.name, name)?;
    }
    make(&places.state)?;
    let memory = places.state.join(format!("{}.hellos", config.name));
    let memory = Memory::open(&memory).map_err(|error| Refusal::File { path: memory.clone(), error })?;
    let hellos = Hellos {
        id: config.switch_id.unwrap_or_else(|| id_of(&interfaces)),
        tier: config.tier,
        hold_ms: u32::try_from(config.hello_hold.ps() / 1_000_000_000).unwrap_or(u32::MAX),
        keys: config.hello_keys.iter().map(|key| Key::new(key)).collect(),
        memory,
        heard: 0,
        sent: 0,
        refused: Default::default(),
    };
    let pins = Pins::open(&places.pins, &config.name)?;
    // Until the program is attached to all ports, the old one stays pinned, with its maps unchanged.
    let (mut switch, staged) = load(config, pins, hook, hellos, &interfaces)?;
    let left = adopt(&mut switch, &interfaces)?;
    let open = |interface: &Interface| PortSocket::open(interface.index, EtherType::HELLO).map(Arc::new);
    let sockets: std::io::Result<Vec<_>> = interfaces.iter().map(open).collect();
    let sockets = sockets.map_err(Refusal::system("opening a packet socket"))?;
    replace(&mut switch, staged)?;
    let others = settle(&mut switch, &interfaces, left)?;
    drop(attaching);
    for ((number, interface), socket) in (0..).zip(interfaces).zip(sockets) {
        saved.prepare(links, &interface, switch.config.mode).await;
        switch.appeared(number, socket, &all, clock::now());
    }
    if let Err(error) = switch.held.take(switch.pins.path()) {
        // The switch forwards: exiting now would leave it without a daemon.
        tracing::warn!(%error, "pins removed while this daemon runs cannot be restored");
    }
    // Not before: the old program keeps learning until it is replaced.
    let forgotten = switch.plane.tables().forget_ports(&others);
    forgotten.map_err(Refusal::system("removing table entries of former ports"))?;
    Ok(switch)
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
        let hook = switch.hook;
        let undo = switch.attach(number);
        done.push(undo.map_err(|error| explain(error, hook, &switch.ports[usize::from(number)].name))?);
    }
    Ok(())
}

/// The interface indices of the ports under the previous daemon, by port number.
fn known_before(places: &Places, config: &Config) -> Vec<Option<u32>> {
    let map = Pins::of(&places.pins, &config.name).map("ports");
    let ports = aya::maps::MapData::from_pin(map).ok().and_then(|data| {
        aya::maps::Array::<_, crate::layout::Port>::try_from(aya::maps::Map::Array(data)).ok()
    });
    let index = |number: usize| {
        let port = ports.as_ref()?.get(&(number as u32), 0).ok()?;
        (port.ifindex > 0).then_some(port.ifindex)
    };
    (0..config.ports.len()).map(index).collect()
}

fn choose(hook: Option<Hook>) -> Result<Hook, Refusal> {
    match hook {
        Some(Hook::Tcx) if !has_tcx() => Err(too_old("does not support tcx")),
        Some(hook) => Ok(hook),
        None => Ok(if has_tcx() { Hook::Tcx } else { Hook::Clsact }),
    }
}

/// The kernel release.
fn release() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

fn too_old(lacks: &str) -> Refusal {
    Refusal::Kernel { release: release(), lacks: lacks.to_owned() }
}

/// The reason for a failed attach.
fn explain(error: PlaneError, hook: Hook, interface: &str) -> Refusal {
    match hook {
        Hook::Clsact if error.is_of_kernel() => too_old(&format!(
            "has neither tcx nor the clsact qdisc: attaching to `{interface}` failed ({error})"
        )),
        Hook::Clsact | Hook::Tcx => error.into(),
    }
}

fn refuse_owned(places: &Places, own: &SwitchName, interface: &str) -> Result<(), Refusal> {
    let why = match other_owner(&places.pins, own, interface)? {
        Some(Owner::Switch(name)) => format!(
            "is already a port of the switch `{name}`: remove it from one of the two, or take the other down \
             (weftctl --name {name} down, or weft-switchd --name {name} --detach if its daemon does not run)"
        ),
        Some(Owner::Unknown(program)) => format!(
            "has the data plane of another switch attached (program {program}), whose pins are not in {}: use \
             that switch's --pin-dir, or detach it (bpftool net detach tcx_ingress dev {interface})",
            places.pins.display()
        ),
        None => return Ok(()),
    };
    Err(Refusal::Unfit { name: interface.to_owned(), why })
}

/// The default switch id: the first port's address, with a bit set that no address has.
fn id_of(interfaces: &[Interface]) -> u64 {
    1 << 63 | interfaces.first().map_or(0, |interface| interface.mac.bits())
}

/// Loads the program, reusing pinned maps.
fn load(
    config: Config,
    pins: Pins,
    hook: Hook,
    hellos: Hellos,
    interfaces: &[Interface],
) -> Result<(Switch, Staged), Refusal> {
    // Only these ports send Path frames.
    let fabric = interfaces.iter().filter(|interface| config.may_be_fabric(&interface.name));
    let shortest = fabric.map(|interface| interface.mtu).min().unwrap_or(config.mtu);
    if config.mode.keeps_flows() && shortest < config.mtu + WRAP {
        tracing::info!(
            mtu = shortest,
            wanted = config.mtu + WRAP,
            "SYNs that are too long for a Path Request on the ports that may be fabric ports (fabric_ports) are forwarded \
             without exploring"
        );
    }
    let shared_key =
        matches!(config.scheme.params.get("hash_seed"), Some(ParamValue::Text(text)) if text == "shared");
    let settings = Settings {
        longest: shortest + 14,
        hash_key: mix64(if shared_key { 0 } else { hellos.id }),
        ..Settings::new(&config.exploration)
            .classifying(&Classifier::from_spec(&config.scheme))
            .tagging(&config.tagging)
    };
    let plane = Plane::stage(config.mode, &config.exploration, settings, &pins);
    let (plane, staged) = plane.map_err(|error| match error {
        PlaneError::Load(_) | PlaneError::Program(_) if error.is_of_kernel() => {
            too_old(&format!("does not accept the data plane ({error})"))
        }
        other => other.into(),
    })?;
    let ports: Vec<Port> =
        config.ports.iter().map(|name| Port::new(name, config.may_be_fabric(name))).collect();
    let now = clock::now();
    let switch = Switch {
        plane,
        sizes: Sizes::default(),
        pins,
        held: Held::default(),
        restored: Restored::default(),
        hook,
        notices: Notices::new(&ports),
        ports,
        hellos,
        log_limit: LogLimit::default(),
        greeting: Schedule { next: now },
        due: NEVER,
        started: now,
        reads_since: NEVER,
        started_since_1970: clock::since_1970(),
        adopted: false,
        config,
    };
    Ok((switch, staged))
}
