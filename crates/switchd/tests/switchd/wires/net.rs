//! Network namespaces with links between them, and frames on those links. A namespace exists as long as its
//! thread: nothing is left behind, however a test ends.

use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// A job for the thread in a namespace.
type Job = Box<dyn FnOnce() + Send>;

/// A network namespace.
pub struct Namespace {
    jobs: Sender<Job>,
    /// The thread that holds it, as a name for `ip`.
    thread: i32,
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Namespace {
    /// A new namespace; needs root.
    pub fn new() -> Self {
        let (jobs, todo) = channel::<Job>();
        let (ready, started) = channel();
        thread::spawn(move || {
            // SAFETY: it affects only this thread.
            let made = check(unsafe { libc::unshare(libc::CLONE_NEWNET) });
            // SAFETY: no side effects.
            let thread = unsafe { libc::gettid() };
            let made = made.map(|_| thread);
            if ready.send(made).is_ok() {
                todo.into_iter().for_each(|job| job());
            }
        });
        let thread = started.recv().expect("the thread answers");
        Self { jobs, thread: thread.expect("a network namespace needs root") }
    }

    /// Runs a job on the namespace's thread.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = channel();
        let job = move || {
            let _ = done.send(work());
        };
        self.jobs.send(Box::new(job)).expect("the thread waits");
        result.recv().expect("the thread answers")
    }

    /// Starts a thread in the namespace.
    pub fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let name = File::open(format!("/proc/{}/ns/net", self.thread)).expect("the namespace is there");
        thread::spawn(move || {
            // SAFETY: it affects only this thread.
            check(unsafe { libc::setns(name.as_raw_fd(), libc::CLONE_NEWNET) }).expect("needs root");
            work()
        })
    }

    /// Runs a command line in the namespace.
    pub fn sh(&self, line: &str) {
        self.output(line);
    }

    /// Runs a command line in the namespace; returns its output.
    pub fn output(&self, line: &str) -> String {
        let owned = line.to_owned();
        let output = self.run(move || {
            let mut words = owned.split_whitespace();
            Command::new(words.next().expect("a command")).args(words).output()
        });
        let output = output.unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A link to another namespace; both ends are up and have these MAC addresses.
    pub fn connect(&self, name: &str, mac: &str, other: &Self, far: &str, far_mac: &str) {
        let peer = other.thread;
        self.sh(&format!(
            "ip link add {name} address {mac} type veth peer name {far} address {far_mac} netns {peer}"
        ));
        self.sh(&format!("ip link set {name} up"));
        other.sh(&format!("ip link set {far} up"));
    }

    /// The number of an interface.
    pub fn index(&self, name: &str) -> u32 {
        let name = std::ffi::CString::new(name).expect("no NUL in it");
        // SAFETY: the string ends with NUL.
        self.run(move || unsafe { libc::if_nametoindex(name.as_ptr()) })
    }

    /// A socket to send and receive frames on an interface.
    pub fn tap(&self, name: &str) -> Tap {
        let index = self.index(name);
        self.run(move || Tap::open(index)).expect("needs root")
    }
}

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
const ALL: u16 = (libc::ETH_P_ALL as u16).to_be();

impl Tap {
    fn open(index: u32) -> io::Result<Self> {
        // SAFETY: the descriptor is new and not owned elsewhere.
        let socket = unsafe {
            OwnedFd::from_raw_fd(check(libc::socket(libc::AF_PACKET, libc::SOCK_RAW, ALL.into()))?)
        };
        let set = |level, name, value: &[u8]| {
            // SAFETY: pointer and length are those of `value`.
            let set = unsafe {
                libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), value.len() as u32)
            };
            check(set)
        };
        for option in [libc::PACKET_VNET_HDR, libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING] {
            set(libc::SOL_PACKET, option, &1_i32.to_ne_bytes())?;
        }
        let limit = [2_i64.to_ne_bytes(), 0_i64.to_ne_bytes()].concat();
        set(libc::SOL_SOCKET, libc::SO_RCVTIMEO, &limit)?;
        // SAFETY: all zeros is a valid address.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ALL;
        address.sll_ifindex = index as i32;
        let len = size_of::<libc::sockaddr_ll>() as u32;
        // SAFETY: pointer and length are those of `address`.
        check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) })?;
        Ok(Self(socket))
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
        // SAFETY: pointer and length are those of `bytes`.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        assert_eq!(sent, bytes.len() as isize, "{}", io::Error::last_os_error());
    }

    /// The next frame for which `wanted` returns true; `None` after 2 s without a frame.
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
