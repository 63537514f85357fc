//! A fabric of two spines and three leaves with a host each, with FRR and `weft-switchd` on every switch.

use std::fs;

use crate::daemons::frr::routers::Routers;
use crate::daemons::switch::{Places, Switch};
use crate::net::{Netns, cable, host};
use crate::wait::wait_for;

pub const LEAVES: usize = 3;
pub const SPINES: usize = 2;

/// The namespaces.
pub struct Fabric {
    pub leaves: [Netns; LEAVES],
    pub spines: [Netns; SPINES],
    pub hosts: [Netns; LEAVES],
}

/// The programs on the switches.
pub struct Running<'a> {
    pub leaves: Vec<Switch<'a>>,
    pub spines: Vec<Switch<'a>>,
    pub routers: Vec<Routers>,
}

impl Fabric {
    pub fn new() -> Self {
        let (leaves, spines) = (std::array::from_fn(|_| Netns::new()), std::array::from_fn(|_| Netns::new()));
        for (l, leaf) in leaves.iter().enumerate() {
            for (s, spine) in spines.iter().enumerate() {
                cable((leaf, &format!("s{s}")), (spine, &format!("l{l}")));
            }
        }
        let hosts = std::array::from_fn(|at| host(at as u8 + 1, &leaves[at], "host"));
        Self { leaves, spines, hosts }
    }

    /// Starts everything, with these keys of `[hello]` and this interval of BFD, and waits until all routes are there.
    pub fn start<'a>(&'a self, places: &'a Places, hello: &str, bfd_ms: u32) -> Running<'a> {
        let leaf = |number| {
            format!("[[leaf]]\naddress = \"10.1.0.{number}\"\nstations = [\"02:00:00:00:00:{number:02x}\"]\n")
        };
        let all: String = (1..=LEAVES).map(leaf).collect();
        fs::write(places.run.join("leaves.toml"), all).expect("a file");
        let begin = |netns, name: &str, own: &str, fabric: &[String]| {
            let fabric = fabric.iter().map(|port| format!("\"{port}\"")).collect::<Vec<_>>().join(", ");
            let config = format!(
                "mode = \"ecmp\"\nroutes = \"kernel\"\nroutes_file = \"leaves.toml\"\nports = [{own}{fabric}]\n\
                 fabric_ports = [{fabric}]\n[hello]\n{hello}\n"
            );
            Switch::start(netns, places, name, &config)
        };
        let uplinks: Vec<String> = (0..SPINES).map(|s| format!("s{s}")).collect();
        let downlinks: Vec<String> = (0..LEAVES).map(|l| format!("l{l}")).collect();
        let named = |prefix: &str, at: usize| format!("{prefix}{at}");
        let leaves: Vec<_> = self
            .leaves
            .iter()
            .zip(0..)
            .map(|(leaf, at)| begin(leaf, &named("l", at), "\"host\", ", &uplinks))
            .collect();
        let spines: Vec<_> = self
            .spines
            .iter()
            .zip(0..)
            .map(|(spine, at)| begin(spine, &named("s", at), "", &downlinks))
            .collect();
        let of_leaf = |(leaf, at): (&Netns, usize)| {
            let number = at as u8 + 1;
            Routers::start(
                leaf,
                places,
                &named("l", at),
                number,
                65_000 + u32::from(number),
                &uplinks,
                bfd_ms,
            )
        };
        let of_spine = |(spine, at): (&Netns, usize)| {
            Routers::start(spine, places, &named("s", at), at as u8 + 101, 65_000, &downlinks, bfd_ms)
        };
        let routers =
            self.leaves.iter().zip(0..).map(of_leaf).chain(self.spines.iter().zip(0..).map(of_spine));
        let running = Running { leaves, spines, routers: routers.collect() };
        for spine in &running.spines {
            spine.wait_roles(&[("l0", "fabric"), ("l1", "fabric"), ("l2", "fabric")]);
            wait_for("spines have routes", || (0..LEAVES).all(|at| running.ports(spine, at).len() == 1));
        }
        for at in 0..LEAVES {
            running.leaves[at].wait_roles(&[("s0", "fabric"), ("s1", "fabric"), ("host", "host")]);
            wait_for("leaves have a route over each spine", || {
                running.ports(&running.leaves[at], (at + 1) % LEAVES) == ["s0", "s1"]
            });
        }
        running
    }
}

impl Running<'_> {
    /// The next hops of a switch to a leaf.
    pub fn ports(&self, switch: &Switch<'_>, leaf: usize) -> Vec<String> {
        let leaves = switch.show("leaves");
        let address = format!("10.1.0.{}", leaf + 1);
        let found =
            leaves.as_array().expect("a list").iter().find(|row| row["leaf"] == *address).expect("the leaf");
        found["ports"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|port| port.as_str().expect("a name").to_owned())
            .collect()
    }

    /// The FRR of a spine.
    pub fn of_spine(&mut self, at: usize) -> &mut Routers {
        &mut self.routers[LEAVES + at]
    }
}
