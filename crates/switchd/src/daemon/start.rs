//! From a configuration to a switch that forwards: everything that can be wrong is found before anything
//! is changed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aya::programs::SchedClassifier;
use caps::{CapSet, Capability};
use weft_switching::tfe::Classifier;
use weft_switching::{ParamValue, mix64};
use weft_units::PortId;
use weft_wire::{EtherType, Key};

use super::hello::Hellos;
use super::interfaces::{Saved, WRAP, find, unfit};
use super::links::{Interface, Links};
use super::memory::Memory;
use super::notices::Notices;
use super::ports::{Port, Role};
use super::quiet::Quiet;
use super::refusal::Refusal;
use super::socket::PortSocket;
use super::switch::Switch;
use super::turn::{self, PATIENCE};
use crate::attach::{Owner, Undo, detach, has_tcx, other_owner};
use crate::clock;
use crate::config::Config;
use crate::error::PlaneError;
use crate::held::Held;
use crate::layout::{NEVER, Settings};
use crate::names::SwitchName;
use crate::pins::{Hook, Pins, Staged};
use crate::plane::Plane;
use crate::tables::Sizes;

/// Where a daemon keeps what.
#[derive(Clone, Debug)]
pub struct Places {
    /// Socket, lock and settings of interfaces.
    pub run: PathBuf,
    /// Pins.
    pub pins: PathBuf,
    /// What should outlive a restart of the machine: numbers of Hellos.
    pub state: PathBuf,
}

impl Places {
    /// The file of the switch `name` in the run directory that is of this kind: `sock`, `lock`, `interfaces`.
    pub fn file(&self, name: &SwitchName, kind: &str) -> PathBuf {
        self.run.join(format!("{name}.{kind}"))
    }
}

/// What the daemon needs, and keeps while others go.
pub const CAPABILITIES: [Capability; 4] =
    [Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW, Capability::CAP_PERFMON];

/// Makes sure that the daemon may do what it has to.
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

/// Opens a directory's file, making the directory.
fn make(folder: &Path) -> Result<(), Refusal> {
    fs::create_dir_all(folder).map_err(|error| Refusal::File { path: folder.to_owned(), error })
}

/// Takes the lock of a name.
///
/// # Errors
/// [`Refusal::Running`] where another has it.
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

/// Loads, attaches and sets up; the switch forwards when this is done.
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
    let all = links.all().await.map_err(Refusal::system("asking the kernel for interfaces"))?;
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
    // Two daemons that start at once look one after the other whose an interface is.
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
    // Until the program is attached to all ports, the one before stays pinned, with its maps as they are.
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
        switch.appeared(number, socket, &all);
    }
    if let Err(error) = switch.held.take(switch.pins.path()) {
        // It forwards: to end here would leave it without a daemon.
        tracing::warn!(%error, "pins that somebody removes while this daemon runs cannot be restored");
    }
    // Not before: the program of the daemon before goes on learning until it is replaced.
    let forgotten = switch.plane.tables().forget_ports(&others);
    forgotten.map_err(Refusal::system("forgetting what was behind other ports"))?;
    Ok(switch)
}

/// Descriptors that one program needs at most to take the place of another, and those for each port.
const SPARE: usize = 16;
const SPARE_OF_PORT: usize = 4;

/// Puts the program in the place of the one before on all ports and commits its pins, or leaves all as it was.
fn replace(switch: &mut Switch, staged: Staged) -> Result<(), Refusal> {
    // The program before, for as long as it may be needed again.
    let program = switch.pins.program();
    let mut old = match program.exists() {
        true => Some(SchedClassifier::from_pin(&program).map_err(PlaneError::from)?),
        false => None,
    };
    let routes = match switch.config.mode.routes() {
        true => Some(switch.plane.routes()?),
        false => None,
    };
    // Taking back needs descriptors too, so all that both may need have to be free before anything is changed.
    let needed = SPARE + SPARE_OF_PORT * switch.ports.len();
    let free: std::io::Result<Vec<_>> = (0..needed).map(|_| fs::File::open("/dev/null")).collect();
    drop(free.map_err(Refusal::system("looking whether enough files may be opened to attach the program"))?);
    let mut done = Vec::new();
    let replaced = attach_all(switch, &mut done).and_then(|()| Ok(staged.commit()?));
    if replaced.is_err() {
        let wrong = |error: PlaneError| tracing::error!(%error, "what forwarded before is not as it was");
        for undo in done.into_iter().rev() {
            undo.undo(old.as_mut()).unwrap_or_else(wrong);
        }
        if let Some(routes) = routes {
            switch.plane.set_routes(&routes).unwrap_or_else(wrong);
        }
    }
    replaced
}

/// Attaches the program to all ports; `done` has how that is taken back, as far as it came.
fn attach_all(switch: &mut Switch, done: &mut Vec<Undo>) -> Result<(), Refusal> {
    switch.set_routes()?;
    for number in 0..switch.ports.len() as u16 {
        let hook = switch.hook;
        let undo = switch.attach(number);
        done.push(undo.map_err(|error| explain(error, hook, &switch.ports[usize::from(number)].name))?);
    }
    Ok(())
}

/// The interfaces that the ports had under the daemon before, by number.
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
        Some(Hook::Tcx) if !has_tcx() => Err(too_old("attaches no programs by tcx")),
        Some(hook) => Ok(hook),
        None => Ok(if has_tcx() { Hook::Tcx } else { Hook::Clsact }),
    }
}

/// The kernel's version, as it says itself.
fn release() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

fn too_old(lacks: &str) -> Refusal {
    Refusal::Kernel { release: release(), lacks: lacks.to_owned() }
}

/// What it means that the program could not be attached.
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
            "is a port of the switch `{name}` already: leave it out of one of the two, or take the other down \
             (weftctl --name {name} down, or weft-switchd --name {name} --detach where it does not run)"
        ),
        Some(Owner::Unknown(program)) => format!(
            "has the data plane of another switch attached (program {program}), whose pins are not in {}: give \
             that one's --pin-dir, or take it away (bpftool net detach tcx_ingress dev {interface})",
            places.pins.display()
        ),
        None => return Ok(()),
    };
    Err(Refusal::Unfit { name: interface.to_owned(), why })
}

/// The id of a switch that is given none: its first port's address, and its place among numbers that no
/// address is.
fn id_of(interfaces: &[Interface]) -> u64 {
    1 << 63 | interfaces.first().map_or(0, |interface| interface.mac.bits())
}

/// Loads the program over what is pinned.
fn load(
    config: Config,
    pins: Pins,
    hook: Hook,
    hellos: Hellos,
    interfaces: &[Interface],
) -> Result<(Switch, Staged), Refusal> {
    // No other port sends Path frames.
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
            too_old(&format!("does not take the data plane ({error})"))
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
        hook,
        notices: Notices::new(&ports),
        ports,
        hellos,
        quiet: Quiet::default(),
        next_greeting: now,
        due: NEVER,
        started: now,
        adopted: false,
        config,
    };
    Ok((switch, staged))
}

/// What the daemon before has left that is not this one's.
struct Left {
    /// Numbers of ports behind which there is something else now.
    others: Vec<u16>,
    /// Attachments that go: how, to which interface, and where they are pinned.
    attachments: Vec<(Hook, String, PathBuf)>,
}

/// Takes over roles from the daemon before. Nothing is changed outside this process.
fn adopt(switch: &mut Switch, interfaces: &[Interface]) -> Result<Left, Refusal> {
    let now = clock::now();
    let hold = switch.config.hello_hold.ps() / 1000;
    let mut left = Left { others: Vec::new(), attachments: Vec::new() };
    for (hook, number, name, path) in switch.pins.attachments()? {
        let ours = switch.config.ports.get(usize::from(number)) == Some(&name);
        if !ours {
            left.others.push(number);
        }
        // One of another number is moved when the program is attached anew; of another kind it goes.
        if hook != switch.hook || !switch.config.ports.contains(&name) {
            left.attachments.push((hook, name, path));
        } else if ours {
            switch.adopted = true;
        }
    }
    for (number, interface) in interfaces.iter().enumerate() {
        let before = switch.plane.port(PortId(number as u16))?;
        let carries_tags = switch.config.carries_tags(&interface.name);
        let tags = switch.config.mode.tags();
        let port = &mut switch.ports[number];
        port.interface = Some(interface.clone());
        port.carries_tags = carries_tags;
        if before.ifindex != interface.index || !interface.up {
            continue;
        }
        if let Some(role) =
            Port::told_before(&before).filter(|role| *role != Role::Fabric || port.may_be_fabric)
        {
            port.role = role;
            port.led_to = role.leads_to();
            port.carries_tags |= tags && role == Role::Fabric;
            port.draining = role == Role::Fabric && before.up == 0;
            port.until = if role == Role::Fabric { now + hold } else { NEVER };
            port.adopted = Some(before);
        }
    }
    Ok(left)
}

/// Takes away what the daemon before has left, once the program forwards in the place of its program; gives the
/// numbers of ports behind which there is something else now.
fn settle(switch: &mut Switch, interfaces: &[Interface], left: Left) -> Result<Vec<u16>, Refusal> {
    for (hook, name, path) in left.attachments {
        tracing::info!(interface = name, ?hook, path = %path.display(), "the program of the daemon before is detached");
        detach(hook, &name, &path)?;
    }
    for (index, _) in switch.plane.interfaces()? {
        if !interfaces.iter().any(|interface| interface.index == index) {
            switch.plane.set_interface(index, None)?;
        }
    }
    let empty = crate::layout::Port::decided(false, false);
    for number in interfaces.len()..usize::from(crate::layout::MAX_PORTS) {
        if switch.plane.port(PortId(number as u16))? != empty {
            switch.plane.set_port(PortId(number as u16), empty)?;
        }
    }
    Ok(left.others)
}
