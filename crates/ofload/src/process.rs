//! [`Process`]: memory and CPU time of the controller's process, from `/proc`.

use std::fs;
use std::io;

/// A process on this machine.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    id: u32,
}

/// Its usage so far.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// CPU time in user mode, in seconds.
    pub user_s: f64,
    /// CPU time in kernel mode, in seconds.
    pub system_s: f64,
    /// Resident memory, in bytes.
    pub memory: u64,
}

impl Process {
    /// The process with this id.
    pub const fn new(id: u32) -> Self {
        Self { id }
    }

    /// Its usage so far.
    ///
    /// # Errors
    /// The process does not exist, or `/proc` has an unknown format.
    pub fn usage(&self) -> io::Result<Usage> {
        let unclear = || io::Error::new(io::ErrorKind::InvalidData, "unknown format of /proc files");
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id))?;
        // The name, in parentheses, may contain any character.
        let (_, fields) = stat.rsplit_once(')').ok_or_else(unclear)?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).ok_or_else(unclear);
        // Fields 14 and 15 of proc_pid_stat(5); index 0 is field 3. A tick is 10 ms on Linux.
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
