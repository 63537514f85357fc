//! A BPF file system of a test's own, to pin maps in.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// A BPF file system that is mounted nowhere: it is reached by its descriptor, nobody else sees it, and
/// what is pinned in it is gone with it, however a test ends.
pub struct BpfFs(OwnedFd);

impl BpfFs {
    /// A new one, empty; Linux 5.2, CAP_SYS_ADMIN.
    pub fn new() -> io::Result<Self> {
        let context = fsopen("bpf", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?))
    }

    /// Its root, for as long as it lives.
    pub fn root(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}
