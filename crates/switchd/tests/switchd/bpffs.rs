//! A private BPF file system per test, to pin maps in.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// A BPF file system that is not mounted: it is only reachable through its descriptor, and its pins
/// disappear with it, however a test ends.
pub struct BpfFs(OwnedFd);

impl BpfFs {
    /// A new, empty one; needs Linux 5.2 and CAP_SYS_ADMIN.
    pub fn new() -> io::Result<Self> {
        let context = fsopen("bpf", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?))
    }

    /// Its root directory, valid while it exists.
    pub fn root(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}
