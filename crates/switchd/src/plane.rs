//! [`Plane`]: a mode's program in the kernel, and its inputs.

use aya::maps::{Array, Map, MapData, PerCpuArray, RingBuf};
use aya::programs::SchedClassifier;
use aya::{Ebpf, EbpfLoader, Pod};
use weft_switching::exploration::Exploration;
use weft_switching::port_limits::ps_per_byte;
use weft_switching::tag_forward;
use weft_units::{PortId, Rate};
use weft_wire::Mac;

use crate::counters::{Counters, Counts, PortCounts};
use crate::error::PlaneError;
use crate::layout::{Event, Limits, MAX_PORTS, Peer, Port, Settings};
use crate::loading;
use crate::mode::Mode;
use crate::names::map_in_kernel;
use crate::pins::{Pins, Staged};
use crate::tables::Tables;
use crate::tags::Turns;
use crate::tags::layout::TagCounts;
use crate::walk::Walk;

/// The maximum frame of an interface with the usual MTU.
const ETHERNET: u32 = 1514;

type Result<T> = std::result::Result<T, PlaneError>;

/// A program and its maps. The maps that the program writes are also available separately, as [`Tables`].
pub struct Plane {
    pub(crate) ebpf: Ebpf,
    /// Exploration events, while tracing is on.
    trace: RingBuf<MapData>,
    tables: Tables,
    mode: Mode,
    settings: Settings,
    /// Rotation among the tables of gates.
    pub(crate) gate_turns: Turns,
}

impl Plane {
    /// Loads the program of `mode`, reusing pinned maps of the same type, size and layout and replacing the others. It
    /// forwards nothing until it is attached. Its fabric ports take frames of 1514 bytes.
    ///
    /// `settings` must be derived from `config`.
    ///
    /// # Errors
    /// [`PlaneError`]; CAP_BPF and CAP_NET_ADMIN are required. Pins are unchanged then.
    pub fn load(mode: Mode, config: &Exploration, settings: Settings, pins: &Pins) -> Result<Self> {
        let (mut plane, staged) = Self::stage(mode, config, settings, pins)?;
        plane.set_longest(ETHERNET)?;
        staged.commit()?;
        Ok(plane)
    }

    /// Like [`Plane::load`], but new maps are only staged: the old program uses its own maps until this one is attached and
    /// committed. Until [`Plane::set_longest`], no SYN can be explored.
    pub(crate) fn stage(
        mode: Mode,
        config: &Exploration,
        settings: Settings,
        pins: &Pins,
    ) -> Result<(Self, Staged)> {
        let (mut ebpf, staged) = build(mode, config, settings, pins)?;
        let trace =
            RingBuf::try_from(ebpf.take_map(&map_in_kernel("trace")).ok_or(PlaneError::Missing("trace"))?)?;
        let tables = Tables::new(mode, settings, &ebpf)?;
        Ok((Self { ebpf, trace, tables, mode, settings, gate_turns: Turns::GATES }, staged))
    }

    /// The settings of the loaded program.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The maps that the program writes; other threads can use a clone.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The loaded program, which can run without being attached (BPF_PROG_TEST_RUN).
    ///
    /// # Errors
    /// [`PlaneError::Missing`].
    pub fn program(&self) -> Result<&SchedClassifier> {
        let program = self.ebpf.program(self.mode.program()).ok_or(PlaneError::Missing("program"))?;
        Ok(program.try_into()?)
    }

    pub(crate) fn program_mut(&mut self) -> Result<&mut SchedClassifier> {
        let program = self.ebpf.program_mut(self.mode.program()).ok_or(PlaneError::Missing("program"))?;
        Ok(program.try_into()?)
    }

    pub(crate) fn map(&self, name: &'static str) -> Result<&Map> {
        self.ebpf.map(&map_in_kernel(name)).ok_or(PlaneError::Missing(name))
    }

    pub(crate) fn map_mut(&mut self, name: &'static str) -> Result<&mut Map> {
        self.ebpf.map_mut(&map_in_kernel(name)).ok_or(PlaneError::Missing(name))
    }

    /// A separate handle to a hash map of the program.
    pub(crate) fn walk<K: Pod, V: Pod>(&self, name: &'static str) -> Result<Walk<K, V>> {
        Walk::of(self.map(name)?)
    }

    /// The program's entry for a port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn port(&self, number: PortId) -> Result<Port> {
        Ok(Array::try_from(self.map("ports")?)?.get(&number.0.into(), 0)?)
    }

    /// Sets the program's entry for a port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_port(&mut self, number: PortId, port: Port) -> Result<()> {
        Ok(Array::try_from(self.map_mut("ports")?)?.set(number.0.into(), port, 0)?)
    }

    /// Sets the maximum frame that all fabric ports take, in bytes without the outer VLAN tag, in modes that wrap segments.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_longest(&mut self, bytes: u32) -> Result<()> {
        if !self.mode.keeps_flows() {
            return Ok(());
        }
        Ok(Array::try_from(self.map_mut("longest")?)?.set(0, bytes, 0)?)
    }

    /// Limits the flooded frames of a port to a share of its rate, in percent, in modes that explore.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_share(&mut self, number: PortId, rate: Rate, percent: u8) -> Result<()> {
        if !self.mode.explores() {
            return Ok(());
        }
        Ok(Array::try_from(self.map_mut("shares")?)?.set(number.0.into(), ps_per_byte(rate, percent), 0)?)
    }

    /// A port went down and has no stations: fills its token buckets, in modes that explore.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn refill(&mut self, number: PortId) -> Result<()> {
        if !self.mode.explores() {
            return Ok(());
        }
        Ok(Array::try_from(self.map_mut("limits")?)?.set(number.0.into(), Limits::default(), 0)?)
    }

    /// Sets the address of the machine at the other end of a port's link; zero: none.
    ///
    /// # Errors
    /// [`PlaneError`]; only modes with routes have peers.
    pub fn set_peer(&mut self, number: PortId, peer: Mac) -> Result<()> {
        let peer = Peer { address: peer.bits(), ..Peer::default() };
        Ok(Array::try_from(self.map_mut("peers")?)?.set(number.0.into(), peer, 0)?)
    }

    /// Sets the addresses of ports that may have a peer, by number.
    ///
    /// # Errors
    /// [`PlaneError`]; only modes with routes have peers.
    pub fn set_own_addresses(&self, own: &[Option<Mac>]) -> Result<()> {
        let map = self.walk::<u64, u32>("own_macs")?;
        let wanted: Vec<(u64, u32)> =
            own.iter().zip(0..).filter_map(|(mac, number)| Some(((*mac)?.bits(), number))).collect();
        let left = map.entries()?.into_iter().map(|(mac, _)| mac);
        let gone: Vec<u64> = left.filter(|mac| !wanted.iter().any(|(own, _)| own == mac)).collect();
        map.remove(&gone)?;
        wanted.iter().try_for_each(|(mac, number)| map.insert(mac, number))?;
        Ok(())
    }

    /// Assigns an interface to a port; with `None`, its frames are dropped.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn set_interface(&mut self, ifindex: u32, number: Option<PortId>) -> Result<()> {
        let map = self.walk::<u32, u32>("interfaces")?;
        match number {
            Some(number) => Ok(map.insert(&ifindex, &u32::from(number.0))?),
            None => Ok(map.remove(&[ifindex]).map(drop)?),
        }
    }

    /// The interfaces known to the program, and their ports.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn interfaces(&self) -> Result<Vec<(u32, u32)>> {
        Ok(self.walk("interfaces")?.entries()?)
    }

    /// Turns events in the ring buffer `trace` on or off.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn set_tracing(&mut self, wanted: bool) -> Result<()> {
        Ok(Array::try_from(self.map_mut("tracing")?)?.set(0, u32::from(wanted), 0)?)
    }

    /// The events since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(item) = self.trace.next() {
            events.extend(Event::read(&item));
        }
        events
    }

    /// The counters of frames.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn counters(&self) -> Result<Counters> {
        let counts = PerCpuArray::<_, Counts>::try_from(self.map("counters")?)?.get(&0, 0)?;
        Ok(Counters::sum(&counts))
    }

    /// The counters of tags and rules, in modes with gates.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn tag_counters(&self) -> Result<tag_forward::Counters> {
        let counts = PerCpuArray::<_, TagCounts>::try_from(self.map("tag_counters")?)?.get(&0, 0)?;
        let sum = |of: &dyn Fn(&TagCounts) -> u64| counts.iter().map(of).sum();
        Ok(tag_forward::Counters {
            lookups: sum(&|cpu| cpu.lookups),
            misses: sum(&|cpu| cpu.misses),
            pushed: sum(&|cpu| cpu.pushed),
            popped: sum(&|cpu| cpu.popped),
            forwarded: sum(&|cpu| cpu.forwarded),
            tags_of_hosts: sum(&|cpu| cpu.tags_of_hosts),
        })
    }

    /// Frames received on a port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn received(&self, number: PortId) -> Result<u64> {
        let counts = PerCpuArray::<_, PortCounts>::try_from(self.map("port_counters")?)?;
        Ok(PortCounts::sum(&counts.get(&number.0.into(), 0)?).received)
    }

    /// The counters of each port.
    ///
    /// # Errors
    /// [`PlaneError::Map`].
    pub fn port_counters(&self) -> Result<Vec<PortCounts>> {
        let counts = PerCpuArray::<_, PortCounts>::try_from(self.map("port_counters")?)?;
        (0..MAX_PORTS).map(|port| Ok(PortCounts::sum(&counts.get(&port.into(), 0)?))).collect()
    }
}

/// Loads the object of `mode` into the kernel, with the maps of `pins` that it can reuse.
fn build(mode: Mode, config: &Exploration, settings: Settings, pins: &Pins) -> Result<(Ebpf, Staged)> {
    let size = |entries: usize| u32::try_from(entries).unwrap_or(u32::MAX);
    let mut sizes: Vec<_> = Mode::sizes(config).map(|(map, entries)| (map, size(entries))).into();
    if settings.testing == 0 {
        // Nothing is recorded: the minimum size of a ring buffer.
        sizes.push(("sent", 4096));
    }
    let plan = pins.plan(mode.object(), &sizes)?;
    let adopted = plan.adopted.clone();
    let staged = pins.stage(plan)?;
    let sizes: Vec<_> = sizes.iter().map(|(map, size)| (map_in_kernel(map), *size)).collect();
    let adopted: Vec<_> = adopted.iter().map(|(map, path)| (map_in_kernel(map), path)).collect();
    let mut loader = EbpfLoader::new();
    loader.override_global("settings", &settings, true);
    for (map, size) in &sizes {
        loader.map_max_entries(map, *size);
    }
    for (map, path) in &adopted {
        loader.map_pin_path(map, path.as_path());
    }
    let mut ebpf = loader.load(mode.object())?;
    let program = ebpf.program_mut(mode.program()).ok_or(PlaneError::Missing("program"))?;
    loading::load(program.try_into()?)?;
    staged.pin(&mut ebpf, mode.program())?;
    Ok((ebpf, staged))
}
