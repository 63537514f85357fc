//! bpf(2) calls that the library lacks, interfaces by name and index, and random numbers.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use nix::net::if_::{if_indextoname, if_nametoindex};

const BPF_OBJ_PIN: libc::c_long = 6;
const BPF_OBJ_GET: libc::c_long = 7;
const BPF_PROG_QUERY: libc::c_long = 16;
const BPF_LINK_DETACH: libc::c_long = 34;
const BPF_TCX_INGRESS: u32 = 46;

/// Maximum number of programs queried per interface: the kernel allows 64.
const MOST: usize = 64;

/// Calls bpf(2); returns the new descriptor, for commands that create one.
///
/// # Safety
/// The pointers in `attr` must be to memory of the sizes that the command and the map require.
pub(crate) unsafe fn bpf<T>(command: libc::c_long, attr: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: the attributes live until the call returns; the caller guarantees the memory that they point to.
    match unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attr), size_of::<T>()) } {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done as libc::c_int),
    }
}

/// `struct { ... }` of `union bpf_attr` for pins.
#[repr(C)]
#[derive(Default)]
struct PinAttr {
    path: u64,
    fd: u32,
    flags: u32,
}

/// Opens the map, program or link pinned at this path.
///
/// # Errors
/// The kernel's error.
pub fn open_pin(path: &Path) -> io::Result<OwnedFd> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut attr = PinAttr { path: name.as_ptr() as u64, ..PinAttr::default() };
    // SAFETY: the pointer is to a string that lives until the call returns.
    let fd = unsafe { bpf(BPF_OBJ_GET, &mut attr) }?;
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Pins the object of a descriptor.
///
/// # Errors
/// The kernel's error.
pub fn pin(of: &OwnedFd, path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut attr = PinAttr { path: name.as_ptr() as u64, fd: of.as_raw_fd() as u32, flags: 0 };
    // SAFETY: the pointer is to a string that lives until the call returns.
    unsafe { bpf(BPF_OBJ_PIN, &mut attr) }.map(drop)
}

/// Detaches the program of a link from its interface, even if others hold the link.
///
/// # Errors
/// The kernel's error, also if it was detached before.
pub fn detach_link(link: &OwnedFd) -> io::Result<()> {
    let mut attr = [link.as_raw_fd() as u32, 0];
    // SAFETY: there are no pointers.
    unsafe { bpf(BPF_LINK_DETACH, &mut attr) }.map(drop)
}

/// `struct { ... } query` of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct QueryAttr {
    target_ifindex: u32,
    attach_type: u32,
    query_flags: u32,
    attach_flags: u32,
    prog_ids: u64,
    count: u32,
    reserved: u32,
    prog_attach_flags: u64,
    link_ids: u64,
    link_attach_flags: u64,
    revision: u64,
}

/// The ids of the programs at the tcx ingress of an interface. Querying more about a program by its id would require
/// CAP_SYS_ADMIN.
///
/// # Errors
/// The kernel's error: without tcx (before Linux 6.6) that the query is unknown.
pub fn programs_at(ifindex: u32) -> io::Result<Vec<u32>> {
    let mut ids = vec![0_u32; MOST];
    let mut attr = QueryAttr {
        target_ifindex: ifindex,
        attach_type: BPF_TCX_INGRESS,
        prog_ids: ids.as_mut_ptr() as u64,
        count: MOST as u32,
        ..QueryAttr::default()
    };
    // SAFETY: there is room for `count` ids.
    unsafe { bpf(BPF_PROG_QUERY, &mut attr) }?;
    ids.truncate(attr.count as usize);
    Ok(ids)
}

/// The index of an interface.
///
/// # Errors
/// There is no interface of this name.
pub fn ifindex(name: &str) -> io::Result<u32> {
    Ok(if_nametoindex(name)?)
}

/// The name of the interface with this index.
///
/// # Errors
/// There is no such interface.
pub fn ifname(index: u32) -> io::Result<String> {
    // The library returns an empty name instead of the kernel's error.
    match if_indextoname(index)?.to_string_lossy().into_owned() {
        name if name.is_empty() => Err(io::Error::from_raw_os_error(libc::ENXIO)),
        name => Ok(name),
    }
}

/// An unpredictable number.
pub fn random() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the pointer is to memory of the length that is given.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_no_interface_has_has_no_name() {
        assert_eq!(ifname(ifindex("lo").unwrap()).unwrap(), "lo");
        assert!(ifname(i32::MAX as u32).is_err());
    }
}
