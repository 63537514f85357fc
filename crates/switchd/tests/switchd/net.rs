//! Private network namespaces for tests, links between them, and code that runs in them. They disappear with the
//! test; the machine's own network is not touched.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::net::netdevice::name_to_index;
use rustix::net::{Protocol, sockopt};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::packet_socket;

/// A network namespace.
pub struct Netns(Arc<OwnedFd>);

fn enter(netns: &OwnedFd) -> io::Result<()> {
    // Without root, only the current namespace is available.
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    Ok(move_into_link_name_space(netns.as_fd(), Some(LinkNameSpaceType::Network))?)
}

impl Netns {
    /// A new namespace with only a loopback interface.
    pub fn new() -> Self {
        let made = thread::spawn(|| {
            // SAFETY: no pointers; the thread ends at once.
            let done = unsafe { libc::unshare(libc::CLONE_NEWNET) };
            assert_eq!(done, 0, "a network namespace needs root: {}", io::Error::last_os_error());
            Self::here()
        });
        let netns = made.join().expect("a namespace");
        netns.ip("link set lo up");
        netns
    }

    /// The thread's current namespace, unmodified.
    pub fn here() -> Self {
        Self(Arc::new(File::open("/proc/thread-self/ns/net").expect("procfs").into()))
    }

    /// A path for other processes, valid while the test runs.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// A command that runs in it.
    pub fn command(&self, program: &str) -> Command {
        let (mut command, netns) = (Command::new(program), self.0.clone());
        // SAFETY: setns(2) may be called between fork and exec.
        unsafe { command.pre_exec(move || enter(&netns)) };
        command
    }

    /// Runs a command line in it; returns its output.
    pub fn output(&self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let mut command = self.command(words.next().expect("a command"));
        let output = command.args(words).output().unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command line in it.
    pub fn sh(&self, line: &str) {
        self.output(line);
    }

    /// Runs `ip` in it.
    pub fn ip(&self, arguments: &str) {
        self.sh(&format!("ip {arguments}"));
    }

    /// Runs code in it, on a new thread.
    pub fn spawn<T: Send + 'static>(&self, code: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let netns = self.0.clone();
        thread::spawn(move || {
            enter(&netns).expect("a namespace");
            code()
        })
    }

    /// Runs code in it and returns the result.
    pub fn run<T: Send + 'static>(&self, code: impl FnOnce() -> T + Send + 'static) -> T {
        self.spawn(code).join().expect("the code in the namespace")
    }

    /// A raw socket on an interface that receives arriving frames of a protocol, if any.
    pub fn packets(&self, interface: &str, protocol: Option<Protocol>) -> OwnedFd {
        let interface = interface.to_owned();
        let socket = self.run(move || packet_socket::open(&interface, protocol)).expect("a packet socket");
        enable(&socket, libc::PACKET_IGNORE_OUTGOING);
        socket
    }

    /// The number of an interface.
    pub fn index(&self, interface: &str) -> u32 {
        name_to_index(self.packets(interface, None), interface).expect("an interface")
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

/// Enables an option of a packet socket.
pub fn enable(socket: &OwnedFd, option: libc::c_int) {
    let on: libc::c_int = 1;
    let (fd, length) = (socket.as_raw_fd(), size_of_val(&on) as libc::socklen_t);
    // SAFETY: the pointer is to an integer of the given length.
    let set = unsafe { libc::setsockopt(fd, libc::SOL_PACKET, option, (&raw const on).cast(), length) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// Enlarges the receive buffer, so that a receiver delayed by the scheduler loses nothing.
pub fn make_room(socket: &impl AsFd) {
    sockopt::set_socket_recv_buffer_size_force(socket, 64 << 20).expect("root");
}
