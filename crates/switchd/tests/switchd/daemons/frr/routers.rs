//! FRR's daemons in the namespace of a switch.

use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::daemons::switch::Places;
use crate::net::Netns;
use crate::wait::wait_for;

/// Where Debian has FRR's daemons.
const PROGRAMS: &str = "/usr/lib/frr";

/// Whether FRR is installed; under CI it must be.
pub fn is_installed() -> bool {
    let is_there = PathBuf::from(PROGRAMS).join("bgpd").exists();
    assert!(is_there || std::env::var_os("CI").is_none(), "no FRR: run `make system-test`");
    if !is_there {
        println!("skipped: no FRR");
    }
    is_there
}

/// zebra, bfdd and bgpd of one switch, in this order.
pub struct Routers {
    folder: PathBuf,
    daemons: Vec<(&'static str, Child)>,
}

impl Routers {
    /// Starts them: autonomous system `system`, loopback 10.1.0.`number`, BGP unnumbered with BFD (three times `bfd_ms`)
    /// on `ports`.
    pub fn start(
        netns: &Netns,
        places: &Places,
        name: &str,
        number: u8,
        system: u32,
        ports: &[String],
        bfd_ms: u32,
    ) -> Self {
        let folder = places.run.join(format!("frr-{name}"));
        let lines = |line: &dyn Fn(&String) -> String| ports.iter().map(line).collect::<String>();
        let zebra = lines(&|port| {
            format!("interface {port}\n no ipv6 nd suppress-ra\n ipv6 nd ra-interval 1\nexit\n")
        });
        let zebra = format!(
            "no zebra nexthop kernel enable\ninterface lo\n ip address 10.1.0.{number}/32\nexit\n{zebra}"
        );
        let bfdd = format!(
            "bfd\n profile weft\n  detect-multiplier 3\n  receive-interval {bfd_ms}\n  transmit-interval {bfd_ms}\n exit\nexit\n"
        );
        let peers = lines(&|port| {
            format!(
                " neighbor {port} interface remote-as external\n neighbor {port} bfd profile weft\n neighbor {port} timers connect 1\n"
            )
        });
        let bgpd = format!(
            "router bgp {system}\n bgp router-id 10.1.0.{number}\n bgp bestpath as-path multipath-relax\n{peers} \
             address-family ipv4 unicast\n  network 10.1.0.{number}/32\n  maximum-paths 64\n exit-address-family\nexit\n"
        );
        fs::create_dir_all(&folder).expect("a folder");
        let user = nix::unistd::User::from_name("frr").expect("users").expect("FRR's user");
        for (file, text) in [("zebra", zebra), ("bfdd", bfdd), ("bgpd", bgpd)] {
            let path = folder.join(format!("{file}.conf"));
            fs::write(&path, format!("frr defaults datacenter\nhostname {name}\n{text}")).expect("a file");
        }
        chown(&folder, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("root");
        netns.sh("sysctl -qw net.ipv6.conf.all.forwarding=1");
        let mut routers = Self { folder, daemons: Vec::new() };
        for daemon in ["zebra", "bfdd", "bgpd"] {
            routers.begin(netns, daemon);
        }
        routers
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Starts one of them.
    pub fn begin(&mut self, netns: &Netns, daemon: &'static str) {
        let log = fs::File::options().create(true).append(true).open(self.path("log")).expect("a file");
        // BFD takes a neighbour for dead that gets no processor for three of its intervals.
        let mut command = netns.command("nice");
        command.args(["-n", "-15", &format!("{PROGRAMS}/{daemon}")]);
        command.arg("-f").arg(self.path(&format!("{daemon}.conf")));
        command.arg("-i").arg(self.path(&format!("{daemon}.pid")));
        command
            .arg("-z")
            .arg(self.path("zserv.api"))
            .arg("--vty_socket")
            .arg(&self.folder)
            .args(["--log", "stdout"]);
        if daemon == "bfdd" {
            command.arg("--bfdctl").arg(self.path("bfdd.sock"));
        }
        let stdout = log.try_clone().expect("a file");
        let mut child = command.stdin(Stdio::null()).stdout(stdout).stderr(log).spawn().expect("FRR");
        let socket = self.path(&format!("{daemon}.vty"));
        wait_for("a daemon of FRR listens", || {
            if let Some(status) = child.try_wait().expect("a child") {
                panic!("{daemon} ended ({status}): {}", self.log());
            }
            socket.exists()
        });
        self.daemons.push((daemon, child));
    }

    /// Kills one of them, like a crash.
    pub fn kill(&mut self, daemon: &str) {
        let at = self.daemons.iter().position(|(name, _)| *name == daemon).expect("it runs");
        let (_, mut child) = self.daemons.remove(at);
        child.kill().expect("a child");
        child.wait().expect("a child");
        let _ = fs::remove_file(self.path(&format!("{daemon}.vty")));
    }

    /// Stops all of them until the test is over: from now on they change no route.
    pub fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    fn signal(&self, signal: Signal) {
        for (_, child) in &self.daemons {
            kill(Pid::from_raw(child.id() as i32), signal).expect("a child");
        }
    }

    /// The output of a command of vtysh.
    pub fn show(&self, command: &str) -> String {
        let output =
            Command::new("vtysh").arg("--vty_socket").arg(&self.folder).args(["-c", command]).output();
        String::from_utf8_lossy(&output.expect("vtysh").stdout).into_owned()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Drop for Routers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // One that is paused does not answer.
            self.signal(Signal::SIGCONT);
            println!("--- {}\n{}\n{}", self.folder.display(), self.show("show bgp summary"), self.log());
        }
        for (_, child) in self.daemons.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
