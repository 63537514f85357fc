//! A switch without a daemon: a mode's program on the ingress of two interfaces, with fixed ports.

use weft_switchd::layout::{Flow, Path, Port, Settings};
use weft_switchd::pins::{Hook, Pins};
use weft_switchd::{Mode, Plane};
use weft_switching::exploration::Exploration;
use weft_units::PortId;

use crate::bpffs::BpfFs;
use crate::net::Netns;

/// A switch and its pins.
pub struct Switch {
    pub plane: Plane,
    pub pins: Pins,
    _pinned: BpfFs,
}

impl Switch {
    /// Loads a program and attaches it to interfaces of `fabric`, its ports.
    pub fn attach(
        fabric: &Netns,
        mode: Mode,
        settings: Settings,
        interfaces: [&str; 2],
        ports: [Port; 2],
    ) -> Self {
        let pinned = BpfFs::new().expect("needs root");
        let pins = Pins::open(&pinned.root(), &"s".parse().expect("a name")).expect("needs root");
        let mut plane =
            Plane::load(mode, &Exploration::default(), settings, &pins).expect("the program loads");
        for (number, (name, port)) in (0..).map(PortId).zip(interfaces.into_iter().zip(ports)) {
            let ifindex = fabric.index(name);
            plane.set_port(number, Port { ifindex, up: 1, ..port }).expect("a map");
            plane.set_interface(ifindex, Some(number)).expect("a map");
        }
        let (names, own) = (interfaces.map(str::to_owned), pins.clone());
        let plane = fabric.run(move || {
            for (number, name) in (0..).zip(&names) {
                plane.attach(&own, Hook::Tcx, number, name).expect("the interface exists");
            }
            plane
        });
        Self { plane, pins, _pinned: pinned }
    }

    /// The path entries of flows.
    pub fn paths(&self) -> Vec<(Flow, Path)> {
        let mut found = Vec::new();
        self.plane.tables().paths(0, |flow, path| found.push((flow, path))).expect("a map");
        found
    }

    /// The known stations.
    pub fn stations(&self) -> Vec<u64> {
        let mut found = Vec::new();
        self.plane.tables().stations(0, |address, _| found.push(address)).expect("a map");
        found
    }

    /// The number of frames dropped for a reason.
    pub fn dropped(&self, name: &str) -> u64 {
        let counters = self.plane.counters().expect("a map");
        counters.dropped.iter().filter(|(reason, _)| reason.name() == name).map(|(_, count)| count).sum()
    }
}
