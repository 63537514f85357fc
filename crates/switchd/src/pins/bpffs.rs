//! The BPF file system, which contains only pins.

use std::io;
use std::path::{Path, PathBuf};

use nix::mount::MsFlags;
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use crate::error::PlaneError;

/// The outcome of an operation on pins.
pub type Result<T> = std::result::Result<T, PlaneError>;

/// The error of an operation on a pin.
pub fn at(path: &Path) -> impl Fn(io::Error) -> PlaneError {
    |error| PlaneError::Pin { path: path.to_owned(), error }
}

/// Its standard mount point.
const STANDARD: &str = "/sys/fs/bpf";

/// Checks that `path`, which need not exist yet, is in a BPF file system; mounts the standard one if it is missing.
/// Creates no files or directories.
///
/// # Errors
/// [`PlaneError::Pin`] for a path anywhere else; mounting needs CAP_SYS_ADMIN.
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
    Ok(statfs(path)?.filesystem_type() == BPF_FS_MAGIC)
}

fn mount(path: &Path) -> io::Result<()> {
    let bpf = Some("bpf");
    nix::mount::mount(bpf, path, bpf, MsFlags::empty(), None::<&str>).map_err(|error| {
        let error = io::Error::from(error);
        let how = "the BPF file system is not mounted, and mounting it failed (mount -t bpf bpf /sys/fs/bpf)";
        io::Error::new(error.kind(), format!("{how}: {error}"))
    })
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
