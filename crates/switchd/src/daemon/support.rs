//! Which hooks this kernel supports, and errors of kernels that are too old.

use std::fs;

use super::refusal::Refusal;
use crate::attach::has_tcx;
use crate::error::PlaneError;
use crate::pins::Hook;

/// The hook to attach by: the wanted one, or the best that the kernel supports.
pub fn choose(hook: Option<Hook>) -> Result<Hook, Refusal> {
    match hook {
        Some(Hook::Tcx) if !has_tcx() => Err(too_old("does not support tcx")),
        Some(hook) => Ok(hook),
        None => Ok(if has_tcx() { Hook::Tcx } else { Hook::Clsact }),
    }
}

/// The kernel release.
fn release() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

/// The refusal of a kernel that lacks something.
pub fn too_old(lacks: &str) -> Refusal {
    Refusal::Kernel { release: release(), lacks: lacks.to_owned() }
}

/// The reason for a failed attach.
pub fn explain(error: PlaneError, hook: Hook, interface: &str) -> Refusal {
    match hook {
        Hook::Clsact if error.is_of_kernel() => too_old(&format!(
            "has neither tcx nor the clsact qdisc: attaching to `{interface}` failed ({error})"
        )),
        Hook::Clsact | Hook::Tcx => error.into(),
    }
}
