//! [`Places`]: the directories of a daemon.

use std::path::PathBuf;

use crate::names::SwitchName;

/// The directories of a daemon.
#[derive(Clone, Debug)]
pub struct Places {
    /// Socket, lock and saved interface settings.
    pub run: PathBuf,
    /// Pins.
    pub pins: PathBuf,
    /// State that should survive a reboot: Hello sequence numbers and the switch id.
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
