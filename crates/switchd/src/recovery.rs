//! Recovery of flows whose port is dead: notifies the other end's edge, or searches for another path, as in
//! `crates/switching/src/recovery.rs`. The kernel program does the same for a frame whose port is dead; this is for
//! idle flows.

use std::collections::HashSet;

use weft_switching::hello::Way;
use weft_switching::leaving::MOST;
use weft_switching::path_table::LOCKED;
use weft_switching::{Kind, pick};
use weft_wire::{EtherType, MIN_FRAME, Mac, PathHeader, PathType, Tuple};

use crate::layout::{Flood, FloodKey, Flow, Path, Port, Settings};

/// The state of the switch, apart from the flows.
pub struct Known<'a> {
    /// Its ports, by number.
    pub ports: &'a [Port],
    /// The settings of the program.
    pub settings: &'a Settings,
    /// Whether a station is on a host port of this switch.
    pub is_attached: &'a dyn Fn(u64) -> bool,
    /// The time, in ns.
    pub now: u64,
}

/// An unexpired entry on the dead port, and the entry of the other direction.
#[derive(Clone, Copy, Debug)]
pub struct Broken {
    /// The entry's key.
    pub flow: Flow,
    /// The entry.
    pub path: Path,
    /// The entry of the other direction.
    pub other: Option<Path>,
}

/// The actions to take, in this order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recovery {
    /// Entries to remove from the maps `paths` and `locked`.
    pub gone: Vec<Flow>,
    /// Entries to add to `locked`.
    pub locked: Vec<(Flow, Path)>,
    /// Floods that start here, to add to `floods`.
    pub floods: Vec<(FloodKey, Flood)>,
    /// Frames to send, each out of all its ports; the caller shuffles the ports if floods leave in random order.
    pub frames: Vec<(Vec<u16>, Vec<u8>)>,
}

impl Recovery {
    /// Adds the actions for further flows.
    pub(crate) fn add(&mut self, other: Self) {
        self.gone.extend(other.gone);
        self.locked.extend(other.locked);
        self.floods.extend(other.floods);
        self.frames.extend(other.frames);
    }
}

impl Known<'_> {
    fn is_fabric(&self, number: u16) -> bool {
        self.ports.get(usize::from(number)).is_some_and(|port| port.is_fabric(self.now))
    }

    fn is_host(&self, number: u16) -> bool {
        self.ports.get(usize::from(number)).is_some_and(|port| port.is_host(self.now))
    }

    fn flood(&self) -> Vec<u16> {
        let up = |port: &Port| port.up != 0 && port.is_fabric(self.now);
        (0..).zip(self.ports).filter(|(_, port)| up(port)).map(|(number, _)| number).collect()
    }

    /// A frame about the flow from `flow.host` to its peer.
    fn about(&self, flow: Flow, path_type: PathType, id: u32) -> Vec<u8> {
        let end = |end: u64| {
            let [a, b, c, d, e, f, high, low] = end.to_be_bytes();
            (Mac([a, b, c, d, e, f]), u16::from_be_bytes([high, low]))
        };
        let ((source, source_port), (destination, destination_port)) = (end(flow.host), end(flow.peer));
        let tuple = Tuple { source, source_port, destination, destination_port };
        let mut frame = vec![0; MIN_FRAME];
        let header = PathHeader { path_type, hops: 0, id, tuple };
        let written = header.write(&[], EtherType(self.settings.path_type), &mut frame);
        frame.truncate(written.unwrap_or(0));
        frame
    }

    /// The actions for flows with an entry on a dead port. `draw` returns an unpredictable number for a flow's
    /// exploration.
    pub fn break_port(&self, mut broken: Vec<Broken>, mut draw: impl FnMut(&Flow) -> u32) -> Recovery {
        broken.sort_unstable_by_key(|broken| (broken.flow.host, broken.flow.peer));
        let (mut done, mut seen) = (Recovery::default(), HashSet::new());
        for Broken { flow, path, other } in broken {
            let back = flow.reversed();
            if seen.contains(&flow) {
                continue;
            }
            seen.extend([flow, back]);
            done.gone.extend([flow, back]);
            match other {
                Some(other) if self.is_fabric(other.port) => {
                    let fail = self.about(flow, PathType::Fail, path.id);
                    done.frames.push((vec![other.port], fail));
                }
                Some(other) if other.initiator != 0 && self.is_host(other.port) => {
                    self.recover(back, other.port, &mut draw, &mut done);
                }
                _ => {}
            }
        }
        done
    }

    /// The actions for flows with an entry on `port`, whose link loses frames. Entries stay, as frames are still forwarded. Of
    /// many flows, `drawn` selects the first.
    pub fn leave_port(
        &self,
        port: u16,
        mut leaving: Vec<Broken>,
        drawn: u64,
        mut draw: impl FnMut(&Flow) -> u32,
    ) -> Recovery {
        leaving.sort_unstable_by_key(|leaving| (leaving.flow.host, leaving.flow.peer));
        let most = leaving.len().min(MOST);
        if most < leaving.len() {
            let first = pick(drawn, leaving.len());
            leaving.rotate_left(first);
        }
        let goes_up = self.has_better_up(port);
        let mut done = Recovery::default();
        for Broken { flow, path, other } in &leaving[..most] {
            let back = flow.reversed();
            match other {
                Some(other) if self.is_host(other.port) => match (other.initiator, other.class) {
                    (0, _) => done.frames.push((vec![port], self.about(back, PathType::Fail, other.id))),
                    // A search is in progress.
                    (_, LOCKED) => {}
                    _ => self.recover(back, other.port, &mut draw, &mut done),
                },
                Some(other) if goes_up && self.is_fabric(other.port) => {
                    done.frames.push((vec![other.port], self.about(*flow, PathType::Fail, path.id)));
                    done.frames.push((vec![port], self.about(back, PathType::Fail, other.id)));
                }
                _ => {}
            }
        }
        done
    }

    /// Whether a flow that leaves through `port` and comes from another switch may have a better way up from here.
    fn has_better_up(&self, port: u16) -> bool {
        let leads_up = |port: &Port| port.way == Way::Up as u8 && port.is_fabric(self.now);
        let is_up = self.ports.get(usize::from(port)).is_some_and(leads_up);
        is_up && self.ports.iter().any(|port| leads_up(port) && port.last_resort == 0)
    }

    /// Searches for a path for the flow of `flow.host`, which is on the host port `port`.
    fn recover(&self, flow: Flow, port: u16, draw: &mut impl FnMut(&Flow) -> u32, done: &mut Recovery) {
        if (self.is_attached)(flow.peer >> 16) {
            return;
        }
        let (id, expiry) = (draw(&flow), self.now + self.settings.lock);
        let key = FloodKey {
            from: flow.host >> 16,
            to: flow.peer >> 16,
            id,
            sport: flow.host as u16,
            dport: flow.peer as u16,
            kind: Kind::RecoveryRequest as u64,
        };
        done.floods.push((key, Flood::new(u16::MAX, expiry)));
        let made = (self.now / 1_000_000) as u32;
        let path =
            Path { expiry, id, made, port, class: LOCKED, initiator: 1, explored: 1, ..Path::default() };
        done.locked.push((flow, path));
        done.frames.push((self.flood(), self.about(flow, PathType::RecoveryRequest, id)));
    }
}
