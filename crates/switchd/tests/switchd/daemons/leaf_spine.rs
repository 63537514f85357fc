//! [`LeafSpine`]: a fabric of four switches.

use std::time::Duration;

use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::Stream;
use crate::net::{Netns, cable, host};

/// Two leaves with a host each, and two spines.
pub struct LeafSpine {
    pub leaves: [Netns; 2],
    pub spines: [Netns; 2],
    pub hosts: [Netns; 2],
}

/// All its switches.
pub struct Switches<'a> {
    pub leaves: [Switch<'a>; 2],
    pub spines: [Switch<'a>; 2],
}

impl LeafSpine {
    pub fn new() -> Self {
        let (leaves, spines) = ([(); 2].map(|()| Netns::new()), [(); 2].map(|()| Netns::new()));
        for (l, leaf) in leaves.iter().enumerate() {
            for (s, spine) in spines.iter().enumerate() {
                cable((leaf, &format!("s{s}")), (spine, &format!("l{l}")));
            }
        }
        let hosts = [0, 1].map(|at| host(at as u8 + 1, &leaves[at], "host"));
        Self { leaves, spines, hosts }
    }

    /// Datagrams in both directions, at this interval in milliseconds.
    pub fn streams(&self, ms: u64) -> [Stream; 2] {
        let ([one, other], every) = (&self.hosts, Duration::from_millis(ms));
        [Stream::start(one, other, "10.0.0.2:9", every), Stream::start(other, one, "10.0.0.1:9", every)]
    }

    /// Every interface of the network.
    pub fn ports(&self) -> Vec<(&Netns, &'static str)> {
        let of = |all: &'static [&'static str]| move |netns| all.iter().map(move |port| (netns, *port));
        let leaves = self.leaves.iter().flat_map(of(&["host", "s0", "s1"]));
        let spines = self.spines.iter().flat_map(of(&["l0", "l1"]));
        leaves.chain(spines).chain(self.hosts.iter().flat_map(of(&["eth0"]))).collect()
    }

    /// All switches in a mode, with Hello messages every 100 ms, when they know their ports.
    pub fn start<'a>(&'a self, places: &'a Places, mode: &str) -> Switches<'a> {
        self.start_at(places, mode, "100 ms")
    }

    /// The same with this interval of Hello messages.
    pub fn start_at<'a>(&'a self, places: &'a Places, mode: &str, interval: &str) -> Switches<'a> {
        self.start_as(places, mode, interval, "", "")
    }

    /// The same with more ports and keys for the leaves.
    pub fn start_as<'a>(
        &'a self,
        places: &'a Places,
        mode: &str,
        interval: &str,
        more_ports: &str,
        more_keys: &str,
    ) -> Switches<'a> {
        let routes = |at: usize| match mode {
            "ecmp" => [1, 2]
                .map(|number| {
                    let ports = match at {
                        // A leaf: to its own host, and over both spines to the other host.
                        0 | 1 if number == at + 1 => "\"host\"".to_owned(),
                        0 | 1 => "\"s0\", \"s1\"".to_owned(),
                        _ => format!("\"l{}\"", number - 1),
                    };
                    format!("[[route]]\nstation = \"02:00:00:00:00:{number:02x}\"\nports = [{ports}]\n")
                })
                .concat(),
            _ => String::new(),
        };
        let begin = |netns, name: &str, ports: &str, keys: &str, at| {
            let config = format!(
                "mode = \"{mode}\"\nports = [{ports}]\n{keys}\n[hello]\ninterval = \"{interval}\"\n{}",
                routes(at)
            );
            Switch::start(netns, places, name, &config)
        };
        let ports = format!("\"host\", \"s0\", \"s1\"{more_ports}");
        let leaves = [0, 1].map(|l| begin(&self.leaves[l], &format!("l{l}"), &ports, more_keys, l));
        let keys = more_keys.lines().filter(|line| line.starts_with("hello_key")).collect::<String>();
        let spines = [0, 1].map(|s| begin(&self.spines[s], &format!("s{s}"), "\"l0\", \"l1\"", &keys, 2));
        for leaf in &leaves {
            leaf.wait_roles(&[("s0", "fabric"), ("s1", "fabric"), ("host", "host")]);
        }
        for spine in &spines {
            spine.wait_roles(&[("l0", "fabric"), ("l1", "fabric")]);
        }
        Switches { leaves, spines }
    }
}

impl Switches<'_> {
    /// What all of them have logged.
    pub fn log(&self) -> String {
        self.leaves.iter().chain(&self.spines).map(Switch::log).collect()
    }
}
