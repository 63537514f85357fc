//! Frames on a link.

use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{SendFlags, eth, send, sockopt};

use crate::net::{Netns, enable};
use crate::wait::DEADLINE;

/// The position of a checksum left to offload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partial {
    pub start: u16,
    pub offset: u16,
}

/// A frame on a link, with its VLAN tags inline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub partial: Option<Partial>,
    /// The payload per TCP segment if this is a GSO frame; 0 if it is a single frame.
    pub segment: u16,
}

/// A packet socket on an interface.
pub struct Tap(OwnedFd);

/// `struct virtio_net_hdr`, before each frame.
const VNET: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
/// GSO types.
const TCP_IN_IPV4: u8 = 1;
const TCP_IN_IPV6: u8 = 4;

impl Tap {
    /// Opens the socket.
    pub fn open(netns: &Netns, interface: &str) -> Self {
        let socket = netns.packets(interface, Some(eth::ALL));
        enable(&socket, libc::PACKET_VNET_HDR);
        enable(&socket, libc::PACKET_AUXDATA);
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(DEADLINE)).expect("a socket");
        Self(socket)
    }

    pub fn send(&self, frame: &Frame) {
        let mut bytes = vec![0; VNET];
        if let Some(Partial { start, offset }) = frame.partial {
            bytes[0] = NEEDS_CHECKSUM;
            bytes[6..8].copy_from_slice(&start.to_ne_bytes());
            bytes[8..10].copy_from_slice(&offset.to_ne_bytes());
            if frame.segment > 0 {
                let ipv6 = frame.bytes[12..14] == [0x86, 0xdd];
                bytes[1] = if ipv6 { TCP_IN_IPV6 } else { TCP_IN_IPV4 };
                bytes[2..4].copy_from_slice(&(start + 20).to_ne_bytes());
                bytes[4..6].copy_from_slice(&frame.segment.to_ne_bytes());
            }
        }
        bytes.extend(&frame.bytes);
        assert_eq!(send(&self.0, &bytes, SendFlags::empty()), Ok(bytes.len()));
    }

    /// The next frame for which `wanted` returns true; `None` after [`DEADLINE`] without a frame.
    pub fn next(&self, wanted: impl Fn(&[u8]) -> bool) -> Option<Frame> {
        loop {
            let frame = self.receive()?;
            if wanted(&frame.bytes) {
                return Some(frame);
            }
        }
    }

    fn receive(&self) -> Option<Frame> {
        let (mut bytes, mut control) = (vec![0_u8; 70_000], [0_u64; 16]);
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: all zeros is a valid message; its parts are set below.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        // SAFETY: the message's buffers outlive the call.
        let len = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, 0) };
        bytes.truncate(usize::try_from(len).ok()?);
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let mut partial =
            (bytes[0] & NEEDS_CHECKSUM != 0).then(|| Partial { start: word(6), offset: word(8) });
        let segment = if bytes[1] == 0 { 0 } else { word(4) };
        bytes.drain(..VNET);
        // SAFETY: the kernel has filled in the message; PACKET_AUXDATA is the only control message, of this type.
        let auxiliary = unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (!header.is_null())
                .then(|| libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned())
        };
        if let Some(tag) = auxiliary.filter(|found| found.tp_status & libc::TP_STATUS_VLAN_VALID != 0) {
            let tag = [tag.tp_vlan_tpid.to_be_bytes(), tag.tp_vlan_tci.to_be_bytes()].concat();
            bytes.splice(12..12, tag);
            partial = partial.map(|Partial { start, offset }| Partial { start: start + 4, offset });
        }
        Some(Frame { bytes, partial, segment })
    }
}
