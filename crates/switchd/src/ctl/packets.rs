//! [`PacketSocket`]: the frames at some interfaces, received and sent (packet(7)).
//!
//! The switch's programs are attached to the traffic control ingress, after the point where the kernel hands received
//! frames to such sockets; the frames that they redirect are handed over when their port sends them. So both directions
//! are complete, with either way of attaching (tcx, clsact). XDP programs would be invisible here; the switch has none.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Room for frames while the reader waits, in bytes.
const BUFFER: libc::c_int = 16 << 20;
/// Room for the timestamp and the VLAN tag of a frame.
const CONTROL: usize = 256;

// Classic BPF, and its ancillary data (linux/filter.h).
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const PACKET_TYPE: u32 = 0xffff_f000 + 4;
const INTERFACE: u32 = 0xffff_f000 + 8;

/// The frames to receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Frames that arrive.
    Received,
    /// Frames that leave.
    Sent,
    /// Both.
    Both,
}

/// A frame.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The index of its interface.
    pub interface: u32,
    /// Whether it leaves.
    pub is_sent: bool,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Its whole length.
    pub length: u32,
}

/// A socket that receives frames.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> i32 {
        self.socket.as_raw_fd()
    }
}

fn checked(done: libc::c_int) -> io::Result<libc::c_int> {
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Instructions that accept up to `snaplen` bytes of frames at one of `interfaces`.
fn filter(interfaces: &[u32], wanted: Wanted, snaplen: u32) -> Vec<libc::sock_filter> {
    let mut steps = Vec::new();
    match wanted {
        Wanted::Both => {}
        // Continue at the next instruction if the direction is right, otherwise behind the one after it.
        Wanted::Sent => {
            let sent = u32::from(libc::PACKET_OUTGOING);
            steps.extend([step(LOAD, PACKET_TYPE, 0, 0), step(IF_EQUAL, sent, 1, 0), step(RETURN, 0, 0, 0)]);
        }
        Wanted::Received => {
            let sent = u32::from(libc::PACKET_OUTGOING);
            steps.extend([step(LOAD, PACKET_TYPE, 0, 0), step(IF_EQUAL, sent, 0, 1), step(RETURN, 0, 0, 0)]);
        }
    }
    steps.push(step(LOAD, INTERFACE, 0, 0));
    for (at, index) in interfaces.iter().enumerate() {
        // To the last instruction, over the other comparisons and the refusal. A switch has at most 64 ports.
        steps.push(step(IF_EQUAL, *index, (interfaces.len() - at) as u8, 0));
    }
    steps.extend([step(RETURN, 0, 0, 0), step(RETURN, snaplen, 0, 0)]);
    steps
}

impl PacketSocket {
    /// Receives frames at the interfaces with these indices, at most 64, up to `snaplen` bytes of each.
    ///
    /// # Errors
    /// The kernel's error; without CAP_NET_RAW `EPERM`.
    pub fn open(interfaces: &[u32], wanted: Wanted, snaplen: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Protocol 0: nothing is received before the filter is in place.
        // SAFETY: no pointers; the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?) };
        attach(&socket, &mut filter(interfaces, wanted, snaplen))?;
        set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        // More than the limit of the system needs CAP_NET_ADMIN.
        if set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER).is_err() {
            set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &BUFFER)?;
        }
        // SAFETY: zeros are an address.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the pointer is to an address of the given length.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Self { socket, buffer: vec![0; snaplen as usize + 4] })
    }

    /// Accepts no more frames; those that wait can still be received.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn stop(&self) -> io::Result<()> {
        attach(&self.socket, &mut [step(RETURN, 0, 0, 0)])
    }

    /// The next frame; `None` if none waits.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn receive(&mut self) -> io::Result<Option<Frame<'_>>> {
        // SAFETY: zeros are an address and a message header.
        let (mut from, mut message): (libc::sockaddr_ll, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
        #[repr(align(8))]
        struct Control([u8; CONTROL]);
        let mut control = Control([0; CONTROL]);
        // Four bytes stay free for a VLAN tag.
        let (_, room) = self.buffer.split_at_mut(4);
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.0.as_mut_ptr().cast(), CONTROL);
        // SAFETY: all pointers are to memory of the given lengths that lives until the call returns.
        let length = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_TRUNC) };
        if length < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                // An interface went down or was removed; the others continue.
                _ if matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENODEV)) => Ok(None),
                _ => Err(error),
            };
        }
        let (time_ns, tag) = read_control(&message);
        let stored = (length as usize).min(self.buffer.len() - 4);
        let (start, tag_bytes) = match tag {
            // The kernel keeps a VLAN tag beside the frame.
            Some([tpid, tci]) if stored >= 12 => {
                self.buffer.copy_within(4..16, 0);
                self.buffer[12..14].copy_from_slice(&tpid.to_be_bytes());
                self.buffer[14..16].copy_from_slice(&tci.to_be_bytes());
                (0, 4)
            }
            _ => (4, 0),
        };
        Ok(Some(Frame {
            interface: from.sll_ifindex as u32,
            is_sent: from.sll_pkttype == libc::PACKET_OUTGOING,
            time_ns,
            bytes: &self.buffer[start..4 + stored],
            length: length as u32 + tag_bytes,
        }))
    }

    /// Frames that the kernel dropped because this socket was read too slowly, since the last call.
    pub fn lost(&self) -> u64 {
        let mut counts = [0_u32; 2];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        // SAFETY: the pointer is to two numbers of the given length.
        let done = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                level,
                name,
                counts.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if done == 0 { counts[1].into() } else { 0 }
    }
}

fn attach(socket: &OwnedFd, steps: &mut [libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer is to a value of the given length, which the option requires.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), length)
    };
    checked(done).map(drop)
}

/// The receive time in nanoseconds, and the VLAN tag (protocol and tag control information) kept beside the frame.
fn read_control(message: &libc::msghdr) -> (u64, Option<[u16; 2]>) {
    let (mut time_ns, mut tag) = (0, None);
    // SAFETY: the header is as the kernel filled it in.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: the pointer is to a control message of the kernel, whose data has the type that its level and type say.
        unsafe {
            match ((*next).cmsg_level, (*next).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time: libc::timespec =
                        libc::CMSG_DATA(next).cast::<libc::timespec>().read_unaligned();
                    time_ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                }
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let data = libc::CMSG_DATA(next).cast::<libc::tpacket_auxdata>().read_unaligned();
                    if data.tp_status & libc::TP_STATUS_VLAN_VALID != 0 {
                        let has_tpid = data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
                        tag = Some([if has_tpid { data.tp_vlan_tpid } else { 0x8100 }, data.tp_vlan_tci]);
                    }
                }
                _ => {}
            }
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
    (time_ns, tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the instructions on a frame; the number of bytes accepted.
    fn accepts(steps: &[libc::sock_filter], interface: u32, packet_type: u32) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = steps[at];
            at += 1;
            match code {
                LOAD if k == INTERFACE => loaded = interface,
                LOAD if k == PACKET_TYPE => loaded = packet_type,
                IF_EQUAL => at += usize::from(if loaded == k { jt } else { jf }),
                RETURN => return k,
                _ => panic!("an unknown instruction"),
            }
        }
    }

    #[test]
    fn only_frames_of_the_ports_in_the_direction_wanted_are_received() {
        let sent = libc::PACKET_OUTGOING.into();
        for (wanted, received_too, sent_too) in
            [(Wanted::Both, 96, 96), (Wanted::Received, 96, 0), (Wanted::Sent, 0, 96)]
        {
            let steps = filter(&[3, 5, 9], wanted, 96);
            for index in [3, 5, 9] {
                assert_eq!(accepts(&steps, index, 0), received_too, "{wanted:?}");
                assert_eq!(accepts(&steps, index, sent), sent_too, "{wanted:?}");
            }
            assert_eq!([accepts(&steps, 4, 0), accepts(&steps, 4, sent)], [0, 0]);
        }
    }
}
