//! [`Shared`]: the switch and the other state that all tasks and threads of the daemon need.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, broadcast, mpsc, oneshot};

use super::start::Start;
use super::switch::{Switch, Task};
use super::walks::Walks;
use crate::tags::daemon::state::Tags;

/// The switch, shared by all tasks and threads.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(super) switch: Mutex<Switch>,
    /// Signals that a deadline may have moved forward.
    pub(super) changed: Notify,
    pub(super) tasks: mpsc::UnboundedSender<Task>,
    /// Ports whose flows are being walked.
    pub(super) walks: Walks,
    /// Requests to take the switch down, each with the channel for its answer.
    pub(super) down: mpsc::Sender<Waiting>,
    /// Exploration events, for the readers of traces.
    pub(super) trace: broadcast::Sender<serde_json::Value>,
    /// Gates and rules, in modes that have them.
    pub(crate) tags: Option<Tags>,
    /// How the daemon was started, for reloads.
    pub(super) start: Start,
}

/// Receives the outcome of taking the switch down.
pub(super) type Waiting = oneshot::Sender<Result<Vec<String>, String>>;

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Switch> {
        self.0.switch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event may have moved a deadline forward, and produced these tasks.
    pub(super) fn happened(&self, tasks: Vec<Task>) {
        self.0.changed.notify_one();
        self.hand(tasks);
    }

    /// Queues tasks.
    pub(super) fn hand(&self, tasks: Vec<Task>) {
        for task in tasks {
            // The receiver lives as long as the daemon.
            let _ = self.0.tasks.send(task);
        }
    }
}
