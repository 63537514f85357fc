//! Filters of the clsact qdisc, identified by program id: names are not unique, so a program with the same name as
//! ours may belong to someone else.

use std::io;
use std::path::Path;

use aya::programs::tc::{SchedClassifierLink, TcHandle};
use aya::programs::{Link, SchedClassifier, TcAttachType};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::error::PlaneError;
use crate::pins::at;
use crate::sys::ifindex;

/// Priority and handle of the filter, on kernels without tcx.
pub(crate) const PRIORITY: u16 = 1;
pub(crate) const HANDLE: TcHandle = TcHandle::new(0, 1);

const RTM_NEWTFILTER: u16 = 44;
const RTM_GETTFILTER: u16 = 46;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// NLM_F_REQUEST and NLM_F_DUMP.
const DUMP: u16 = 0x301;
/// The ingress of the clsact qdisc.
const INGRESS: u32 = 0xffff_fff2;
const TCA_OPTIONS: u16 = 2;
const TCA_BPF_ID: u16 = 11;
/// Bytes of `struct nlmsghdr` and of `struct tcmsg`.
const HEADER: usize = 16;
const MESSAGE: usize = 20;

/// Removes our filter from the ingress of an interface, if it has the program pinned at `pin`; other filters stay.
///
/// # Errors
/// [`PlaneError`].
pub(crate) fn remove(interface: &str, pin: &Path) -> Result<(), PlaneError> {
    let id = SchedClassifier::from_pin(pin)?.info()?.id();
    // A removed interface has no filters.
    let Ok(index) = ifindex(interface) else { return Ok(()) };
    if program_at(index).map_err(at(pin))? == Some(id) {
        let link = SchedClassifierLink::attached(interface, TcAttachType::Ingress, PRIORITY, HANDLE, None);
        link.map_err(at(pin))?.detach()?;
    }
    Ok(())
}

/// Whether our filter is missing from the ingress of an existing interface. A foreign filter in its place counts as
/// present and is left alone.
///
/// # Errors
/// The kernel's error.
pub(crate) fn is_missing(interface: &str) -> io::Result<bool> {
    let Ok(index) = ifindex(interface) else { return Ok(false) };
    Ok(program_at(index)?.is_none())
}

/// The id of the program in the ingress filter with our priority and handle.
fn program_at(index: u32) -> io::Result<Option<u32>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    let mut request = Vec::with_capacity(HEADER + MESSAGE);
    request.extend(((HEADER + MESSAGE) as u32).to_ne_bytes());
    request.extend(RTM_GETTFILTER.to_ne_bytes());
    request.extend(DUMP.to_ne_bytes());
    request.extend([0; 8]);
    for number in [0, index, 0, INGRESS, 0] {
        request.extend(number.to_ne_bytes());
    }
    socket.send_to(&request, &SocketAddr::new(0, 0), 0)?;
    let mut found = None;
    loop {
        let (bytes, _) = socket.recv_from_full()?;
        let mut rest = &bytes[..];
        while rest.len() >= HEADER {
            let length = (number(rest, 0) as usize).clamp(HEADER, rest.len());
            match short(rest, 4) {
                NLMSG_DONE => return Ok(found),
                NLMSG_ERROR => {
                    let error = number(rest, HEADER) as i32;
                    return Err(io::Error::from_raw_os_error(-error));
                }
                RTM_NEWTFILTER if length >= HEADER + MESSAGE => {
                    let message = &rest[HEADER..length];
                    // The upper half is the priority, the lower the protocol.
                    let ours = (u32::from(PRIORITY), u32::from(HANDLE));
                    if (number(message, 16) >> 16, number(message, 8)) == ours {
                        found = program(&message[MESSAGE..]).or(found);
                    }
                }
                _ => {}
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

/// The program id in the attributes of a filter.
fn program(attributes: &[u8]) -> Option<u32> {
    let options = attribute(attributes, TCA_OPTIONS)?;
    let id = attribute(options, TCA_BPF_ID)?;
    Some(u32::from_ne_bytes(id.try_into().ok()?))
}

/// The payload of the attribute of this type.
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    while attributes.len() >= 4 {
        let length = usize::from(short(attributes, 0)).clamp(4, attributes.len());
        // The two highest bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
        if short(attributes, 2) & 0x3fff == wanted {
            return Some(&attributes[4..length]);
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
    None
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_program_is_found_among_other_attributes_and_nonsense_has_none() {
        let attribute = |kind: u16, value: &[u8]| {
            let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let options = [attribute(7, b"weft_ecmp\0"), attribute(TCA_BPF_ID, &77_u32.to_ne_bytes())].concat();
        let all = [attribute(1, b"bpf\0"), attribute(TCA_OPTIONS | 0x8000, &options)].concat();
        assert_eq!(program(&all), Some(77));
        assert_eq!(program(&attribute(1, b"u32\0")), None);
        for cut in 0..all.len() {
            assert_ne!(program(&all[..cut]), Some(0), "cut to {cut}");
        }
        assert_eq!(program(&[0; 64]), None);
    }
}
