//! What a daemon that has started does not need any more.

use caps::{CapSet, Capability, CapsHashSet};

/// Gives up all capabilities but these, and the way to new ones.
pub fn drop_all_but(keep: &[Capability]) {
    let keep: CapsHashSet = keep.iter().copied().collect();
    // SAFETY: no pointers.
    let closed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let ambient = caps::clear(None, CapSet::Ambient);
    let bounding = caps::all().difference(&keep).try_for_each(|cap| caps::drop(None, CapSet::Bounding, *cap));
    let inheritable = caps::clear(None, CapSet::Inheritable);
    let effective = caps::set(None, CapSet::Effective, &keep);
    let permitted = caps::set(None, CapSet::Permitted, &keep);
    let failed = [ambient, bounding, inheritable, effective, permitted].into_iter().find_map(Result::err);
    if let Some(error) = failed {
        // A service manager may have taken away the right to give up rights.
        tracing::debug!(%error, "some privileges could not be given up");
    }
    if closed != 0 {
        tracing::warn!("new privileges cannot be ruled out: {}", std::io::Error::last_os_error());
    }
}
