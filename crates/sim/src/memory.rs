//! [`Memory`]: the resident memory of the process.

use std::fs;

/// Resident memory of the process at a mark.
pub(crate) struct Memory(u64);

impl Memory {
    /// The mark: now.
    pub(crate) fn mark() -> Self {
        // Resets the kernel's peak RSS (proc(5)); otherwise the peak covers the whole process lifetime.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self(status("VmRSS:"))
    }

    /// The peak since the mark, beyond the memory then.
    pub(crate) fn peak_since(&self) -> u64 {
        status("VmHWM:").saturating_sub(self.0)
    }
}

/// A field of `/proc/self/status` in bytes; 0 if missing.
fn status(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
