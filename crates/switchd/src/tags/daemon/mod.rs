//! The daemon's part of the modes `tag-forward` and `flow-table`: gates and rules, which it writes to the kernel, and
//! frames for which there is no rule yet.
//!
//! Locks are taken in the order of the fields of [`Tags`], and the switch's lock last.

mod checksum;
mod flows;
mod gates;
pub(crate) mod http;
mod injector;
mod misses;
mod steer;
mod waiting;
mod warnings;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use weft_units::PortId;
use weft_wire::{EtherType, TagWidth};

use crate::Mode;
use crate::daemon::Shared;
use crate::daemon::ports::Role;
use crate::daemon::refusal::Refusal;
use crate::daemon::switch::Switch;
use crate::error::PlaneError;
use crate::tags::{Misses, Rules};
use flows::{ChangeError, Flows};
use gates::Gated;
use injector::Injector;
use steer::Steering;
pub use waiting::Fates;
use waiting::{Frame, Waiting};

/// Gates, rules, and frames waiting for rules.
pub struct Tags {
    /// The width of tags.
    pub width: TagWidth,
    /// The EtherType of tags.
    pub ethertype: EtherType,
    /// Whether frames are tagged: not in mode `flow-table`.
    pushes: bool,
    /// The major number of the traffic classes of frames; 0: none.
    queue_major: u16,
    flows: Mutex<Flows>,
    waiting: Mutex<(Waiting, Injector)>,
    gates: Mutex<Gated>,
    rules: AtomicUsize,
    groups: AtomicUsize,
}

/// The number of rules, groups and gates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Rules.
    pub rules: usize,
    /// Groups of ways.
    pub groups: usize,
    /// Gates.
    pub gates: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file of gate names.
pub fn names_file(run: &Path, name: &str) -> PathBuf {
    run.join(format!("{name}.gates"))
}

impl Tags {
    /// Takes over the maps of a switch in a mode with gates; also returns the source of misses.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn open(switch: &mut Switch, run: &Path) -> Result<Option<(Self, Misses)>, Refusal> {
        if !switch.config.mode.has_gates() {
            return Ok(None);
        }
        let (name, tagging) = (&switch.config.name, switch.config.tagging);
        let rules = Rules::open(tagging.width, &switch.pins)?;
        let interfaces: Vec<String> = switch.ports.iter().map(|port| port.name.clone()).collect();
        let mut gated = Gated::adopt(switch.plane.gates(name)?, names_file(run, name));
        gated.moved(&interfaces).iter().for_each(|moved| tracing::warn!("{moved}"));
        if let Some(left) = gated.without_those_beyond(interfaces.len()) {
            let told = gated.set(left, &interfaces, |gates| switch.plane.set_gates(gates));
            told.unwrap_or_else(|error| tracing::warn!(%error, "removing gates of former ports failed"));
        }
        let injector = Injector::open().map_err(Refusal::system("opening a packet socket"))?;
        let misses = switch.plane.take_misses()?.ok_or(PlaneError::Missing("misses"))?;
        let tags = Self {
            width: tagging.width,
            ethertype: tagging.ethertype,
            pushes: switch.config.mode == Mode::TagForward,
            queue_major: tagging.queue_major.unwrap_or(0),
            flows: Mutex::new(Flows::new(rules)),
            waiting: Mutex::new((Waiting::default(), injector)),
            gates: Mutex::new(gated),
            rules: AtomicUsize::new(0),
            groups: AtomicUsize::new(0),
        };
        tags.count(&tags.flows());
        Ok(Some((tags, misses)))
    }

    /// The number of rules, groups and gates.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            rules: self.rules.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            gates: self.gates().get().gates.len(),
        }
    }

    /// Changes rules, which may take seconds.
    fn change<T>(&self, work: impl FnOnce(&mut Flows) -> Result<T, ChangeError>) -> Result<T, ChangeError> {
        let mut flows = self.flows();
        let done = work(&mut flows);
        self.count(&flows);
        done
    }

    /// Stores the counts, for readers that cannot wait for a change to finish.
    fn count(&self, flows: &Flows) {
        self.rules.store(flows.table().len(), Ordering::Relaxed);
        self.groups.store(flows.table().groups().count(), Ordering::Relaxed);
    }

    fn flows(&self) -> MutexGuard<'_, Flows> {
        lock(&self.flows)
    }

    fn gates(&self) -> MutexGuard<'_, Gated> {
        lock(&self.gates)
    }

    /// The outcomes of waiting frames.
    pub fn fates(&self) -> Fates {
        let (waiting, _) = &mut *lock(&self.waiting);
        waiting.expire(Instant::now());
        waiting.fates()
    }
}

/// The interface of each port that frames may leave by, including listening ports: gates decide where these lead.
fn open_ports(switch: &Switch) -> Vec<Option<u32>> {
    let carries = |role| matches!(role, Role::Host | Role::Fabric | Role::Unheard | Role::Listening);
    let open = switch.ports.iter().map(|port| {
        let interface = port.interface.as_ref().filter(|_| carries(port.role) && !port.draining)?;
        Some(interface.index)
    });
    open.collect()
}

/// Starts handling misses.
pub fn watch(shared: &Shared, misses: Misses) {
    let notices = shared.lock().notices.sender();
    misses::watch(shared, misses, notices);
}

/// Handles frames without a rule; `None` stands for one that cannot wait.
fn came(shared: &Shared, frames: Vec<Option<Frame>>) {
    let Some(tags) = &shared.0.tags else { return };
    {
        let (waiting, _) = &mut *lock(&tags.waiting);
        let now = Instant::now();
        for frame in frames {
            match frame {
                Some(frame) => waiting.keep(frame, now),
                None => waiting.refused(),
            }
        }
    }
    // A rule may have been added since the lookup.
    send_on(shared);
}

/// Sends waiting frames that now have a rule.
fn send_on(shared: &Shared) {
    let Some(tags) = &shared.0.tags else { return };
    let flows = tags.flows();
    let (waiting, injector) = &mut *lock(&tags.waiting);
    if waiting.is_empty() {
        return;
    }
    let gated = tags.gates();
    let open = open_ports(&shared.lock());
    let carries = |port: PortId| open.get(port.index()).is_some_and(Option::is_some);
    let steering = Steering {
        table: flows.table(),
        gates: gated.get(),
        carries: &carries,
        tags: tags.pushes.then_some((tags.width, tags.ethertype)),
    };
    for frame in waiting.take(Instant::now(), |frame| steering.has_rule(frame)) {
        let sent = steering.steer(frame).is_some_and(|leaving| {
            let ifindex = open.get(leaving.port.index()).copied().flatten().unwrap_or_default();
            let class = u32::from(tags.queue_major) << 16 | u32::from(leaving.queue + 1);
            let priority = if tags.queue_major > 0 { class } else { 0 };
            injector.send(ifindex, priority, &leaving.bytes).is_ok()
        });
        if sent { waiting.sent() } else { waiting.refused() }
    }
}
