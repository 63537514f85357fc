//! [`Tags`]: gates, rules, and frames waiting for rules.
//!
//! Locks are taken in the order of the fields of [`Tags`], and the switch's lock last.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use weft_wire::{EtherType, TagWidth};

use super::flows::{ChangeError, Flows};
use super::gates::Gated;
use super::injector::Injector;
use super::waiting::{Fates, Waiting};
use crate::Mode;
use crate::daemon::refusal::Refusal;
use crate::daemon::switch::Switch;
use crate::error::PlaneError;
use crate::tags::{Misses, Rules};

/// Gates, rules, and frames waiting for rules.
pub struct Tags {
    /// The width of tags.
    pub width: TagWidth,
    /// The EtherType of tags.
    pub ethertype: EtherType,
    /// Whether frames are tagged: not in mode `flow-table`.
    pub(super) pushes: bool,
    /// The major number of the traffic classes of frames; 0: none.
    pub(super) queue_major: u16,
    flows: Mutex<Flows>,
    pub(super) waiting: Mutex<(Waiting, Injector)>,
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
            let removed = gated.set(left, &interfaces, |gates| switch.plane.set_gates(gates));
            removed.unwrap_or_else(|error| tracing::warn!(%error, "removing gates of former ports failed"));
        }
        let injector = Injector::open().map_err(Refusal::system("opening a packet socket"))?;
        let misses = switch.plane.take_misses()?.ok_or(PlaneError::Missing("misses"))?;
        let tags = Self {
            width: tagging.width,
            ethertype: tagging.ethertype,
            pushes: switch.config.mode == Mode::TagForward,
            queue_major: tagging.queue_major,
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
    pub(super) fn change<T>(
        &self,
        work: impl FnOnce(&mut Flows) -> Result<T, ChangeError>,
    ) -> Result<T, ChangeError> {
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

    pub(super) fn flows(&self) -> MutexGuard<'_, Flows> {
        lock(&self.flows)
    }

    pub(super) fn gates(&self) -> MutexGuard<'_, Gated> {
        lock(&self.gates)
    }

    /// The outcomes of waiting frames.
    pub fn fates(&self) -> Fates {
        let (waiting, _) = &mut *lock(&self.waiting);
        waiting.expire(Instant::now());
        waiting.fates()
    }
}
