//! The kernel side: a program with pinned maps, loaded as by the daemon, and the daemon's [`Tables`].

use std::io;

use aya::Pod;
use aya::maps::{Array, Map, MapData, RingBuf};
use aya::programs::{TestRun, TestRunOptions};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use weft_switchd::layout::{
    COPY_BYTES, Copy, Flood, FloodKey, Flow, Load, Members, Path, Port, Settings, Station, Test,
};
use weft_switchd::names::map_in_kernel;
use weft_switchd::pins::Pins;
use weft_switchd::walk::Walk;
use weft_switchd::{Mode, Plane, PlaneError};
use weft_switching::exploration::Exploration;
use weft_units::PortId;

use crate::bpffs::BpfFs;

/// The size of `struct __sk_buff`, and the offset of its priority.
const CONTEXT: usize = 192;
const PRIORITY: usize = 32;

type Result<T> = std::result::Result<T, PlaneError>;

/// A program with its inputs and outputs.
pub struct Program {
    pub plane: Plane,
    /// Maps that the daemon's tables do not expose.
    floods: Option<Walk<FloodKey, Flood>>,
    repairs: Option<Walk<u64, u64>>,
    carried: Option<Walk<Flow, Load>>,
    members: Option<Walk<u64, Members>>,
    /// The test inputs besides the frame, and the recorded output.
    given: Array<MapData, Test>,
    sent: RingBuf<MapData>,
    ports: Vec<Port>,
    /// The priority of the last frame, which selects its queue.
    pub priority: u32,
    pub pins: Pins,
    /// Keeps the pins alive.
    _pinned: BpfFs,
}

impl Program {
    /// Loads the program of `mode`, which reads times and random numbers from the test.
    pub fn load(mode: Mode, config: &Exploration, settings: Settings) -> Result<Self> {
        stay_on_this_cpu();
        let settings = Settings { testing: 1, ..settings };
        let pinned =
            BpfFs::new().map_err(|error| PlaneError::Pin { path: "a BPF file system".into(), error })?;
        let pins = Pins::open(&pinned.root(), &"test".parse().expect("a name"))?;
        let plane = Plane::load(mode, config, settings, &pins)?;
        Ok(Self {
            floods: mode.explores().then(|| Walk::open(&pins.map("floods"))).transpose()?,
            repairs: mode.explores().then(|| Walk::open(&pins.map("repairs"))).transpose()?,
            carried: mode.counts_flows().then(|| Walk::open(&pins.map("carried"))).transpose()?,
            members: mode.explores().then(|| Walk::open(&pins.map("members"))).transpose()?,
            given: own(&plane, "test")?.try_into()?,
            sent: own(&plane, "sent")?.try_into()?,
            ports: Vec::new(),
            priority: 0,
            plane,
            pins,
            _pinned: pinned,
        })
    }

    /// The ports as last written for the program.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Writes the ports that have changed.
    pub fn tell(&mut self, ports: Vec<Port>) -> Result<()> {
        for (number, port) in ports.iter().enumerate() {
            if self.ports.get(number) != Some(port) {
                self.plane.set_port(PortId(number as u16), *port)?;
            }
        }
        self.ports = ports;
        Ok(())
    }

    /// Runs the program on a frame; returns the frames it would send, by port.
    pub fn run(&mut self, given: Test, frame: &[u8]) -> Result<Vec<(PortId, Vec<u8>)>> {
        self.given.set(0, given, 0)?;
        let mut context = [0; CONTEXT];
        let options =
            TestRunOptions { data_in: Some(frame), ctx_out: Some(&mut context), ..TestRunOptions::new() };
        self.plane.program()?.test_run(options)?;
        self.priority = context
            .get(PRIORITY..PRIORITY + 4)
            .map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().expect("four bytes")));
        let mut sent = Vec::new();
        while let Some(item) = self.sent.next() {
            sent.extend(copy(&item));
        }
        Ok(sent)
    }

    /// The stations that have not expired.
    pub fn stations(&self, now: u64) -> io::Result<Vec<(u64, Station)>> {
        let mut found = Vec::new();
        self.plane.tables().stations(now, |address, station| found.push((address, station)))?;
        Ok(found)
    }

    /// The flows that have not expired.
    pub fn paths(&self, now: u64) -> io::Result<Vec<(Flow, Path)>> {
        let mut found = Vec::new();
        self.plane.tables().paths(now, |flow, path| found.push((flow, path)))?;
        Ok(found)
    }

    /// The floods that have not expired.
    pub fn floods(&self, now: u64) -> io::Result<Vec<(FloodKey, Flood)>> {
        live(self.floods.as_ref(), |flood| flood.left(now) > 0)
    }

    /// The stations under repair, and until when.
    pub fn repairs(&self, now: u64) -> io::Result<Vec<(u64, u64)>> {
        live(self.repairs.as_ref(), |until| *until > now)
    }

    /// The known groups.
    pub fn members(&self, now: u64) -> io::Result<Vec<(u64, Members)>> {
        live(self.members.as_ref(), |members| members.until > now)
    }

    /// The routers of each version of IP.
    pub fn routers(&self) -> Result<[Members; 2]> {
        let routers = Array::<_, Members>::try_from(own(&self.plane, "routers")?)?;
        Ok([routers.get(&0, 0)?, routers.get(&1, 0)?])
    }

    /// The bytes carried by flows that have not expired.
    pub fn carried(&self, now: u64) -> io::Result<Vec<(Flow, Load)>> {
        live(self.carried.as_ref(), |load| load.expiry > now)
    }
}

/// Keeps the thread on its processor: each processor remembers its own announcements, whose ids searches take over.
fn stay_on_this_cpu() {
    let mut only = CpuSet::new();
    only.set(sched_getcpu());
    sched_setaffinity(None, &only).expect("a processor");
}

/// The live entries of a map; none if the mode does not have the map.
fn live<K: Pod, V: Pod>(map: Option<&Walk<K, V>>, is_live: impl Fn(&V) -> bool) -> io::Result<Vec<(K, V)>> {
    let mut found = Vec::new();
    if let Some(map) = map {
        map.each(|keys, values| {
            let entries = keys.iter().zip(values).filter(|(_, value)| is_live(value));
            found.extend(entries.map(|(key, value)| (*key, *value)));
        })?;
    }
    Ok(found)
}

/// A map of the program that is not pinned, since only tests use it.
fn own(plane: &Plane, name: &'static str) -> Result<Map> {
    for id in plane.program()?.info()?.map_ids()?.unwrap_or_default() {
        let map = MapData::from_id(id)?;
        if map.info()?.name_as_str() == Some(&*map_in_kernel(name)) {
            return Ok(Map::from_map_data(map)?);
        }
    }
    Err(PlaneError::Missing(name))
}

/// A recorded frame; `None` if it was too long to be recorded.
fn copy(item: &[u8]) -> Option<(PortId, Vec<u8>)> {
    let (head, bytes) = item.split_at_checked(size_of::<Copy>())?;
    let (port, len) = head.split_at(4);
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).ok();
    let (port, len) = (number(port)?, number(len)? as usize);
    (len <= COPY_BYTES).then(|| Some((PortId(port as u16), bytes.get(..len)?.to_vec())))?
}
