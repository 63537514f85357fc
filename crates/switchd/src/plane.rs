//! [`Plane`]: a mode's program in the kernel, and its maps.

use std::borrow::Borrow;
use std::time::Duration;

use aya::maps::{Array, HashMap, MapData, MapError, PerCpuArray, RingBuf};
use aya::programs::{SchedClassifier, TestRun, TestRunOptions};
use aya::{Ebpf, EbpfLoader, Pod};
use weft_switching::exploration::Exploration;
use weft_switching::hello::Way;
use weft_units::{PortId, Time};

use crate::counters::{Counters, Counts, PortCounts};
use crate::error::PlaneError;
use crate::layout::{
    COPY_BYTES, Copy, Event, Flood, FloodKey, Flow, Load, MAX_PORTS, NEVER, Path, Port, Route, Settings,
    Station, Test, ns, ns_at,
};
use crate::mode::Mode;
use crate::pins::Pins;
use crate::recovery::{Broken, Known, Recovery};

type Result<T> = std::result::Result<T, PlaneError>;

/// A program, its maps, and what the daemon knows of its ports.
pub struct Plane {
    ebpf: Ebpf,
    /// What a program that was loaded for a test writes down.
    sent: RingBuf<MapData>,
    /// Events of explorations, while somebody wants them.
    trace: RingBuf<MapData>,
    mode: Mode,
    settings: Settings,
    /// Floods that are remembered at most.
    floods: usize,
    hold: u64,
    sweep: u64,
    ports: Vec<Port>,
    /// Time of the last look at silent neighbours.
    looked: u64,
    /// Ports that went down, and when what was behind them is to be swept up.
    dead: Vec<(PortId, u64)>,
}

impl Plane {
    /// Loads the program of `mode`; it forwards nothing until it is attached.
    ///
    /// `ways` tells where each port leads as far as that is known, `settings` is made of `config`.
    ///
    /// # Errors
    /// [`PlaneError`]; the kernel wants CAP_BPF and CAP_NET_ADMIN.
    pub fn load(mode: Mode, config: &Exploration, settings: Settings, ways: &[Way]) -> Result<Self> {
        if ways.len() > usize::from(MAX_PORTS) {
            return Err(PlaneError::Ports(ways.len()));
        }
        let ebpf = build(mode, config, settings, None)?;
        let hold = ns(config.hold);
        let ports = ways.iter().map(|way| port(*way, hold)).collect();
        let mut plane = Self::new(ebpf, mode, config, settings, ports)?;
        (0..ways.len()).try_for_each(|number| plane.write_port(PortId(number as u16)))?;
        Ok(plane)
    }

    /// Loads the program of `mode` over the maps that are pinned, as far as they are of the same make, and
    /// pins those that are not there. It forwards nothing until it is attached.
    ///
    /// # Errors
    /// As [`Plane::load`].
    pub fn adopt(mode: Mode, config: &Exploration, settings: Settings, pins: &Pins) -> Result<Self> {
        let ebpf = build(mode, config, settings, Some(pins))?;
        let mut plane = Self::new(ebpf, mode, config, settings, Vec::new())?;
        let map = Array::<_, Port>::try_from(plane.map("ports")?)?;
        plane.ports = (0..u32::from(MAX_PORTS))
            .map(|number| map.get(&number, 0))
            .collect::<std::result::Result<_, _>>()?;
        Ok(plane)
    }

    fn new(
        mut ebpf: Ebpf,
        mode: Mode,
        config: &Exploration,
        settings: Settings,
        ports: Vec<Port>,
    ) -> Result<Self> {
        let sent = RingBuf::try_from(ebpf.take_map("sent").ok_or(PlaneError::Missing("sent"))?)?;
        let trace = RingBuf::try_from(ebpf.take_map("trace").ok_or(PlaneError::Missing("trace"))?)?;
        let (hold, sweep) = (ns(config.hold), ns(config.sweep));
        let floods = config.floods;
        Ok(Self {
            ebpf,
            sent,
            trace,
            mode,
            settings,
            floods,
            hold,
            sweep,
            ports,
            looked: 0,
            dead: Vec::new(),
        })
    }

    /// What the program knows of a port.
    pub fn port(&self, number: PortId) -> Port {
        self.ports.get(number.index()).copied().unwrap_or_default()
    }

    /// Tells the program what a port is.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_port(&mut self, number: PortId, port: Port) -> Result<()> {
        self.change(number, |known| *known = port)
    }

    /// Tells the program which port an interface is; `None`: frames of the interface are dropped.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_interface(&mut self, ifindex: u32, number: Option<PortId>) -> Result<()> {
        let mut map = HashMap::<_, u32, u32>::try_from(self.map_mut("interfaces")?)?;
        match number {
            Some(number) => Ok(map.insert(ifindex, u32::from(number.0), 0)?),
            None => Ok(forget(&mut map, &ifindex)?),
        }
    }

    /// The interfaces that the program knows, and their ports.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn interfaces(&self) -> Result<impl Iterator<Item = (u32, u32)> + use<>> {
        entries(self.map("interfaces")?)
    }

    /// What was written down since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(item) = self.trace.next() {
            events.extend(Event::read(&item));
        }
        events
    }

    /// What the program was loaded with.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The mode whose program it is.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    fn write_port(&mut self, number: PortId) -> Result<()> {
        let port = self.ports[number.index()];
        Ok(Array::try_from(self.map_mut("ports")?)?.set(number.0.into(), port, 0)?)
    }

    pub(crate) fn map(&self, name: &'static str) -> Result<&aya::maps::Map> {
        self.ebpf.map(name).ok_or(PlaneError::Missing(name))
    }

    fn map_mut(&mut self, name: &'static str) -> Result<&mut aya::maps::Map> {
        self.ebpf.map_mut(name).ok_or(PlaneError::Missing(name))
    }

    pub(crate) fn program_mut(&mut self) -> Result<&mut SchedClassifier> {
        let program = self.ebpf.program_mut(self.mode.program()).ok_or(PlaneError::Missing("program"))?;
        Ok(program.try_into()?)
    }

    fn program(&self) -> Result<&SchedClassifier> {
        let program = self.ebpf.program(self.mode.program()).ok_or(PlaneError::Missing("program"))?;
        Ok(program.try_into()?)
    }

    /// A Hello that may be believed came in on `number`.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn heard(&mut self, number: PortId, now: Time) -> Result<()> {
        let hold = self.hold;
        self.change(number, |port| {
            port.neighbour_until = ns_at(now) + hold;
            port.host_from = NEVER;
        })
    }

    /// `number` went down or came up: what is behind it has to be heard anew.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_up(&mut self, number: PortId, up: bool, now: Time) -> Result<()> {
        let (now, hold) = (ns_at(now), self.hold);
        self.dead.retain(|(dead, _)| *dead != number);
        if !up {
            self.dead.push((number, now + self.sweep));
        }
        self.change(number, |port| {
            port.up = up.into();
            port.neighbour_until = 0;
            port.host_from = if up { now + hold } else { NEVER };
        })
    }

    /// Whether a Hello makes `number` a fabric port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_may_be_fabric(&mut self, number: PortId, may: bool) -> Result<()> {
        self.change(number, |port| port.may_be_fabric = may.into())
    }

    fn change(&mut self, number: PortId, change: impl FnOnce(&mut Port)) -> Result<()> {
        let Some(port) = self.ports.get_mut(number.index()) else { return Ok(()) };
        change(port);
        self.write_port(number)
    }

    /// Forgets what has expired, and what was behind ports whose neighbour has fallen silent or that went
    /// down; gives the frames that tell of it, and the ports that each leaves by. `draw` gives the numbers
    /// of explorations.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn tend(
        &mut self,
        now: Time,
        mut draw: impl FnMut(&Flow) -> u32,
    ) -> Result<Vec<(Vec<u16>, Vec<u8>)>> {
        let now = ns_at(now);
        let silent = |port: &Port| port.neighbour_until > self.looked && port.neighbour_until <= now;
        let mut dead: Vec<u16> =
            (0..).zip(&self.ports).filter(|(_, port)| silent(port)).map(|(n, _)| n).collect();
        self.looked = now;
        let (due, later): (Vec<_>, Vec<_>) = self.dead.drain(..).partition(|(_, at)| *at <= now);
        self.dead = later;
        dead.extend(
            due.into_iter().map(|(port, _)| port.0).filter(|&port| self.ports[usize::from(port)].up == 0),
        );
        if self.mode.explores() {
            self.sweep::<u64, Station>("stations", |_, station| {
                station.expiry > now && !dead.contains(&station.port)
            })?;
            self.sweep::<u64, u64>("repairs", |_, until| *until > now)?;
        }
        if self.mode.counts_flows() {
            self.sweep::<Flow, Load>("carried", |_, load| load.expiry > now)?;
        }
        let floods = self.sweep::<FloodKey, Flood>("floods", |_, flood| flood.expiry > now)?;
        let mut frames = Vec::new();
        if self.mode.keeps_flows() {
            let mut room = self.floods.saturating_sub(floods);
            for port in dead {
                let done = self.break_port(port, room, now, &mut draw)?;
                room -= done.floods.len();
                frames.extend(done.frames);
            }
            self.sweep::<Flow, Path>("paths", |_, path| path.expiry > now)?;
            self.sweep::<Flow, Path>("locked", |_, path| path.expiry > now)?;
        }
        Ok(frames)
    }

    /// Does for the flows of a dead port what is to be done, but for sending frames.
    fn break_port(
        &mut self,
        port: u16,
        room: usize,
        now: u64,
        draw: impl FnMut(&Flow) -> u32,
    ) -> Result<Recovery> {
        let paths = HashMap::<_, Flow, Path>::try_from(self.map("paths")?)?;
        let locked = HashMap::<_, Flow, Path>::try_from(self.map("locked")?)?;
        let stations = HashMap::<_, u64, Station>::try_from(self.map("stations")?)?;
        let live = |map: &HashMap<_, Flow, Path>, flow: Flow| {
            map.get(&flow, 0).ok().filter(|path| path.expiry > now)
        };
        let other = |Flow { host, peer }| {
            let back = Flow { host: peer, peer: host };
            live(&paths, back).or_else(|| live(&locked, back))
        };
        let on_port = self.paths()?.filter(|(_, path)| path.port == port && path.expiry > now);
        let broken = on_port.map(|(flow, path)| Broken { flow, path, other: other(flow) }).collect();
        let is_attached = |station| {
            let station = stations.get(&station, 0).ok().filter(|station| station.expiry > now);
            let port = station.and_then(|station| self.ports.get(usize::from(station.port)));
            port.is_some_and(|port| port.up != 0 && port.host_from <= now)
        };
        let known =
            Known { ports: &self.ports, settings: &self.settings, is_attached: &is_attached, room, now };
        let done = known.break_port(broken, draw);
        for map in ["paths", "locked"] {
            let mut map = HashMap::<_, Flow, Path>::try_from(self.map_mut(map)?)?;
            done.gone.iter().try_for_each(|flow| forget(&mut map, flow))?;
        }
        let mut floods = HashMap::<_, FloodKey, Flood>::try_from(self.map_mut("floods")?)?;
        done.floods.iter().try_for_each(|(key, flood)| floods.insert(key, flood, 0))?;
        let mut locked = HashMap::<_, Flow, Path>::try_from(self.map_mut("locked")?)?;
        done.locked.iter().try_for_each(|(flow, path)| locked.insert(flow, path, 0))?;
        Ok(done)
    }

    /// Takes out the entries of a map of which `keep` says no; how many are left.
    fn sweep<K: Pod, V: Pod>(&mut self, map: &'static str, keep: impl Fn(&K, &V) -> bool) -> Result<usize> {
        let (kept, gone): (Vec<_>, Vec<_>) =
            entries(self.map(map)?)?.partition(|(key, value): &(K, V)| keep(key, value));
        let mut map = HashMap::<_, K, V>::try_from(self.map_mut(map)?)?;
        gone.iter().try_for_each(|(key, _)| forget(&mut map, key))?;
        Ok(kept.len())
    }

    /// All stations held, expired ones included.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn stations(&self) -> Result<impl Iterator<Item = (u64, Station)>> {
        entries(self.map("stations")?)
    }

    /// All stations that were being looked for, and until when.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn repairs(&self) -> Result<impl Iterator<Item = (u64, u64)>> {
        entries(self.map("repairs")?)
    }

    /// All floods held, expired ones included.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn floods(&self) -> Result<impl Iterator<Item = (FloodKey, Flood)>> {
        entries(self.map("floods")?)
    }

    /// All flows held, expired ones included; a mode that keeps none has no map of them.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn paths(&self) -> Result<impl Iterator<Item = (Flow, Path)> + use<>> {
        let (paths, locked) = (entries(self.map("paths")?)?, entries(self.map("locked")?)?);
        Ok(paths.chain(locked))
    }

    /// What flows have carried until they are moved, expired ones included.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn carried(&self) -> Result<impl Iterator<Item = (Flow, Load)> + use<>> {
        entries(self.map("carried")?)
    }

    /// Sends what goes to a station by `route`.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn set_route(&mut self, station: u64, route: Route) -> Result<()> {
        Ok(HashMap::try_from(self.map_mut("routes")?)?.insert(station, route, 0)?)
    }

    /// Sends by these routes and no others.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn set_routes(&mut self, routes: &[(u64, Route)]) -> Result<()> {
        let known: Vec<u64> =
            entries::<u64, Route>(self.map("routes")?)?.map(|(station, _)| station).collect();
        routes.iter().try_for_each(|(station, route)| self.set_route(*station, *route))?;
        let mut map = HashMap::<_, u64, Route>::try_from(self.map_mut("routes")?)?;
        let gone = known.iter().filter(|station| routes.iter().all(|(kept, _)| kept != *station));
        for station in gone {
            forget(&mut map, station)?;
        }
        Ok(())
    }

    /// Whether events are written to the ring buffer `trace`.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn set_tracing(&mut self, wanted: bool) -> Result<()> {
        Ok(Array::try_from(self.map_mut("tracing")?)?.set(0, u32::from(wanted), 0)?)
    }

    /// What became of frames.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn counters(&self) -> Result<Counters> {
        let counts = PerCpuArray::<_, Counts>::try_from(self.map("counters")?)?.get(&0, 0)?;
        Ok(Counters::sum(&counts))
    }

    /// What came in and left by each port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn port_counters(&self) -> Result<Vec<PortCounts>> {
        let counts = PerCpuArray::<_, PortCounts>::try_from(self.map("port_counters")?)?;
        (0..self.ports.len() as u32).map(|port| Ok(PortCounts::sum(&counts.get(&port, 0)?))).collect()
    }

    /// What a run of the program takes with a frame that comes in from the interface `ifindex`: the mean of
    /// `runs`. Nothing leaves.
    ///
    /// # Errors
    /// [`PlaneError::Program`].
    pub fn time(&self, ifindex: u32, frame: &[u8], runs: u32) -> Result<Duration> {
        // `struct __sk_buff`: all zeros but for `ingress_ifindex`.
        let mut context = [0; 192];
        context[36..40].copy_from_slice(&ifindex.to_ne_bytes());
        let options = TestRunOptions {
            data_in: Some(frame),
            ctx_in: Some(&context),
            repeat: runs,
            ..TestRunOptions::new()
        };
        Ok(self.program()?.test_run(options)?.duration)
    }

    /// Has a program that was loaded for a test take a frame in; gives what would leave, port by port.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn run(&mut self, given: Test, frame: &[u8]) -> Result<Vec<(PortId, Vec<u8>)>> {
        Array::try_from(self.map_mut("test")?)?.set(0, given, 0)?;
        self.program()?.test_run(TestRunOptions { data_in: Some(frame), ..TestRunOptions::new() })?;
        let mut sent = Vec::new();
        while let Some(item) = self.sent.next() {
            sent.extend(copy(&item));
        }
        Ok(sent)
    }
}

/// There is no such entry.
const ENOENT: i32 = 2;

/// Takes out an entry, unless the program was quicker.
fn forget<K: Pod, V: Pod>(
    map: &mut HashMap<&mut MapData, K, V>,
    key: &K,
) -> std::result::Result<(), MapError> {
    match map.remove(key) {
        Err(MapError::SyscallError(error)) if error.io_error.raw_os_error() == Some(ENOENT) => Ok(()),
        removed => removed,
    }
}

/// Loads the object of `mode` into the kernel, with the maps of `pins` where there are any.
fn build(mode: Mode, config: &Exploration, settings: Settings, pins: Option<&Pins>) -> Result<Ebpf> {
    let size = |entries: usize| u32::try_from(entries).unwrap_or(u32::MAX);
    let mut sizes: Vec<_> = Mode::sizes(config).map(|(map, entries)| (map, size(entries))).into();
    if settings.testing == 0 {
        // Nothing is written down: the least that a ring buffer can be.
        sizes.push(("sent", 4096));
    }
    let pinned = pins.map(|pins| pins.prepare(mode.object(), &sizes)).transpose()?;
    let mut loader = EbpfLoader::new();
    loader.override_global("settings", &settings, true);
    for (map, size) in &sizes {
        loader.map_max_entries(map, *size);
    }
    for (map, path) in pinned.iter().flatten() {
        loader.map_pin_path(map, path.as_path());
    }
    let mut ebpf = loader.load(mode.object())?;
    let program = ebpf.program_mut(mode.program()).ok_or(PlaneError::Missing("program"))?;
    <&mut SchedClassifier>::try_from(program)?.load()?;
    Ok(ebpf)
}

/// A port as it is before anything is heard.
fn port(way: Way, hold: u64) -> Port {
    let (neighbour_until, host_from) = match way {
        Way::Host => (0, 0),
        Way::Unknown => (0, hold),
        Way::Up | Way::Down | Way::Level => (hold, NEVER),
    };
    Port { neighbour_until, host_from, up: 1, way: way as u8, may_be_fabric: 1, ..Port::default() }
}

/// The entries of a hash map.
fn entries<K: Pod, V: Pod>(map: &aya::maps::Map) -> Result<impl Iterator<Item = (K, V)> + use<K, V>> {
    let map = HashMap::<_, K, V>::try_from(map)?;
    Ok(collect(&map)?.into_iter())
}

fn collect<T: Borrow<MapData>, K: Pod, V: Pod>(map: &HashMap<T, K, V>) -> Result<Vec<(K, V)>> {
    let mut entries = Vec::new();
    for entry in map.iter() {
        match entry {
            Ok(entry) => entries.push(entry),
            // It went while we looked.
            Err(MapError::KeyNotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(entries)
}

/// A frame that was written down; none where it is too long for that.
fn copy(item: &[u8]) -> Option<(PortId, Vec<u8>)> {
    let (head, bytes) = item.split_at_checked(size_of::<Copy>())?;
    let (port, len) = head.split_at(4);
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).ok();
    let (port, len) = (number(port)?, number(len)? as usize);
    (len <= COPY_BYTES).then(|| Some((PortId(port as u16), bytes.get(..len)?.to_vec())))?
}
