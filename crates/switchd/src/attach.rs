//! Attaches the program to the ingress of interfaces so that it outlives the daemon, and replaces an old program
//! without losing a frame.

use std::io;
use std::path::{Path, PathBuf};

use aya::programs::links::{FdLink, PinnedLink};
use aya::programs::tc::{
    NlOptions, SchedClassifierLink, SchedClassifierLinkId, TcAttachOptions, qdisc_add_clsact,
};
use aya::programs::{LinkOrder, ProgramInfo, SchedClassifier, TcAttachType};

use crate::Mode;
use crate::detach::detach;
use crate::error::{PlaneError, os_error};
use crate::filters::{HANDLE, PRIORITY};
use crate::names::SwitchName;
use crate::pins::{Hook, Pins, at, list};
use crate::plane::Plane;
use crate::sys::{ifindex, programs_at};

type Result<T> = std::result::Result<T, PlaneError>;

/// Restores the earlier attachment of an interface.
pub struct Undo {
    pin: PathBuf,
    before: Before,
}

enum Before {
    /// A link, and its former pin.
    Link(FdLink, PathBuf),
    /// A filter of this interface, its former program, and its former pin.
    Filter(String, Box<SchedClassifier>, PathBuf),
    /// Nothing: detach, by this hook from this interface.
    Nothing(Hook, String),
}

impl Undo {
    /// Restores the old program, `old`; detaches if there was none.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn undo(self, old: Option<&mut SchedClassifier>) -> Result<()> {
        let Self { pin, before } = self;
        match before {
            Before::Link(link, was) => {
                let old = old.ok_or(PlaneError::Missing("pin of the previous program"))?;
                put(old, SchedClassifierLink::try_from(link)?)?;
                std::fs::rename(&pin, &was).map_err(at(&was))
            }
            Before::Filter(interface, mut program, was) => {
                put_filter(&mut program, &interface)?;
                repin(&mut program, &was)?;
                if pin == was { Ok(()) } else { unpin(&pin) }
            }
            Before::Nothing(hook, interface) => detach(hook, &interface, &pin),
        }
    }
}

/// Replaces the program of a link.
fn put(program: &mut SchedClassifier, link: SchedClassifierLink) -> Result<FdLink> {
    let id = program.attach_to_link(link)?;
    Ok(program.take_link(id)?.try_into()?)
}

/// Replaces the program in the filter of an interface.
fn put_filter(program: &mut SchedClassifier, interface: &str) -> Result<()> {
    let there = SchedClassifierLink::attached(interface, TcAttachType::Ingress, PRIORITY, HANDLE, None)?;
    let id = match program.attach_to_link(there) {
        Ok(id) => id,
        // The filter was removed by someone else.
        Err(_) => add_filter(program, interface)?,
    };
    // Dropping it would detach the filter.
    std::mem::forget(program.take_link(id)?);
    Ok(())
}

fn add_filter(program: &mut SchedClassifier, interface: &str) -> Result<SchedClassifierLinkId> {
    let options = NlOptions { priority: PRIORITY, handle: HANDLE, classid: None };
    Ok(program.attach_with_options(interface, TcAttachType::Ingress, TcAttachOptions::Netlink(options))?)
}

/// Removes a pin, if it exists.
fn unpin(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

/// Pins a program, replacing an existing pin.
fn repin(program: &mut SchedClassifier, path: &Path) -> Result<()> {
    unpin(path)?;
    program.pin(path).map_err(|error| at(path)(io::Error::other(error)))
}

impl Plane {
    /// Attaches the program to `interface`, which is port `number`, replacing one that is pinned there; returns how to
    /// undo it.
    ///
    /// # Errors
    /// [`PlaneError`]; the old attachment is unchanged.
    pub fn attach(&mut self, pins: &Pins, hook: Hook, number: u16, interface: &str) -> Result<Undo> {
        let path = pins.attachment(hook, number, interface);
        match hook {
            Hook::Tcx => self.attach_link(pins, path, interface),
            Hook::Clsact => self.attach_filter(pins, path, interface),
        }
    }

    fn attach_link(&mut self, pins: &Pins, path: PathBuf, interface: &str) -> Result<Undo> {
        let program = self.program_mut()?;
        if let Some(old) = pinned_before(pins, Hook::Tcx, interface)? {
            let rename = |from: &Path, to: &Path| std::fs::rename(from, to).map_err(at(to));
            let link = SchedClassifierLink::try_from(FdLink::from(PinnedLink::from_pin(&old)?))?;
            rename(&old, &path)?;
            match put(program, link) {
                // The pin holds the link even without us.
                Ok(link) => return Ok(Undo { pin: path, before: Before::Link(link, old) }),
                // A dead link (its interface is gone, or it was detached) cannot take another program. Its pin stays
                // until there is a new link: if that fails, the daemon tries again.
                Err(PlaneError::Program(error)) if os_error(&error) == Some(libc::ENOLINK) => {}
                Err(error) => {
                    rename(&path, &old)?;
                    return Err(error);
                }
            }
        }
        let options = TcAttachOptions::TcxOrder(LinkOrder::default());
        let id = program.attach_with_options(interface, TcAttachType::Ingress, options)?;
        let link: FdLink = program.take_link(id)?.try_into()?;
        unpin(&path)?;
        link.pin(&path).map_err(|error| at(&path)(io::Error::other(error)))?;
        Ok(Undo { pin: path, before: Before::Nothing(Hook::Tcx, interface.to_owned()) })
    }

    fn attach_filter(&mut self, pins: &Pins, path: PathBuf, interface: &str) -> Result<Undo> {
        let program = self.program_mut()?;
        // The qdisc may exist already; if it cannot be created, attaching fails.
        let _ = qdisc_add_clsact(interface);
        let Some(was) = pinned_before(pins, Hook::Clsact, interface)? else {
            // First the pin: without it, nobody would find the filter again to remove it.
            repin(program, &path)?;
            match add_filter(program, interface).and_then(|id| Ok(program.take_link(id)?)) {
                Ok(link) => std::mem::forget(link),
                Err(error) => {
                    unpin(&path)?;
                    return Err(error);
                }
            }
            return Ok(Undo { pin: path, before: Before::Nothing(Hook::Clsact, interface.to_owned()) });
        };
        let old = SchedClassifier::from_pin(&was)?;
        put_filter(program, interface)?;
        let mut pinned = repin(program, &path);
        if was != path {
            pinned = pinned.and_then(|()| unpin(&was));
        }
        let undo = Undo { pin: path, before: Before::Filter(interface.to_owned(), Box::new(old), was) };
        match pinned {
            Ok(()) => Ok(undo),
            Err(error) => {
                undo.undo(None)?;
                Err(error)
            }
        }
    }
}

/// The pin of an interface's attachment, also under another port number.
fn pinned_before(pins: &Pins, hook: Hook, interface: &str) -> Result<Option<PathBuf>> {
    let mut pinned = pins.attachments()?.into_iter();
    Ok(pinned.find(|(of, _, name, _)| *of == hook && name == interface).map(|(.., path)| path))
}

/// The owner of the data plane attached to an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The switch of this name.
    Switch(SwitchName),
    /// The name of a Weft program without a visible pin.
    Unknown(String),
}

/// The owner of the data plane at the ingress of `interface`, by either hook, unless it is the switch `own`.
///
/// # Errors
/// [`PlaneError::Pin`] if the kernel cannot be queried.
pub fn other_owner(root: &Path, own: &SwitchName, interface: &str) -> Result<Option<Owner>> {
    // Other entries do not have the name of a switch, or contain no pins of ours.
    let switches: Vec<SwitchName> = list(root)?.iter().filter_map(|switch| named(switch)).collect();
    for name in switches.iter().filter(|name| *name != own) {
        let pins = Pins::of(root, name).attachments()?;
        if pins.iter().any(|(hook, _, of, _)| *hook == Hook::Clsact && of == interface) {
            return Ok(Some(Owner::Switch(name.clone())));
        }
    }
    if !has_tcx() {
        return Ok(None);
    }
    let programs = ifindex(interface).and_then(programs_at).map_err(at(Path::new(interface)))?;
    if programs.is_empty() {
        return Ok(None);
    }
    let mut is_own = false;
    for name in switches {
        for (_, _, _, path) in Pins::of(root, &name).attachments()? {
            let info = PinnedLink::from_pin(&path).ok().and_then(|link| FdLink::from(link).info().ok());
            if info.is_some_and(|info| programs.contains(&info.program_id())) {
                match name == *own {
                    true => is_own = true,
                    false => return Ok(Some(Owner::Switch(name))),
                }
            }
        }
    }
    if is_own {
        return Ok(None);
    }
    // Program names can be queried only with CAP_SYS_ADMIN.
    let (_, programs) = SchedClassifier::query_tcx(interface, TcAttachType::Ingress).unwrap_or_default();
    let ours = |info: &&ProgramInfo| Mode::all().any(|mode| info.name_as_str() == Some(mode.program()));
    let program = programs.iter().find(ours).and_then(ProgramInfo::name_as_str);
    Ok(program.map(|name| Owner::Unknown(name.to_owned())))
}

fn named(path: &Path) -> Option<SwitchName> {
    path.file_name()?.to_str()?.parse().ok()
}

/// Whether this kernel supports tcx links.
pub fn has_tcx() -> bool {
    // Every network namespace has a loopback interface.
    ifindex("lo").and_then(programs_at).is_ok()
}
