//! Private network namespaces for tests, veth pairs between them, and code that runs in them. They
//! disappear with the test; the machine's own network is not touched.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::{self, JoinHandle};

/// A network namespace.
pub struct Netns {
    fd: OwnedFd,
}

fn enter(fd: RawFd) -> std::io::Result<()> {
    // SAFETY: no pointers.
    if unsafe { libc::geteuid() } != 0 {
        // Without root, only the current namespace is available.
        return Ok(());
    }
    // SAFETY: no pointers.
    match unsafe { libc::setns(fd, libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

impl Netns {
    /// A new namespace with only a loopback interface.
    pub fn new() -> Self {
        let made = thread::spawn(|| {
            // SAFETY: no pointers; the thread ends at once.
            assert_eq!(
                unsafe { libc::unshare(libc::CLONE_NEWNET) },
                0,
                "a network namespace needs root: {}",
                std::io::Error::last_os_error()
            );
            OwnedFd::from(File::open("/proc/thread-self/ns/net").expect("procfs"))
        });
        let netns = Self { fd: made.join().expect("a namespace") };
        netns.ip("link set lo up");
        netns
    }

    /// The test's current namespace, unmodified.
    pub fn here() -> Self {
        Self { fd: OwnedFd::from(File::open("/proc/thread-self/ns/net").expect("procfs")) }
    }

    /// A path for other processes, valid while the test runs.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.fd.as_raw_fd())
    }

    /// A command that runs in it.
    pub fn command(&self, program: &str) -> Command {
        let (mut command, fd) = (Command::new(program), self.fd.as_raw_fd());
        // SAFETY: setns(2) may be called between fork and exec.
        unsafe { command.pre_exec(move || enter(fd)) };
        command
    }

    /// Runs `ip` in it.
    pub fn ip(&self, arguments: &str) {
        let output = self.command("ip").args(arguments.split_whitespace()).output().expect("iproute2");
        assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs code in it, on a new thread.
    pub fn spawn<T: Send + 'static>(&self, code: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let fd = self.fd.as_raw_fd();
        let (ready, entered) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            enter(fd).expect("a namespace");
            ready.send(()).expect("the test waits");
            code()
        });
        entered.recv().expect("the thread is in the namespace");
        thread
    }

    /// Runs code in it and returns the result.
    pub fn run<T: Send + 'static>(&self, code: impl FnOnce() -> T + Send + 'static) -> T {
        self.spawn(code).join().expect("the code in the namespace")
    }
}

/// A link between two namespaces; both ends are up.
pub fn cable(a: (&Netns, &str), b: (&Netns, &str)) {
    a.0.ip(&format!("link add name {} type veth peer name {} netns {}", a.1, b.1, b.0.path()));
    a.0.ip(&format!("link set dev {} up", a.1));
    b.0.ip(&format!("link set dev {} up", b.1));
}

/// A host with the addresses 10.0.0.`number` and `fd00::number`, on the port `port` of a switch.
pub fn host(number: u8, switch: &Netns, port: &str) -> Netns {
    let host = Netns::new();
    cable((&host, "eth0"), (switch, port));
    host.ip(&format!("link set eth0 address 02:00:00:00:00:{number:02x}"));
    host.ip(&format!("addr add 10.0.0.{number}/24 dev eth0"));
    host.ip(&format!("addr add fd00::{number}/64 dev eth0 nodad"));
    host
}

/// A raw socket on an interface that receives frames of an EtherType (0: none).
pub fn packet_socket(netns: &Netns, interface: &str, ethertype: libc::c_int) -> OwnedFd {
    let (protocol, name) = ((ethertype as u16).to_be(), CString::new(interface).expect("a name"));
    netns.run(move || {
        // SAFETY: no pointers.
        let fd =
            unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol.into()) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the descriptor is new and not owned elsewhere.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: all zeros is a valid value of this structure of integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        // SAFETY: the pointer is to a string that lives until the call returns.
        address.sll_ifindex = unsafe { libc::if_nametoindex(name.as_ptr()) } as i32;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer is to an address of the given length.
        assert_eq!(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) }, 0);
        fd
    })
}

/// Enlarges the receive buffer, so that a receiver delayed by the scheduler loses nothing.
pub fn make_room(socket: &impl AsRawFd) {
    let room: libc::c_int = 64 << 20;
    // SAFETY: the pointer is to an integer of the given length.
    let set = unsafe {
        let length = size_of_val(&room) as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE);
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const room).cast(), length)
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}
