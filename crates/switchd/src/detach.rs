//! Detaches a program, by either hook, from the interface where it is pinned.

use std::path::Path;

use crate::error::PlaneError;
use crate::filters;
use crate::pins::{Hook, at};
use crate::sys::{detach_link, open_pin};

/// Detaches the program from an interface and removes the pin.
///
/// # Errors
/// [`PlaneError`].
pub fn detach(hook: Hook, interface: &str, path: &Path) -> Result<(), PlaneError> {
    match hook {
        Hook::Clsact => filters::remove(interface, path)?,
        // The kernel would also release a link without pins and holders, but later. It may already be detached.
        Hook::Tcx => open_pin(path).and_then(|link| detach_link(&link).or(Ok(()))).map_err(at(path))?,
    }
    std::fs::remove_file(path).map_err(at(path))
}
