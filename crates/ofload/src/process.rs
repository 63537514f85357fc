//! [`Process`]: memory and time of the controller's process, as `/proc` has them.

use std::fs;
use std::io;

/// A process of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    id: u32,
}

/// What it has used so far.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Seconds of a core, its own.
    pub user_s: f64,
    /// Seconds of a core that the kernel worked for it.
    pub system_s: f64,
    /// Memory that is there, in bytes.
    pub memory: u64,
}

impl Process {
    /// The process with this id.
    pub const fn new(id: u32) -> Self {
        Self { id }
    }

    /// What it has used.
    ///
    /// # Errors
    /// It is not there, or `/proc` is not as Linux has it.
    pub fn usage(&self) -> io::Result<Usage> {
        let unclear = || io::Error::new(io::ErrorKind::InvalidData, "/proc is not as Linux has it");
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id))?;
        // The name, in brackets, may have any characters.
        let (_, fields) = stat.rsplit_once(')').ok_or_else(unclear)?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).ok_or_else(unclear);
        // Of proc_pid_stat(5), fields 14 and 15; the third is the first here. A tick is 10 ms on all of Linux.
        let (user, system) = (ticks(11)?, ticks(12)?);
        let status = fs::read_to_string(format!("/proc/{}/status", self.id))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or_else(unclear)?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().map_err(|_| unclear())?;
        Ok(Usage { user_s: user / 100.0, system_s: system / 100.0, memory: kib * 1024 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_memory_and_one_that_is_not_there_nothing() {
        let usage = Process::new(std::process::id()).usage().unwrap();
        assert!(usage.memory > 1 << 19 && usage.user_s >= 0.0 && usage.system_s >= 0.0, "{usage:?}");
        assert!(Process::new(u32::MAX).usage().is_err());
    }
}
