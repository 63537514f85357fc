//! [`Held`]: descriptors of everything pinned. Removing pins while the daemon runs has no effect: maps and attachments
//! live as long as a descriptor is open, and are pinned again.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sys::{bpf, open_pin, pin};

const BPF_OBJ_GET_INFO_BY_FD: libc::c_long = 15;

/// `struct { ... } info` of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct InfoAttr {
    fd: u32,
    length: u32,
    info: u64,
}

/// A pinned object or symbolic link.
enum Kept {
    /// A map, a program or a link.
    Object(OwnedFd),
    /// A symbolic link to this target.
    Symlink(PathBuf),
}

impl Kept {
    fn open(path: &Path) -> io::Result<Self> {
        if path.is_symlink() {
            return Ok(Self::Symlink(std::fs::read_link(path)?));
        }
        open_pin(path).map(Self::Object)
    }

    fn put(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        match self {
            Self::Symlink(to) => std::os::unix::fs::symlink(to, path),
            Self::Object(fd) => pin(fd, path),
        }
    }

    /// Whether it is a tcx link that has been detached.
    fn is_detached(&self) -> bool {
        let Self::Object(fd) = self else { return false };
        // `struct bpf_link_info`: in a tcx link, the fifth word is the interface index.
        let mut info = [0_u32; 16];
        let length = size_of_val(&info) as u32;
        let mut attr = InfoAttr { fd: fd.as_raw_fd() as u32, length, info: info.as_mut_ptr() as u64 };
        // SAFETY: the buffer has `length` bytes.
        unsafe { bpf(BPF_OBJ_GET_INFO_BY_FD, &mut attr) }.is_ok() && info[4] == 0
    }
}

/// The result of a check of pins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The number of restored pins.
    pub restored: usize,
    /// The first pin that could not be restored, and why.
    pub failed: Option<(PathBuf, String)>,
}

/// Everything pinned, by path; shared by all clones.
#[derive(Clone, Default)]
pub struct Held(Arc<Mutex<BTreeMap<PathBuf, Kept>>>);

impl Held {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds everything pinned in the directory and its subdirectories, and nothing else.
    ///
    /// # Errors
    /// The kernel's error; then nothing changes.
    pub fn take(&self, folder: &Path) -> io::Result<()> {
        let mut found = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                match path.is_dir() && !path.is_symlink() {
                    true => folders.push(path),
                    false => drop(found.insert(path.clone(), Kept::open(&path)?)),
                }
            }
        }
        *self.kept() = found;
        Ok(())
    }

    /// Holds the object now pinned at this path; nothing if there is no pin.
    pub fn renew(&self, path: &Path) {
        match Kept::open(path) {
            Ok(kept) => drop(self.kept().insert(path.to_owned(), kept)),
            Err(_) => drop(self.kept().remove(path)),
        }
    }

    /// Releases everything: pins removed from now on are gone.
    pub fn release(&self) {
        self.kept().clear();
    }

    /// Restores missing pins.
    pub fn restore(&self) -> Found {
        let (kept, mut found) = (self.kept(), Found::default());
        for (path, kept) in kept.iter() {
            if path.symlink_metadata().is_err() {
                match kept.put(path) {
                    Ok(()) => found.restored += 1,
                    Err(error) => {
                        found.failed.get_or_insert_with(|| (path.clone(), error.to_string()));
                    }
                }
            }
        }
        found
    }

    /// The pins of tcx links that have been detached.
    pub fn detached_links(&self) -> Vec<PathBuf> {
        let is_link = |path: &Path| path.parent().is_some_and(|folder| folder.ends_with("links"));
        let kept = self.kept();
        let detached = kept.iter().filter(|(path, kept)| is_link(path) && kept.is_detached());
        detached.map(|(path, _)| path.clone()).collect()
    }
}
