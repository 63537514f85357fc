//! Drops the privileges that the daemon needs only to start.

use caps::{CapSet, Capability, CapsHashSet};

/// Drops all other capabilities and the ability to gain new ones; warns of missing and of excess capabilities.
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
        // A service manager that removes CAP_SETPCAP has set the bounds itself.
        tracing::info!(%error, "the capability bounds stay as set by the service manager");
    }
    if closed != 0 {
        tracing::warn!("cannot set no_new_privs: {}", std::io::Error::last_os_error());
    }
    let held = |set| caps::read(None, set).unwrap_or_default();
    for line in judge(&keep, &held(CapSet::Effective), &held(CapSet::Permitted)) {
        tracing::warn!("{line}");
    }
}

/// The operation that fails without a capability that the daemon keeps.
const fn without(cap: Capability) -> &'static str {
    match cap {
        Capability::CAP_BPF => {
            "ports, routes and rules cannot be updated in the data plane, nor pins restored"
        }
        Capability::CAP_NET_ADMIN => {
            "interfaces that reappear are neither set up nor attached to the data plane"
        }
        Capability::CAP_NET_RAW => "no Hello messages are sent on interfaces that reappear",
        Capability::CAP_PERFMON => {
            "the kernel may refuse the data plane of the next daemon started with these capabilities"
        }
        _ => "the daemon does not need it",
    }
}

/// Warnings if the capabilities held differ from `wanted`.
fn judge(wanted: &CapsHashSet, effective: &CapsHashSet, permitted: &CapsHashSet) -> Vec<String> {
    let mut missing: Vec<_> = wanted.difference(effective).copied().collect();
    missing.sort_by_key(Capability::index);
    let mut lines: Vec<String> =
        missing.iter().map(|cap| format!("{cap} is missing: {}", without(*cap))).collect();
    let mut left: Vec<_> = effective.union(permitted).filter(|cap| !wanted.contains(cap)).copied().collect();
    left.sort_by_key(Capability::index);
    if !left.is_empty() {
        let names: Vec<String> = left.iter().map(ToString::to_string).collect();
        lines.push(format!("cannot drop capabilities that the daemon does not need: {}", names.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_what_does_not_work_and_what_is_too_much_is_named() {
        let set = |caps: &[Capability]| caps.iter().copied().collect::<CapsHashSet>();
        let wanted = set(&[Capability::CAP_BPF, Capability::CAP_NET_RAW]);
        assert_eq!(judge(&wanted, &wanted, &wanted), Vec::<String>::new());
        let has = set(&[Capability::CAP_BPF, Capability::CAP_SYS_ADMIN]);
        let said = judge(&wanted, &has, &set(&[Capability::CAP_CHOWN]));
        assert_eq!(said[0], "CAP_NET_RAW is missing: no Hello messages are sent on interfaces that reappear");
        assert_eq!(
            said[1],
            "cannot drop capabilities that the daemon does not need: CAP_CHOWN, CAP_SYS_ADMIN"
        );
        assert_eq!(said.len(), 2);
    }
}
