//! [`Tables`]: the maps of a [`Plane`](crate::Plane) that its program writes, for threads that read, sweep or repair
//! them without holding the plane. All operations here may be slow.

use std::io;
use std::sync::Arc;

use aya::{Ebpf, Pod};

use crate::error::PlaneError;
use crate::layout::{Flood, FloodKey, Flow, Load, Members, Move, Path, Port, Settings, Station};
use crate::mode::Mode;
use crate::names::map_in_kernel;
use crate::recovery::{Broken, Known, Recovery};
use crate::walk::Walk;

/// Entries reread, decided on and removed in one batch: in between, at most a millisecond, the kernel may repair one.
const AT_ONCE: usize = 256;

/// The maps of a switch.
#[derive(Clone)]
pub struct Tables(Arc<Maps>);

struct Maps {
    settings: Settings,
    /// Stations, and repairs in progress, in modes that explore.
    stations: Option<(Walk<u64, Station>, Walk<u64, u64>)>,
    /// Remembered floods, in modes that explore.
    floods: Option<Walk<FloodKey, Flood>>,
    /// Stations that have moved, in modes that explore.
    moves: Option<Walk<u64, Move>>,
    /// Members of groups, in modes that explore.
    members: Option<Walk<u64, Members>>,
    /// Confirmed and unconfirmed flows.
    flows: Option<[Walk<Flow, Path>; 2]>,
    /// Bytes carried by flows.
    carried: Option<Walk<Flow, Load>>,
}

/// The number of entries of each table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Known stations.
    pub stations: usize,
    /// Repairs in progress.
    pub repairs: usize,
    /// Remembered floods.
    pub floods: usize,
    /// Path entries, about two per flow.
    pub flows: usize,
    /// Flows whose bytes are counted.
    pub carried: usize,
    /// Known groups.
    pub groups: usize,
}

impl Tables {
    /// The maps of the program of `mode`.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub(crate) fn new(mode: Mode, settings: Settings, ebpf: &Ebpf) -> Result<Self, PlaneError> {
        let (explores, keeps) = (mode.explores(), mode.keeps_flows());
        Ok(Self(Arc::new(Maps {
            settings,
            stations: walk(ebpf, "stations", explores)?.zip(walk(ebpf, "repairs", explores)?),
            floods: walk(ebpf, "floods", explores)?,
            moves: walk(ebpf, "moves", explores)?,
            members: walk(ebpf, "members", explores)?,
            flows: walk(ebpf, "paths", keeps)?.zip(walk(ebpf, "locked", keeps)?).map(<[_; 2]>::from),
            carried: walk(ebpf, "carried", mode.counts_flows())?,
        })))
    }

    fn flows(&self) -> &[Walk<Flow, Path>] {
        self.0.flows.as_ref().map_or(&[], |flows| flows)
    }

    /// Passes the stations that have not expired at `now` to `see`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn stations(&self, now: u64, mut see: impl FnMut(u64, Station)) -> io::Result<()> {
        let Some((stations, _)) = &self.0.stations else { return Ok(()) };
        stations.each(|keys, values| {
            let live = keys.iter().zip(values).filter(|(_, station)| station.expiry > now);
            live.for_each(|(address, station)| see(*address, *station));
        })
    }

    /// Passes the path entries that have not expired at `now` to `see`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn paths(&self, now: u64, mut see: impl FnMut(Flow, Path)) -> io::Result<()> {
        self.flows().iter().try_for_each(|map| {
            map.each(|keys, values| {
                let live = keys.iter().zip(values).filter(|(_, path)| path.expiry > now);
                live.for_each(|(flow, path)| see(*flow, *path));
            })
        })
    }

    /// Passes the moves of stations, which sent from another port than their known one, to `see`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn moves(&self, mut see: impl FnMut(u64, Move)) -> io::Result<()> {
        let Some(moves) = &self.0.moves else { return Ok(()) };
        moves.each(|keys, values| keys.iter().zip(values).for_each(|(address, moved)| see(*address, *moved)))
    }

    /// Removes the entries that have expired at `now`; returns the remaining sizes.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn sweep(&self, now: u64) -> io::Result<Sizes> {
        let mut sizes = Sizes::default();
        if let Some(floods) = &self.0.floods {
            sizes.floods = sweep(floods, |flood| flood.left(now) > 0)?;
        }
        if let Some((stations, repairs)) = &self.0.stations {
            sizes.stations = sweep(stations, |station| station.expiry > now)?;
            sizes.repairs = sweep(repairs, |until| *until > now)?;
        }
        if let Some(members) = &self.0.members {
            sizes.groups = sweep(members, |members| members.until > now)?;
        }
        if let Some(carried) = &self.0.carried {
            sizes.carried = sweep(carried, |load| load.expiry > now)?;
        }
        for map in self.flows() {
            sizes.flows += sweep(map, |path| path.expiry > now)?;
        }
        Ok(sizes)
    }

    /// Removes all stations; returns their number.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn forget_stations(&self) -> io::Result<usize> {
        self.0.stations.as_ref().map_or(Ok(0), |(stations, _)| remove_where(stations, |_| true))
    }

    /// Removes all path entries; returns their number.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn forget_paths(&self) -> io::Result<usize> {
        self.flows().iter().map(|map| remove_where(map, |_| true)).sum()
    }

    /// Removes the stations behind ports.
    fn forget_behind(&self, ports: &[u16]) -> io::Result<()> {
        let Some((stations, _)) = &self.0.stations else { return Ok(()) };
        remove_where(stations, |station| ports.contains(&station.port)).map(|_| ())
    }

    /// Removes all entries of ports that now have another interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn forget_ports(&self, ports: &[u16]) -> io::Result<()> {
        self.forget_behind(ports)?;
        self.flows()
            .iter()
            .try_for_each(|map| remove_where(map, |path: &Path| ports.contains(&path.port)).map(|_| ()))
    }

    /// The path entries on a port that have not expired at `now`, each with that of the other direction.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn on_port(&self, port: u16, now: u64) -> io::Result<Vec<Broken>> {
        let mut found = Vec::new();
        self.paths(now, |flow, path| {
            if path.port == port {
                found.push((flow, path));
            }
        })?;
        let other = |flow: Flow| self.path(&flow.reversed(), now);
        Ok(found.into_iter().map(|(flow, path)| Broken { flow, path, other: other(flow) }).collect())
    }

    /// Handles a dead port: removes the stations behind it and recovers the flows over it, except for sending the
    /// frames. `ports` are the program's entries; `draw` returns the number of a flow's exploration.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn break_port(
        &self,
        port: u16,
        ports: &[Port],
        now: u64,
        draw: impl FnMut(&Flow) -> u32,
    ) -> io::Result<Recovery> {
        self.break_flows(port, self.on_port(port, now)?, ports, now, draw)
    }

    /// Breaks entries read from the port earlier. Entries that the kernel has repaired since are left alone.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn break_flows(
        &self,
        port: u16,
        mut broken: Vec<Broken>,
        ports: &[Port],
        now: u64,
        mut draw: impl FnMut(&Flow) -> u32,
    ) -> io::Result<Recovery> {
        self.forget_behind(&[port])?;
        broken.sort_unstable_by_key(|broken| (broken.flow.host, broken.flow.peer));
        let mut done = Recovery::default();
        for some in broken.chunks(AT_ONCE) {
            let still = some.iter().filter_map(|broken| self.still(broken, now)).collect();
            let more = self.decide(ports, now, |known| known.break_port(still, &mut draw));
            for map in self.flows() {
                map.remove(&more.gone)?;
            }
            self.begin(&more)?;
            done.add(more);
        }
        Ok(done)
    }

    /// The current state of an entry, and that of the other direction; `None` if it was removed or replaced.
    fn still(&self, broken: &Broken, now: u64) -> Option<Broken> {
        let path = self.path(&broken.flow, now)?;
        let same = path.port == broken.path.port && path.id == broken.path.id;
        same.then(|| Broken { flow: broken.flow, path, other: self.path(&broken.flow.reversed(), now) })
    }

    fn path(&self, flow: &Flow, now: u64) -> Option<Path> {
        self.flows().iter().find_map(|map| map.get(flow).filter(|path| path.expiry > now))
    }

    /// Moves flows off a port that still forwards, except for sending the frames: flows explored from here search for
    /// another path while the current one stays in use; for the others, both edges are notified that this path is
    /// broken.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn move_off(
        &self,
        port: u16,
        ports: &[Port],
        now: u64,
        mut draw: impl FnMut(&Flow) -> u32,
    ) -> io::Result<Recovery> {
        let over = self.on_port(port, now)?;
        let is_fabric = |number: u16| ports.get(usize::from(number)).is_some_and(|port| port.is_fabric(now));
        let reversed = over.iter().filter_map(|entry| {
            let other = entry.other.filter(|other| is_fabric(other.port))?;
            Some(Broken { flow: entry.flow.reversed(), path: other, other: Some(entry.path) })
        });
        let reversed: Vec<Broken> = reversed.collect();
        let done = self.decide(ports, now, |known| {
            let mut done = known.break_port(over, &mut draw);
            done.frames.extend(known.break_port(reversed, &mut draw).frames);
            // In-flight frames are still forwarded.
            done.gone.clear();
            done
        });
        self.begin(&done)?;
        Ok(done)
    }

    /// Moves flows off a port whose link loses frames, except for sending the frames; of many flows those from a place on
    /// that the random number `drawn` selects.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn leave_port(
        &self,
        port: u16,
        ports: &[Port],
        now: u64,
        drawn: u64,
        draw: impl FnMut(&Flow) -> u32,
    ) -> io::Result<Recovery> {
        let over = self.on_port(port, now)?;
        let done = self.decide(ports, now, |known| known.leave_port(port, over, drawn, draw));
        self.begin(&done)?;
        Ok(done)
    }

    /// Records explorations that start here.
    fn begin(&self, done: &Recovery) -> io::Result<()> {
        if let Some(floods) = &self.0.floods {
            for (key, flood) in &done.floods {
                floods.insert(key, flood)?;
            }
        }
        let Some([confirmed, locked]) = &self.0.flows else { return Ok(()) };
        // One entry per key: that of the current exploration.
        confirmed.remove(&done.locked.iter().map(|(flow, _)| *flow).collect::<Vec<_>>())?;
        done.locked.iter().try_for_each(|(flow, path)| locked.insert(flow, path))
    }

    /// The recovery that `decide` finds necessary for flows, from the state of the switch.
    fn decide(&self, ports: &[Port], now: u64, decide: impl FnOnce(&Known<'_>) -> Recovery) -> Recovery {
        let is_attached = |station: u64| {
            let known = self.0.stations.as_ref().and_then(|(stations, _)| stations.get(&station));
            let port = known.filter(|station| station.expiry > now).map(|station| usize::from(station.port));
            port.and_then(|port| ports.get(port)).is_some_and(|port| port.is_host(now))
        };
        decide(&Known { ports, settings: &self.0.settings, is_attached: &is_attached, now })
    }
}

/// A map of a program, if `wanted`.
fn walk<K: Pod, V: Pod>(
    ebpf: &Ebpf,
    map: &'static str,
    wanted: bool,
) -> Result<Option<Walk<K, V>>, PlaneError> {
    let open = || Walk::of(ebpf.map(&map_in_kernel(map)).ok_or(PlaneError::Missing(map))?);
    wanted.then(open).transpose()
}

/// Removes entries that are not kept; returns the number of entries left.
fn sweep<K: Pod, V: Pod>(map: &Walk<K, V>, keep: impl Fn(&V) -> bool) -> io::Result<usize> {
    take_out(map, |value| !keep(value)).map(|(_, kept)| kept)
}

/// Removes the entries selected by `of`; returns the number removed.
fn remove_where<K: Pod, V: Pod>(map: &Walk<K, V>, of: impl Fn(&V) -> bool) -> io::Result<usize> {
    take_out(map, of).map(|(removed, _)| removed)
}

/// Removes the entries selected by `of`, continuing after errors; returns the numbers removed and left.
fn take_out<K: Pod, V: Pod>(map: &Walk<K, V>, of: impl Fn(&V) -> bool) -> io::Result<(usize, usize)> {
    let (mut removed, mut kept, mut failed) = (0, 0, None);
    map.each(|keys, values| {
        let entries = keys.iter().zip(values);
        let gone: Vec<K> = entries.filter(|(_, value)| of(value)).map(|(key, _)| *key).collect();
        kept += keys.len() - gone.len();
        match map.remove(&gone) {
            Ok(count) => removed += count,
            Err(error) => failed = failed.take().or(Some(error)),
        }
    })?;
    failed.map_or(Ok((removed, kept)), Err)
}
