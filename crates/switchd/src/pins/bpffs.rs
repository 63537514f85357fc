//! The BPF file system, which contains only pins.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use super::{Result, at};

/// `BPF_FS_MAGIC`.
const MAGIC: libc::__fsword_t = 0xcafe_4a11;
/// Its standard mount point.
const STANDARD: &str = "/sys/fs/bpf";

/// Checks that `path`, which need not exist yet, is in a BPF file system; mounts the standard one if it is missing.
/// Creates no files or directories.
///
/// # Errors
/// [`crate::PlaneError::Pin`] for a path anywhere else; mounting needs CAP_SYS_ADMIN.
pub fn require(path: &Path) -> Result<()> {
    let standard = Path::new(STANDARD);
    if path.starts_with(standard) && !holds(standard).map_err(at(standard))? {
        mount(standard).map_err(at(standard))?;
    }
    let nearest = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match holds(nearest).map_err(at(nearest))? {
        true => Ok(()),
        false => {
            let why = "pins must be in a BPF file system, but this path is not: omit --pin-dir, or use a directory \
                       below /sys/fs/bpf (mount -t bpf bpf /sys/fs/bpf)";
            Err(at(path)(io::Error::other(why)))
        }
    }
}

/// Whether `path` is in a BPF file system.
///
/// # Errors
/// The kernel's error.
pub fn holds(path: &Path) -> io::Result<bool> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: all zeros is a value of this structure of integers.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that live until the call returns.
    match unsafe { libc::statfs(path.as_ptr(), &raw mut stat) } {
        0 => Ok(stat.f_type == MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

fn mount(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: the pointers are to strings that live until the call returns; no data is given.
    let done = unsafe { libc::mount(c"bpf".as_ptr(), path.as_ptr(), c"bpf".as_ptr(), 0, std::ptr::null()) };
    match done {
        0 => Ok(()),
        _ => {
            let error = io::Error::last_os_error();
            let how =
                "the BPF file system is not mounted, and mounting it failed (mount -t bpf bpf /sys/fs/bpf)";
            Err(io::Error::new(error.kind(), format!("{how}: {error}")))
        }
    }
}

/// The entries of a directory, sorted by name; none if it does not exist.
///
/// # Errors
/// The kernel's error.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(folder))?,
    };
    let mut paths = entries.map(|entry| Ok(entry.map_err(at(folder))?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}
