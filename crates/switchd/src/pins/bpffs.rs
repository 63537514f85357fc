//! The BPF file system, which nothing but pins is in.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use super::{Result, at};

/// `BPF_FS_MAGIC`.
const MAGIC: libc::__fsword_t = 0xcafe_4a11;
/// Where every machine has it.
const STANDARD: &str = "/sys/fs/bpf";

/// Makes sure that `path`, which need not exist yet, is in a BPF file system; mounts the standard one where it is
/// missing. Makes no file and no directory.
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
            let why = "pins are only in a BPF file system, and this is in another one: leave out --pin-dir, or give \
                       it a directory below /sys/fs/bpf (mount -t bpf bpf /sys/fs/bpf)";
            Err(at(path)(io::Error::other(why)))
        }
    }
}

/// Whether `path` is in a BPF file system.
///
/// # Errors
/// What the kernel says.
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
            let how = "the BPF file system is not mounted, and cannot be mounted here (mount -t bpf bpf /sys/fs/bpf)";
            Err(io::Error::new(error.kind(), format!("{how}: {error}")))
        }
    }
}

/// What is in a directory, in order of names; nothing where there is none.
///
/// # Errors
/// What the kernel says.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(folder))?,
    };
    let mut paths = entries.map(|entry| Ok(entry.map_err(at(folder))?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}
