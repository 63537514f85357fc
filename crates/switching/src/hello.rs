//! Hello: how a switch learns which of its ports lead to other switches.
//!
//! A port that heard a Hello within the hold time is a *fabric port*; one that has been up for that
//! long and heard none is a *host port*. Between the two, and where a neighbour has fallen silent,
//! it carries nothing: a switch taken for a host would loop what is sent to it. Hosts are not
//! trusted: on a host port nothing counts that only switches may send.

use weft_units::{Duration, Mac, PortId, Time};

use crate::exploration::{Exploration, FloodOrder, Scope};
use crate::hash::pick;
use crate::header::{Header, Kind};
use crate::{Actions, Context, DropReason};

use rand_core::RngCore;

/// Which way a port leads, as far as is known before anything is heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Way {
    /// To a switch of a higher tier.
    Up,
    /// To a switch of a lower tier.
    Down,
    /// To a switch of the same tier, or of one not known.
    Level,
    /// To a host.
    Host,
    /// Nothing is known.
    #[default]
    Unknown,
}

const HELLO: Header = Header {
    dst: Mac::NEIGHBOUR,
    src: Mac([0; 6]),
    sport: 0,
    dport: 0,
    flow_hash: 0,
    entropy: 0,
    overlay: [0; 8],
    kind: Kind::Hello,
    tcp_flags: 0,
    traffic_class: 0,
    option_words: 0,
    ip_bytes: 0,
    payload: 0,
};

#[derive(Clone, Copy, Debug)]
struct Port {
    up: bool,
    way: Way,
    /// A neighbour was heard, and is deemed there until then.
    neighbour_until: Time,
    /// A host port from then on, unless a neighbour is heard before.
    host_from: Time,
}

impl Port {
    fn may_be_of_a_host(&self) -> bool {
        self.host_from < Time::MAX
    }
}

/// The ports of a switch.
#[derive(Clone, Debug)]
pub struct Ports {
    ports: Vec<Port>,
    /// Whether any port leads to a host, or may yet turn out to.
    may_have_hosts: bool,
    hold: Duration,
    interval: Duration,
    next_hello: Time,
    chosen: Vec<PortId>,
}

impl Ports {
    /// The ports of a switch, all up; `ways` tells where each leads.
    pub fn new(ways: Vec<Way>, config: &Exploration) -> Self {
        let hold = Time::ZERO + config.hold;
        let port = |way| {
            let (neighbour_until, host_from) = match way {
                Way::Host => (Time::ZERO, Time::ZERO),
                Way::Unknown => (Time::ZERO, hold),
                Way::Up | Way::Down | Way::Level => (hold, Time::MAX),
            };
            Port { up: true, way, neighbour_until, host_from }
        };
        let ports: Vec<_> = ways.into_iter().map(port).collect();
        Self {
            may_have_hosts: ports.iter().any(Port::may_be_of_a_host),
            ports,
            hold: config.hold,
            interval: config.hello,
            next_hello: Time::ZERO,
            chosen: Vec::new(),
        }
    }

    /// A Hello came in on `port`.
    pub fn heard(&mut self, port: PortId, now: Time) {
        if let Some(port) = self.ports.get_mut(port.index()) {
            port.neighbour_until = now + self.hold;
            port.host_from = Time::MAX;
            self.count_hosts();
        }
    }

    fn count_hosts(&mut self) {
        self.may_have_hosts = self.ports.iter().any(Port::may_be_of_a_host);
    }

    /// Whether `port` leads to another switch.
    #[inline]
    pub fn is_fabric(&self, port: PortId, now: Time) -> bool {
        self.ports.get(port.index()).is_some_and(|port| port.neighbour_until > now)
    }

    /// Whether `port` is up and leads to a host.
    #[inline]
    pub fn is_host(&self, port: PortId, now: Time) -> bool {
        self.ports.get(port.index()).is_some_and(|port| port.up && port.host_from <= now)
    }

    /// Whether any port leads to a host, or may yet turn out to.
    #[inline]
    pub fn may_have_hosts(&self) -> bool {
        self.may_have_hosts
    }

    /// Whether it is known what `port` leads to.
    #[inline]
    pub fn is_known(&self, port: PortId, now: Time) -> bool {
        self.is_fabric(port, now) || self.is_host(port, now)
    }

    /// Whether `port` is up.
    pub fn is_up(&self, port: PortId) -> bool {
        self.ports.get(port.index()).is_some_and(|port| port.up)
    }

    /// `port` went down or came up: what is behind it has to be heard anew, and told who is here; of a port that is
    /// known to lead to a host nothing more is to be heard.
    pub fn set_up(&mut self, port: PortId, up: bool, now: Time, out: &mut Actions) {
        let Some(state) = self.ports.get_mut(port.index()) else { return };
        state.up = up;
        state.neighbour_until = Time::ZERO;
        state.host_from = match (up, state.way) {
            (false, _) => Time::MAX,
            (true, Way::Host) => now,
            (true, _) => now + self.hold,
        };
        self.count_hosts();
        if up {
            out.emit(port, HELLO);
        }
    }

    /// Floods the frame, or says why not: out of every fabric port that `scope` allows, and with
    /// `to_hosts` out of every host port, but for `ingress`.
    pub fn flood<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: PortId,
        to_hosts: bool,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, Some(ingress), to_hosts);
        if self.chosen.is_empty() {
            out.drop(DropReason::DeadEnd);
        }
        self.chosen.iter().for_each(|&port| out.send(port));
    }

    /// Floods a frame to a station that is not known, or says why not: as a frame between switches out of the fabric
    /// ports, as its host sent it out of the host ports; not out of `ingress` nor of `spared`.
    pub fn flood_unknown<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: Option<PortId>,
        spared: Option<PortId>,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, ingress, true);
        let now = ctx.now();
        let mut reached = false;
        for &port in self.chosen.iter().filter(|&&port| Some(port) != spared) {
            reached = true;
            if self.is_fabric(port, now) {
                out.send(port);
            } else {
                out.deliver(port);
            }
        }
        if !reached {
            out.drop(DropReason::DeadEnd);
        }
    }

    /// Floods a frame of the switch's own out of the fabric ports.
    pub fn flood_own<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        header: &Header,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, None, false);
        self.chosen.iter().for_each(|&port| out.emit(port, *header));
    }

    /// Which ports a flood goes out of, and in what order: an idle fabric decides the race by it.
    fn choose<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: Option<PortId>,
        to_hosts: bool,
    ) {
        let now = ctx.now();
        let from = ingress.and_then(|port| self.ports.get(port.index()));
        // What came down a tier only goes down.
        let falls = config.scope == Scope::ValleyFree && from.is_some_and(|port| port.way == Way::Up);
        self.chosen.clear();
        for (number, port) in self.ports.iter().enumerate() {
            let id = PortId(number as u16);
            let fabric = port.neighbour_until > now && (!falls || port.way == Way::Down);
            let allowed = fabric || to_hosts && port.host_from <= now;
            if port.up && allowed && ingress != Some(id) {
                self.chosen.push(id);
            }
        }
        if config.order == FloodOrder::Random {
            for last in (1..self.chosen.len()).rev() {
                self.chosen.swap(last, pick(ctx.random().next_u64(), last + 1));
            }
        }
    }

    /// How many ports there are.
    pub fn count(&self) -> usize {
        self.ports.len()
    }

    /// When the next Hello is due.
    pub const fn next_hello(&self) -> Time {
        self.next_hello
    }

    /// Sends a Hello out of every port that is up, if it is time to.
    pub fn greet(&mut self, now: Time, out: &mut Actions) {
        if now < self.next_hello {
            return;
        }
        self.next_hello = now + self.interval;
        for (number, _) in self.ports.iter().enumerate().filter(|(_, port)| port.up) {
            out.emit(PortId(number as u16), HELLO);
        }
    }

    /// Ports whose neighbour has fallen silent between `before` and `now`.
    pub fn silent(&self, before: Time, now: Time) -> Vec<PortId> {
        let lost = |port: &Port| port.neighbour_until > before && port.neighbour_until <= now;
        let ports = (0..).map(PortId).zip(&self.ports);
        ports.filter(|(_, port)| lost(port)).map(|(id, _)| id).collect()
    }
}
