//! Queries and settings of a driver, by ethtool(8)'s ioctl.

use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

const GET_SETTINGS: u32 = 0x01;
const GET_LINK: u32 = 0x0a;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const LRO: u32 = 1 << 15;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ethtool_cmd`: the link settings.
#[repr(C)]
#[derive(Default)]
struct Settings {
    command: u32,
    supported: u32,
    advertising: u32,
    speed: u16,
    modes: [u8; 6],
    packets: [u32; 2],
    speed_high: u16,
    crossover: [u8; 2],
    partner: u32,
    reserved: [u32; 2],
}

/// Sends a command to the driver of an interface; returns its answer.
fn ask(name: &str, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    send(name, (&raw mut value).cast())?;
    Ok(value.data)
}

/// Sends a structure that begins with a command to the driver of an interface, which writes its answer there.
fn send(name: &str, structure: *mut libc::c_char) -> io::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: all zeros is a value of this structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = structure;
    // SAFETY: the request and the structure that it points to live until the call returns.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The speed of the interface in Mbit/s; `None` if its driver does not know.
pub fn mbps(name: &str) -> Option<u32> {
    let mut settings = Settings { command: GET_SETTINGS, ..Settings::default() };
    send(name, (&raw mut settings).cast()).ok()?;
    let speed = u32::from(settings.speed_high) << 16 | u32::from(settings.speed);
    (speed != u32::MAX && speed != u32::from(u16::MAX)).then_some(speed)
}

/// Whether the interface is up and has a carrier.
///
/// # Errors
/// The kernel's error; some drivers do not support the query.
pub fn carrier(name: &str) -> io::Result<bool> {
    Ok(ask(name, GET_LINK, 0)? != 0)
}

/// Whether generic receive offload (GRO) is on.
///
/// # Errors
/// The kernel's error.
pub fn has_gro(name: &str) -> io::Result<bool> {
    Ok(ask(name, GET_GRO, 0)? != 0)
}

/// Turns generic receive offload on or off.
///
/// # Errors
/// The kernel's error.
pub fn set_gro(name: &str, on: bool) -> io::Result<()> {
    ask(name, SET_GRO, on.into()).map(drop)
}

/// Turns large receive offload off, as a bridge does with its ports; returns whether it was on.
///
/// # Errors
/// The kernel's error.
pub fn turn_off_lro(name: &str) -> io::Result<bool> {
    let flags = match ask(name, GET_FLAGS, 0) {
        // A driver without such flags does not merge.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(false),
        flags => flags?,
    };
    if flags & LRO == 0 {
        return Ok(false);
    }
    ask(name, SET_FLAGS, flags & !LRO)?;
    Ok(true)
}
