//! Switches and a controller in one thread: messages are delivered instantly, and links reported as LLDP would.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_control::{
    Controller, Kind, PortNo, Settings, Smoc, Southbound, SouthboundLimits, SpanningTree, Stop, SwitchId,
    SwitchPort,
};
use weft_ofload::{Connections, Delays, Network, Offer, Peer, World};
use weft_units::{Duration, Time};
use weft_wire::mptcp::Version;
use weft_wire::openflow::{Header, Hello, Message, MessageType};

const MS: u64 = 1_000_000;

/// A network with its controller.
pub struct Joined {
    pub world: World,
    pub controller: Southbound,
}

impl Joined {
    /// Starts with all switches up, and all links and hosts known.
    pub fn new(fabric: &str, kind: Kind, subflows: usize, version: Option<Version>) -> Self {
        let network = Network::parse(fabric).unwrap();
        let offer = Offer { version, subflows, fresh_addresses: false, is_local: false };
        let connections = Connections::new(&network, offer, Xoshiro256PlusPlus::seed_from_u64(11));
        let world = World::new(network, connections, Delays { join: MS, give_up: 5000 * MS });
        let settings = Settings { controller: kind, ..Settings::default() };
        let core: Box<dyn Controller + Send + Sync> = match kind {
            Kind::Smoc => Box::new(Smoc::new(settings).unwrap()),
            Kind::SpanningTree => Box::new(SpanningTree::new(settings).unwrap()),
        };
        let controller = Southbound::new(core, SouthboundLimits::default());
        let mut joined = Self { world, controller };
        joined.learn();
        joined
    }

    /// Advances time in steps of 1 ms.
    pub fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.world.now += MS;
            self.world.on_time();
            let now = self.now();
            self.controller.on_deadline(now.into());
            self.talk();
        }
    }

    pub fn now(&self) -> Time {
        Time::ZERO + Duration::from_ns(self.world.now)
    }

    /// Delivers messages until there are none left.
    pub fn talk(&mut self) {
        let now = self.now();
        loop {
            let mut said = Vec::new();
            for (switch, agent) in self.world.agents.iter_mut().enumerate() {
                if !agent.out.is_empty() {
                    said.push((switch, std::mem::take(&mut agent.out)));
                }
            }
            for (switch, bytes) in &said {
                self.hear(now, *switch, bytes);
            }
            let mut sent = Vec::new();
            self.controller.send(|switch, bytes| sent.push((switch.0 as usize - 1, bytes.to_vec())));
            if said.is_empty() && sent.is_empty() {
                return;
            }
            for (switch, bytes) in sent {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (message, others) = rest.split_at(Header::parse(rest).unwrap().length.into());
                    self.world.message(switch, message);
                    rest = others;
                }
            }
        }
    }

    /// Delivers a switch's messages to the controller, which skips Hello; others that it does not handle fail the test.
    fn hear(&mut self, now: Time, switch: usize, bytes: &[u8]) {
        let id = SwitchId(switch as u64 + 1);
        let mut place = 0;
        loop {
            let (next, stop) = self.controller.received(now.into(), id, bytes, place);
            place = next;
            match stop {
                Stop::Rest => break,
                Stop::Other => {
                    let header = Header::parse(&bytes[place..]).unwrap();
                    assert_eq!(
                        header.message_type,
                        MessageType::HELLO,
                        "{:?}",
                        Message::parse(&bytes[place..])
                    );
                    place += usize::from(header.length);
                }
                Stop::Lldp { .. } | Stop::Malformed(_) => panic!("{stop:?}"),
            }
        }
        assert_eq!(place, bytes.len());
    }

    fn learn(&mut self) {
        let now = self.now();
        for switch in 0..self.world.network.switches.len() {
            let mut hello = [0; 16];
            Message::Hello(Hello::ONLY_1_3).write(1, &mut hello).unwrap();
            self.world.message(switch, &hello);
            let id = SwitchId(switch as u64 + 1);
            let ports: Vec<PortNo> =
                (1..=self.world.network.switches[switch].ports.len() as u32).map(PortNo).collect();
            self.controller.switch_up(now.into(), id, &ports, &[]);
        }
        let switches = self.world.network.switches.clone();
        for (switch, of) in switches.iter().enumerate() {
            for (port, peer) in (1..).zip(&of.ports) {
                if let Peer::Switch { switch: other, port: at } = *peer {
                    let from = SwitchPort::new(switch as u64 + 1, port);
                    let to = SwitchPort::new(other as u64 + 1, at);
                    self.controller
                        .tell(now.into(), |core, now, out| core.link_changed(now, from, to, true, out));
                }
            }
        }
        self.pass(2000);
        for host in 0..self.world.network.hosts.len() {
            self.world.announce(host);
            self.talk();
        }
        for host in 0..self.world.network.hosts.len() {
            self.world.resolve(host, self.world.network.neighbor(host));
            self.talk();
        }
        assert!(self.world.resolved.iter().all(|resolved| *resolved));
    }
}
