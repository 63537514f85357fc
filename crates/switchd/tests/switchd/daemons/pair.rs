//! Two switches with a host each.

use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::{Strays, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::wait_for;

/// Two switches, `l` and `r`, connected by links with the same name at both ends. Each has a host on its port `h`.
pub struct Pair {
    pub left: Netns,
    pub right: Netns,
    pub hosts: [Netns; 2],
    pub places: Places,
    links: &'static [&'static str],
}

impl Pair {
    pub fn new(links: &'static [&'static str]) -> Self {
        let (left, right) = (Netns::new(), Netns::new());
        for link in links {
            cable((&left, link), (&right, link));
        }
        let hosts = [host(1, &left, "h"), host(2, &right, "h")];
        Self { left, right, hosts, places: Places::new(), links }
    }

    /// Starts the daemons with these configurations.
    pub fn begin(&self, [left, right]: [&str; 2]) -> [Switch<'_>; 2] {
        [
            Switch::start(&self.left, &self.places, "l", left),
            Switch::start(&self.right, &self.places, "r", right),
        ]
    }

    /// Starts the daemons with all ports and `config`, and waits until these have their roles.
    pub fn start(&self, config: &str) -> [Switch<'_>; 2] {
        let ports = [&["h"], self.links].concat();
        let config = format!("ports = {ports:?}\n{config}");
        let switches = self.begin([&config, &config]);
        for switch in &switches {
            switch.wait_roles(&[("h", "host")]);
            self.links.iter().for_each(|link| switch.wait_roles(&[(link, "fabric")]));
        }
        switches
    }

    /// Whether the left host reaches the right one at this UDP port.
    pub fn reach(&self, port: u16) -> bool {
        reaches(&self.hosts[0], &self.hosts[1], &format!("10.0.0.2:{port}"))
    }

    /// Whether the left switch has handled datagrams of its host without any of them reaching the right host at this
    /// UDP port.
    pub fn is_parted(&self, left: &Switch<'_>, port: u16) -> bool {
        let before = left.received("h");
        let strays = Strays::send(&self.hosts[0], &self.hosts[1], &format!("10.0.0.2:{port}"));
        wait_for("the switch has handled the datagrams", || left.received("h") >= before + Strays::COUNT);
        strays.are_lost()
    }
}
