//! [`Temporary`]: output that is being written under another name.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

/// Suffix of the temporary name of a result that is being written.
const PARTIAL: &str = ".partial";

/// A unique temporary path for writing `target`.
pub(crate) fn temporary_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let unique = RandomState::new().build_hasher().finish();
    target.with_file_name(format!(".{name}.{unique:016x}{PARTIAL}"))
}

/// Whether this is the temporary name of a result that is being written or was never completed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(PARTIAL)
}

/// A file or directory under a temporary name; removed when dropped, also by a panic, unless it was renamed.
pub(crate) struct Temporary(pub PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nobody could act on an error; the next sweep removes anything left behind.
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
    }
}
