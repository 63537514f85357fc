//! Replacing a program: the new one's own maps are pinned separately while the old one forwards, and replace the old
//! pins only once the new program is verified and attached. Until then nothing of the old one is removed.
//!
//! ```text
//! <pin-dir>/<name>/next/maps/stations       a map that will replace the one in maps/
//! <pin-dir>/<name>/next/layouts/stations    its layout
//! <pin-dir>/<name>/next/program             the program
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use aya::Ebpf;
use aya::maps::{MapInfo, MapType};
use aya_obj::Object;

use super::bpffs::{self, Result, at};
use super::directory::Pins;
use super::hook::Hook;
use super::owned::is_pinned;
use crate::btf;
use crate::error::PlaneError;
use crate::names::{map_in_kernel, map_of_program};

/// The arguments of a map's creation.
#[derive(Clone, Copy)]
struct Make {
    kind: u32,
    key_size: u32,
    value_size: u32,
    /// The number of entries.
    entries: u32,
}

/// A map that starts empty.
struct NewMap {
    name: String,
    layout: String,
    /// Why the pinned map, if there is one, is not reused.
    why: Option<&'static str>,
}

/// The pins that a program reuses, replaces and removes.
pub(crate) struct Plan {
    /// Reused maps and their paths.
    pub adopted: Vec<(String, PathBuf)>,
    fresh: Vec<NewMap>,
    /// Maps that the program does not have.
    gone: Vec<PathBuf>,
}

/// Pins of a program that has not replaced the old one yet; removed on drop unless committed.
pub(crate) struct Staged {
    pins: Pins,
    plan: Plan,
    is_done: bool,
}

impl Pins {
    /// The pin of the program, once it forwards.
    pub(crate) fn program(&self) -> PathBuf {
        self.path.join("program")
    }

    /// The directory of staged pins.
    fn next(&self) -> PathBuf {
        self.path.join("next")
    }

    /// The layout of a map, stored as the target of a dangling symbolic link.
    fn layout(&self, map: &str) -> PathBuf {
        self.path.join("layouts").join(map)
    }

    /// The pin of a map, or its staged pin.
    pub fn map(&self, name: &str) -> PathBuf {
        let next = self.next().join("maps").join(name);
        if next.exists() { next } else { self.path.join("maps").join(name) }
    }

    /// Compares the pinned maps with those of a program. Nothing is changed.
    pub(crate) fn plan(&self, object: &[u8], sizes: &[(&str, u32)]) -> Result<Plan> {
        let object = Object::parse(object)?;
        let mut layouts = btf::layouts(&object)?;
        let mut plan = Plan { adopted: Vec::new(), fresh: Vec::new(), gone: Vec::new() };
        let own = |(name, map)| map_of_program(name).filter(|name| is_pinned(name)).map(|name| (name, map));
        let maps: BTreeMap<&str, _> =
            object.maps.iter().map(|(name, map)| (name.as_str(), map)).filter_map(own).collect();
        for (&name, map) in &maps {
            let layout = layouts.remove(&map_in_kernel(name)).ok_or(PlaneError::Missing("types of a map"))?;
            let entries =
                sizes.iter().find(|(of, _)| *of == name).map_or(map.max_entries(), |(_, size)| *size);
            let make = Make {
                kind: map.map_type(),
                key_size: map.key_size(),
                value_size: map.value_size(),
                entries,
            };
            let path = self.path.join("maps").join(name);
            let why = match path.exists() {
                true => self.differs(name, &path, make, &layout)?,
                false => None,
            };
            match (path.exists(), why) {
                (true, None) => plan.adopted.push((name.to_owned(), path)),
                _ => plan.fresh.push(NewMap { name: name.to_owned(), layout, why }),
            }
        }
        for path in bpffs::list(&self.path.join("maps"))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !maps.contains_key(name) {
                plan.gone.push(path);
            }
        }
        Ok(plan)
    }

    /// Why the pinned map differs from the program's map of this name.
    fn differs(&self, name: &str, path: &Path, make: Make, layout: &str) -> Result<Option<&'static str>> {
        let info = MapInfo::from_pin(path)?;
        let kind = info.map_type().unwrap_or(MapType::Unspecified) as u32;
        Ok(match fs::read_link(self.layout(name)) {
            _ if (kind, info.key_size(), info.value_size())
                != (make.kind, make.key_size, make.value_size) =>
            {
                Some("different type or entry size")
            }
            Ok(known) if known.as_os_str() != layout => Some("fields with another meaning"),
            Err(_) => Some("fields with unknown meaning"),
            _ if info.max_entries() != make.entries => Some("different number of entries"),
            Ok(_) => None,
        })
    }

    /// Starts replacing the pinned program. Creates the directories of a new switch.
    pub(crate) fn stage(&self, plan: Plan) -> Result<Staged> {
        // Leftovers of a daemon that was killed while staging.
        self.clear_next()?;
        // Before the directories are created, so that they are removed again on failure.
        let staged = Staged { pins: self.clone(), plan, is_done: false };
        for folder in ["maps", Hook::Tcx.folder(), Hook::Clsact.folder()] {
            let folder = self.path.join(folder);
            fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        Ok(staged)
    }

    fn clear_next(&self) -> Result<()> {
        let next = self.next();
        for folder in [next.join("maps"), next.join("layouts"), next] {
            for path in bpffs::list(&folder)? {
                fs::remove_file(&path).map_err(at(&path))?;
            }
            remove_empty(&folder)?;
        }
        Ok(())
    }
}

/// Removes an empty directory, if it exists.
fn remove_empty(folder: &Path) -> Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(folder)(error)),
        _ => Ok(()),
    }
}

/// Removes the empty staging directories. Reading them would need a file descriptor, and there may be none left.
fn remove_next(next: &Path) {
    for folder in [&next.join("maps"), &next.join("layouts"), next] {
        if let Err(error) = remove_empty(folder) {
            tracing::error!(%error, "cannot remove the staging directories: the next start removes them");
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(at(to))
}

impl Staged {
    /// Pins the new maps of a loaded program, and the program itself.
    pub(crate) fn pin(&self, ebpf: &mut Ebpf, program: &str) -> Result<()> {
        let next = self.pins.next();
        for folder in [next.clone(), next.join("maps"), next.join("layouts")] {
            fs::create_dir(&folder).map_err(at(&folder))?;
        }
        for NewMap { name, layout, .. } in &self.plan.fresh {
            let path = next.join("maps").join(name);
            let map = ebpf.map(&map_in_kernel(name)).ok_or(PlaneError::Missing("map of the program"))?;
            map.pin(&path).map_err(|error| at(&path)(io::Error::other(error)))?;
            let path = next.join("layouts").join(name);
            symlink(layout, &path).map_err(at(&path))?;
        }
        let path = next.join("program");
        let program = ebpf.program_mut(program).ok_or(PlaneError::Missing("program"))?;
        program.pin(&path).map_err(|error| at(&path)(io::Error::other(error)))
    }

    /// Moves the staged pins to their final paths and removes maps that the program, which must be attached, does not
    /// have.
    pub(crate) fn commit(mut self) -> Result<()> {
        let (pins, next) = (&self.pins, self.pins.next());
        let layouts = pins.path.join("layouts");
        fs::create_dir_all(&layouts).map_err(at(&layouts))?;
        for NewMap { name, why, .. } in &self.plan.fresh {
            if let Some(why) = why {
                tracing::warn!(
                    map = name,
                    why,
                    "a table of the previous daemon cannot be reused: it starts empty"
                );
            }
            // In this order, so that a map is never paired with the layout of another one.
            let layout = pins.layout(name);
            let _ = fs::remove_file(&layout);
            rename(&next.join("maps").join(name), &pins.path.join("maps").join(name))?;
            rename(&next.join("layouts").join(name), &layout)?;
        }
        for path in &self.plan.gone {
            tracing::info!(path = %path.display(), "removing a table that this mode does not use");
            fs::remove_file(path).map_err(at(path))?;
            let layout = path.file_name().map(|name| layouts.join(name));
            let _ = layout.map(fs::remove_file);
        }
        rename(&next.join("program"), &pins.program())?;
        self.is_done = true;
        // The commit is complete even if the empty directories cannot be removed.
        remove_next(&next);
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let next = self.pins.next();
        for NewMap { name, .. } in &self.plan.fresh {
            let _ = fs::remove_file(next.join("maps").join(name));
            let _ = fs::remove_file(next.join("layouts").join(name));
        }
        let _ = fs::remove_file(next.join("program"));
        remove_next(&next);
        // The directories of a new switch; one that forwards has maps.
        if fs::remove_dir(self.pins.path.join("maps")).is_ok() {
            for folder in ["layouts", Hook::Tcx.folder(), Hook::Clsact.folder(), ""] {
                let _ = fs::remove_dir(self.pins.path.join(folder));
            }
        }
    }
}
