//! [`Trace`]: `weftctl trace` beside a test.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;

use crate::daemons::switch::Switch;

/// A running `weftctl trace`, which may miss what happens before it has connected.
pub struct Trace {
    file: PathBuf,
    child: Child,
}

impl Trace {
    pub fn start(switch: &Switch<'_>) -> Self {
        let file = switch.places.run.join(format!("{}.trace", switch.name));
        let mut command = switch.ctl_inside();
        command.args(["--json", "trace"]).stdout(File::create(&file).expect("a file"));
        Self { file, child: command.spawn().expect("weftctl") }
    }

    /// The events until now.
    pub fn events(&self) -> Vec<Value> {
        let lines = fs::read_to_string(&self.file).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
