//! The filters at the ingress of an interface, asked for by RTM_GETTFILTER: which programs they have, by number, so that
//! only filters with a program of ours are removed, whatever others call theirs.

use std::io;

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

const RTM_NEWTFILTER: u16 = 44;
const RTM_GETTFILTER: u16 = 46;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
/// Of the clsact qdisc.
const INGRESS: u32 = 0xffff_fff2;
const TCA_OPTIONS: u16 = 2;
const TCA_BPF_ID: u16 = 11;

/// Bytes of `struct nlmsghdr` and `struct tcmsg`.
const HEADER: usize = 16;
const TCMSG: usize = 20;
/// Bytes of a message that the kernel sends at once.
const MOST: usize = 32 << 10;

/// A filter with a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Its priority.
    pub priority: u16,
    /// Its handle.
    pub handle: u32,
    /// The number of its program.
    pub program: u32,
}

/// The filters with programs at the ingress of the interface of this number; none where it has no clsact qdisc.
///
/// # Errors
/// What the kernel says.
pub fn filters_at(ifindex: u32) -> io::Result<Vec<Filter>> {
    let mut request = Vec::with_capacity(HEADER + TCMSG);
    request.extend(((HEADER + TCMSG) as u32).to_ne_bytes());
    request.extend(RTM_GETTFILTER.to_ne_bytes());
    request.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    // Sequence and sender, then the family: there is one question on this socket.
    request.extend([0; 8 + 4]);
    for field in [ifindex, 0, INGRESS, 0] {
        request.extend(field.to_ne_bytes());
    }
    let socket = Socket::new(NETLINK_ROUTE)?;
    socket.send_to(&request, &SocketAddr::new(0, 0), 0)?;
    let mut found = Vec::new();
    let mut buffer = vec![0; MOST];
    loop {
        let length = socket.recv(&mut &mut buffer[..], 0)?;
        let mut rest = &buffer[..length];
        while let Some((kind, message)) = take(&mut rest) {
            match kind {
                NLMSG_DONE => return Ok(found),
                NLMSG_ERROR => {
                    let code = i32::from_ne_bytes(array(message, 0).unwrap_or_default());
                    return match -code {
                        libc::EINVAL | libc::ENOENT => Ok(found),
                        code => Err(io::Error::from_raw_os_error(code)),
                    };
                }
                RTM_NEWTFILTER => found.extend(filter(message)),
                _ => {}
            }
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Takes a message, or nothing where what is left is none; its type and what is in it.
fn take<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let length = u32::from_ne_bytes(array(rest, 0)?) as usize;
    let message = rest.get(HEADER..length)?;
    let kind = u16::from_ne_bytes(array(rest, 4)?);
    *rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, message))
}

/// The value of an attribute.
fn attribute(mut rest: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(array(rest, 0)?));
        let value = rest.get(4..length)?;
        // The upper bits say how it is made.
        if u16::from_ne_bytes(array(rest, 2)?) & 0x3fff == wanted {
            return Some(value);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

/// The filter that a message tells of, if it has a program.
fn filter(message: &[u8]) -> Option<Filter> {
    let handle = u32::from_ne_bytes(array(message, 8)?);
    let info = u32::from_ne_bytes(array(message, 16)?);
    let options = attribute(message.get(TCMSG..)?, TCA_OPTIONS)?;
    let program = u32::from_ne_bytes(array(attribute(options, TCA_BPF_ID)?, 0)?);
    Some(Filter { priority: (info >> 16) as u16, handle, program })
}
