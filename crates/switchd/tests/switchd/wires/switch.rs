//! A switch: a mode's program on the ingress of interfaces, with fixed ports.

use aya::maps::{Array, HashMap, PerCpuArray};
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType, tc::TcAttachOptions};
use aya::{Ebpf, EbpfLoader};
use weft_switchd::Mode;
use weft_switchd::layout::{Flow, Path, Port, Settings, Station};
use weft_switching::exploration::Exploration;

use crate::net::Netns;

/// The peer of an interface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum To {
    Host,
    Switch,
}

pub struct Switch(Ebpf);

impl Switch {
    /// Attaches TCP-Path to interfaces of `fabric`, which lead to hosts or switches.
    pub fn attach(fabric: &Netns, interfaces: [&str; 2], to: [To; 2]) -> Self {
        let settings = Settings::new(&Exploration::default());
        let mut loader = EbpfLoader::new();
        loader.override_global("settings", &settings, true);
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcp_path.o"));
        let mut ebpf = loader.load(object).expect("the program loads");
        for (number, (name, to)) in (0..).zip(interfaces.into_iter().zip(to)) {
            let (ifindex, port) = (fabric.index(name), Port::decided(to == To::Switch, to == To::Host));
            let ports = ebpf.map_mut("weft_ports").expect("it exists");
            let mut ports = Array::<_, Port>::try_from(ports).expect("a map");
            ports.set(number, Port { ifindex, up: 1, ..port }, 0).expect("a map");
            let numbers = ebpf.map_mut("weft_interfaces").expect("it exists");
            let mut numbers = HashMap::<_, u32, u32>::try_from(numbers).expect("a map");
            numbers.insert(ifindex, number, 0).expect("a map");
        }
        let names = interfaces.map(str::to_owned);
        Self(fabric.run(move || {
            let program = ebpf.program_mut(Mode::TcpPath.program()).expect("it exists");
            let program: &mut SchedClassifier = program.try_into().expect("of this type");
            program.load().expect("the program loads");
            for name in &names {
                let options = TcAttachOptions::TcxOrder(LinkOrder::default());
                let attached = program.attach_with_options(name, TcAttachType::Ingress, options);
                attached.expect("the interface exists");
            }
            ebpf
        }))
    }

    /// The entries of the map of confirmed flows.
    pub fn paths(&self) -> Vec<(Flow, Path)> {
        let map = HashMap::<_, Flow, Path>::try_from(self.0.map("weft_paths").expect("it exists"));
        map.expect("a map").iter().map(|entry| entry.expect("no concurrent removal")).collect()
    }

    /// The known stations.
    pub fn stations(&self) -> Vec<[u8; 6]> {
        let map = HashMap::<_, u64, Station>::try_from(self.0.map("weft_stations").expect("it exists"));
        let known =
            map.expect("a map").keys().map(|key| key.expect("no concurrent removal")).collect::<Vec<_>>();
        known.into_iter().map(|key| key.to_be_bytes()[2..].try_into().expect("six bytes")).collect()
    }

    /// The number of dropped frames, by reason.
    pub fn dropped(&self) -> Vec<u64> {
        const WORDS: usize = 25;
        let map = PerCpuArray::<_, [u64; WORDS]>::try_from(self.0.map("weft_counters").expect("it exists"));
        let cpus = map.expect("a map").get(&0, 0).expect("an entry");
        (0..WORDS - 2).map(|reason| cpus.iter().map(|cpu| cpu[reason]).sum()).collect()
    }
}
