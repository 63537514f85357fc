//! The pins of a switch, entry by entry. Only entries recognised as Weft's own are ever removed: a directory with
//! anything else in it is refused as a whole, before anything is removed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aya::maps::MapInfo;
use aya::programs::ProgramInfo;
use aya::programs::links::{FdLink, PinnedLink};
use aya_obj::Object;

use super::bpffs::{self, Result, at};
use super::directory::{Pins, attachment_of};
use super::hook::Hook;
use crate::Mode;
use crate::detach::detach;
use crate::error::PlaneError;
use crate::names::{SwitchName, map_in_kernel, map_of_program};

/// Maps that belong to a program or a test, not to the switch.
const OWN: [&str; 8] = ["sent", "test", "order", "owns", "trace", "tracing", "misses", "longest"];

/// An entry of a switch's directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// Its path.
    pub path: PathBuf,
    /// Its type.
    pub what: PinKind,
}

/// The type of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PinKind {
    /// A map of a mode's program.
    Map,
    /// The layout of a map.
    Layout,
    /// The program.
    Program,
    /// An attachment of the program to an interface.
    Attachment {
        /// Its hook.
        hook: Hook,
        /// The interface.
        interface: String,
    },
    /// A directory of these.
    Folder,
}

/// The names of all maps that programs of this version pin.
fn known_maps() -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for mode in Mode::all() {
        let object = Object::parse(mode.object())?;
        let own = object.maps.keys().filter_map(|name| map_of_program(name));
        names.extend(own.filter(|name| is_pinned(name)).map(str::to_owned));
    }
    Ok(names)
}

/// Whether a program's map is pinned: not if it belongs to one program alone.
pub(super) fn is_pinned(map: &str) -> bool {
    !OWN.contains(&map)
}

/// The refusal of an entry that is not Weft's.
fn not_ours(path: &Path, why: &str) -> PlaneError {
    PlaneError::NotOurs { path: path.to_owned(), why: why.to_owned() }
}

/// The name of an entry; names that are not UTF-8 are never ours.
fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Checks that a path is a directory, not a link to one.
fn require_folder(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path).map_err(at(path))?.is_dir() {
        true => Ok(()),
        false => Err(not_ours(path, "it should be a directory, but is not")),
    }
}

impl Pins {
    /// Checks existing pins, and mounts the BPF file system if necessary. Creates no files or directories.
    ///
    /// # Errors
    /// [`PlaneError::Pin`]; mounting requires CAP_SYS_ADMIN. [`PlaneError::NotOurs`] if the directory has entries that
    /// Weft does not create.
    pub fn open(root: &Path, name: &SwitchName) -> Result<Self> {
        let pins = Self::of(root, name);
        bpffs::require(&pins.path)?;
        pins.inspect()?;
        Ok(pins)
    }

    /// Everything pinned, entries before their directories; nothing if the directory does not exist.
    ///
    /// # Errors
    /// [`PlaneError::NotOurs`] for an entry that Weft does not create, and for a directory outside a BPF file system.
    pub fn inspect(&self) -> Result<Vec<Pinned>> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.map_err(at(&self.path))?,
        };
        require_folder(&self.path)?;
        if !bpffs::holds(&self.path).map_err(at(&self.path))? {
            return Err(not_ours(&self.path, "it is not in a BPF file system, but all pins are"));
        }
        let mut known = known_maps()?;
        // Also maps of other versions.
        for path in bpffs::list(&self.path.join("layouts"))? {
            known.extend(layout(&path).is_ok().then(|| name(&path).to_owned()));
        }
        let mut found = Vec::new();
        inspect(&self.path, &known, true, &mut found)?;
        found.push(Pinned { path: self.path.clone(), what: PinKind::Folder });
        Ok(found)
    }

    /// Removes all pins, and with them the data plane; returns a line for each thing removed.
    ///
    /// # Errors
    /// [`PlaneError::NotOurs`], before anything is removed, if there are entries that Weft does not create; otherwise
    /// the kernel's error.
    pub fn remove(&self) -> Result<Vec<String>> {
        let pinned = self.inspect()?;
        if let [Pinned { path, .. }] = pinned.as_slice() {
            return Err(not_ours(path, "it is empty, but the directory of a switch never is"));
        }
        // Forwarding ends first: a program must not keep running with only some of its pins.
        let (attachments, rest): (Vec<_>, Vec<_>) =
            pinned.into_iter().partition(|pinned| matches!(pinned.what, PinKind::Attachment { .. }));
        let mut removed = Vec::new();
        for Pinned { path, what } in attachments.into_iter().chain(rest) {
            let shown = path.display();
            removed.push(match what {
                PinKind::Attachment { hook, interface } => {
                    detach(hook, &interface, &path)?;
                    format!("removed {shown}: {interface} no longer forwards")
                }
                PinKind::Map | PinKind::Layout | PinKind::Program => {
                    fs::remove_file(&path).map_err(at(&path))?;
                    format!("removed {shown}")
                }
                PinKind::Folder => {
                    fs::remove_dir(&path).map_err(at(&path))?;
                    format!("removed {shown}/")
                }
            });
        }
        Ok(removed)
    }
}

/// Inspects the directory of a switch, or its `next` directory.
fn inspect(path: &Path, known: &BTreeSet<String>, is_whole: bool, found: &mut Vec<Pinned>) -> Result<()> {
    for entry in bpffs::list(path)? {
        let see: &dyn Fn(&Path) -> Result<PinKind> = match (name(&entry), is_whole) {
            ("maps", _) => &|path| map(path, known),
            ("layouts", _) => &layout,
            ("links", true) => &|path| attachment(path, Hook::Tcx),
            ("filters", true) => &|path| attachment(path, Hook::Clsact),
            ("program", _) => {
                found.push(Pinned { what: program(&entry)?, path: entry });
                continue;
            }
            ("next", true) => {
                require_folder(&entry)?;
                inspect(&entry, known, false, found)?;
                found.push(Pinned { path: entry, what: PinKind::Folder });
                continue;
            }
            _ => return Err(not_ours(&entry, "weft-switchd creates no pin of this name")),
        };
        require_folder(&entry)?;
        for path in bpffs::list(&entry)? {
            found.push(Pinned { what: see(&path)?, path });
        }
        found.push(Pinned { path: entry, what: PinKind::Folder });
    }
    Ok(())
}

/// The layout of a map: a symbolic link to a hash.
fn layout(path: &Path) -> Result<PinKind> {
    let is_hash = |target: PathBuf| {
        target
            .to_str()
            .is_some_and(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    match fs::read_link(path).is_ok_and(is_hash) {
        true => Ok(PinKind::Layout),
        false => Err(not_ours(path, "it should be the layout of a map")),
    }
}

fn program(path: &Path) -> Result<PinKind> {
    match ProgramInfo::from_pin(path) {
        Ok(_) => Ok(PinKind::Program),
        Err(error) => Err(not_ours(path, &format!("it should be a pinned program: {error}"))),
    }
}

/// Whether a map was created under this name, of which the kernel keeps 15 bytes; older daemons created it without the
/// prefix.
fn is_called(info: &MapInfo, name: &str) -> bool {
    [&*map_in_kernel(name), name].iter().any(|name| info.name().iter().eq(name.as_bytes().iter().take(15)))
}

fn map(path: &Path, known: &BTreeSet<String>) -> Result<PinKind> {
    if !known.contains(name(path)) {
        return Err(not_ours(path, "no Weft program has a map of this name"));
    }
    match MapInfo::from_pin(path) {
        Ok(info) if is_called(&info, name(path)) => Ok(PinKind::Map),
        Ok(_) => Err(not_ours(path, "the map has another name in the kernel")),
        Err(error) => Err(not_ours(path, &format!("it should be a pinned map: {error}"))),
    }
}

fn attachment(path: &Path, hook: Hook) -> Result<PinKind> {
    let Some((_, interface)) = attachment_of(path) else {
        return Err(not_ours(path, "pins here are named PORT:INTERFACE"));
    };
    let wrong = match hook {
        Hook::Tcx => PinnedLink::from_pin(path)
            .and_then(|link| FdLink::from(link).info())
            .err()
            .map(|error| error.to_string()),
        Hook::Clsact => ProgramInfo::from_pin(path).err().map(|error| error.to_string()),
    };
    match wrong {
        None => Ok(PinKind::Attachment { hook, interface }),
        Some(error) => Err(not_ours(path, &format!("it should be a pinned {}: {error}", hook.pins()))),
    }
}
