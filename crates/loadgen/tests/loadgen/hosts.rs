//! Hosts in their own network namespaces, for tests.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::common::wait_for;

/// A process in its own network namespace; both end when this is dropped.
pub struct Host(Child);

impl Host {
    fn new() -> Option<Self> {
        let child = Command::new("unshare")
            .args(["--net", "sleep", "infinity"])
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut host = Self(child);
        let own = std::fs::read_link("/proc/self/ns/net").ok()?;
        let mut ended = false;
        wait_for("the process is in its namespace", || {
            ended = host.0.try_wait().is_ok_and(|status| status.is_some());
            ended || std::fs::read_link(host.netns()).is_ok_and(|there| there != own)
        });
        (!ended).then_some(host)
    }

    /// The file of its namespace.
    pub fn netns(&self) -> PathBuf {
        format!("/proc/{}/ns/net", self.0.id()).into()
    }

    /// Runs an `ip` command in its namespace.
    pub fn ip(&self, command: &str) {
        self.run("ip", command);
    }

    /// Runs a program in its namespace.
    pub fn run(&self, program: &str, arguments: &str) {
        let inside = format!("--net={}", self.netns().display());
        let output =
            Command::new("nsenter").arg(inside).arg(program).args(arguments.split(' ')).output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two hosts joined by a veth pair.
pub fn pair() -> [Host; 2] {
    let hosts = [Host::new(), Host::new()].map(|host| host.expect("a network namespace needs root"));
    hosts[0].ip(&format!("link add eth0 type veth peer name eth0 netns {}", hosts[1].0.id()));
    for (at, host) in hosts.iter().enumerate() {
        host.ip(&format!("address add 10.0.0.{}/8 dev eth0", at + 1));
        host.ip("link set eth0 up");
    }
    hosts
}
