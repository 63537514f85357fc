//! Refuses interfaces that are ports of another switch.

use std::path::Path;

use crate::attach::{Owner, other_owner};
use crate::error::PlaneError;
use crate::names::SwitchName;

/// Why an existing interface cannot be a port of the switch `own`, and the fix, if it is a port of another switch. `pins`
/// is the directory of all pins.
///
/// # Errors
/// [`PlaneError`] if the kernel cannot be queried.
pub fn owned(pins: &Path, own: &SwitchName, interface: &str) -> Result<Option<String>, PlaneError> {
    let why = |owner| match owner {
        Owner::Switch(name) => format!(
            "is already a port of the switch `{name}`: remove it from one of the two, or take the other down \
             (weftctl --name {name} down, or weft-switchd --name {name} --detach if its daemon does not run)"
        ),
        Owner::Unknown(program) => format!(
            "has the data plane of another switch attached (program {program}), whose pins are not in {}: use \
             that switch's --pin-dir, or detach it (bpftool net detach tcx_ingress dev {interface})",
            pins.display()
        ),
    };
    Ok(other_owner(pins, own, interface)?.map(why))
}
