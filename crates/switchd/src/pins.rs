//! What outlives the daemon: maps and attachments, pinned in a directory of the BPF file system that has
//! the switch's name.
//!
//! ```text
//! <pin-dir>/<name>/maps/stations       a map
//! <pin-dir>/<name>/links/0:eth1        a tcx link of port 0, the interface eth1
//! <pin-dir>/<name>/filters/0:eth1      the program of a clsact filter there
//! ```

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use aya::maps::{MapInfo, MapType};
use aya_obj::Object;

use crate::error::PlaneError;

/// Maps that belong to a program or a test, not to the switch.
const OWN: [&str; 7] = ["sent", "test", "order", "owns", "trace", "tracing", "misses"];

/// `BPF_FS_MAGIC`.
const BPF_FS: libc::__fsword_t = 0xcafe_4a11;

/// The directory of a switch's pins.
#[derive(Clone, Debug)]
pub struct Pins {
    path: PathBuf,
}

/// How a program is attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hook {
    /// By a tcx link: Linux 6.6.
    Tcx,
    /// By a filter of the clsact qdisc: before that.
    Clsact,
}

impl Hook {
    const fn folder(self) -> &'static str {
        match self {
            Self::Tcx => "links",
            Self::Clsact => "filters",
        }
    }
}

type Result<T> = std::result::Result<T, PlaneError>;

fn at(path: &Path) -> impl Fn(io::Error) -> PlaneError {
    |error| PlaneError::Pin { path: path.to_owned(), error }
}

impl Pins {
    /// The pins of the switch `name` below `root`, whether or not there are any.
    pub fn of(root: &Path, name: &str) -> Self {
        Self { path: root.join(name) }
    }

    /// Makes the directories, and mounts the BPF file system where it is not.
    ///
    /// # Errors
    /// [`PlaneError::Pin`]; mounting wants CAP_SYS_ADMIN.
    pub fn open(root: &Path, name: &str) -> Result<Self> {
        let standard = Path::new("/sys/fs/bpf");
        if root.starts_with(standard) && !is_bpf_fs(standard).map_err(at(standard))? {
            mount(standard).map_err(at(standard))?;
        }
        let pins = Self::of(root, name);
        for folder in ["maps", Hook::Tcx.folder(), Hook::Clsact.folder()] {
            let folder = pins.path.join(folder);
            std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        if !is_bpf_fs(&pins.path).map_err(at(&pins.path))? {
            let error = io::Error::other("this is not in a BPF file system (mount -t bpf bpf /sys/fs/bpf)");
            return Err(at(&pins.path)(error));
        }
        Ok(pins)
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a map is pinned.
    pub fn map(&self, name: &str) -> PathBuf {
        self.path.join("maps").join(name)
    }

    /// Where each map of the object is pinned or to be pinned; what is pinned there of another make, and
    /// what the object does not have, goes.
    pub(crate) fn prepare(&self, object: &[u8], sizes: &[(&str, u32)]) -> Result<Vec<(String, PathBuf)>> {
        let object = Object::parse(object)?;
        let folder = self.path.join("maps");
        let mut wanted = Vec::new();
        for (name, map) in &object.maps {
            if name.starts_with('.') || OWN.contains(&name.as_str()) {
                continue;
            }
            let path = folder.join(name);
            let entries =
                sizes.iter().find(|(of, _)| of == name).map_or(map.max_entries(), |(_, size)| *size);
            let make = (map.map_type(), map.key_size(), map.value_size(), entries);
            if path.exists() {
                let info = MapInfo::from_pin(&path)?;
                let kind = info.map_type().unwrap_or(MapType::Unspecified) as u32;
                if (kind, info.key_size(), info.value_size(), info.max_entries()) != make {
                    tracing::warn!(
                        map = name,
                        "the map of the last daemon is of another make: it begins anew, empty"
                    );
                    std::fs::remove_file(&path).map_err(at(&path))?;
                }
            }
            wanted.push((name.clone(), path));
        }
        for path in list(&folder)? {
            if !wanted.iter().any(|(_, known)| *known == path) {
                std::fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(wanted)
    }

    /// Where the attachment of a port is pinned.
    pub fn attachment(&self, hook: Hook, number: u16, interface: &str) -> PathBuf {
        self.path.join(hook.folder()).join(format!("{number}:{}", escape(interface)))
    }

    /// The attachments that are pinned: how, port, name of the interface, and where.
    ///
    /// # Errors
    /// [`PlaneError::Pin`].
    pub fn attachments(&self) -> Result<Vec<(Hook, u16, String, PathBuf)>> {
        let mut found = Vec::new();
        for hook in [Hook::Tcx, Hook::Clsact] {
            for path in list(&self.path.join(hook.folder()))? {
                let name = path.file_name().and_then(|name| name.to_str());
                let parts = name.and_then(|name| name.split_once(':'));
                if let Some((Ok(number), name)) = parts.map(|(number, name)| (number.parse(), unescape(name)))
                {
                    found.push((hook, number, name, path));
                }
            }
        }
        Ok(found)
    }

    /// Takes all pins away.
    ///
    /// # Errors
    /// [`PlaneError::Pin`].
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&self.path)(error)),
            _ => Ok(()),
        }
    }
}

/// What is in a directory; nothing where there is none.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(folder))?,
    };
    entries.map(|entry| Ok(entry.map_err(at(folder))?.path())).collect()
}

/// The BPF file system has no names with dots, and interfaces of VLANs often do.
fn escape(name: &str) -> String {
    name.replace('%', "%25").replace('.', "%2e")
}

fn unescape(name: &str) -> String {
    name.replace("%2e", ".").replace("%25", "%")
}

fn is_bpf_fs(path: &Path) -> io::Result<bool> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: all zeros is a value of this structure of integers.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that live until the call returns.
    match unsafe { libc::statfs(path.as_ptr(), &raw mut stat) } {
        0 => Ok(stat.f_type == BPF_FS),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_are_names_of_pins_and_come_back() {
        for (name, pin) in [("eth1", "eth1"), ("eth0.100", "eth0%2e100"), ("a%2eb", "a%252eb")] {
            assert_eq!(escape(name), pin);
            assert_eq!(unescape(pin), name);
        }
    }
}
