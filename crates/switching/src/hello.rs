//! Hello messages: how a switch learns which of its ports lead to other switches.
//!
//! A port that received a Hello within the hold time is a *fabric port*; one that has been up for that long without
//! a Hello is a *host port*. In between, and when a neighbour falls silent, it carries nothing: frames sent to a
//! switch mistaken for a host would loop. Hosts are not trusted: a host port accepts no control frames.
//!
//! A neighbour whose Hello messages stop while its frames still arrive is a switch whose daemon hangs but whose data
//! plane works: both travel the same direction, so a link failure stops both. Such a port stays a fabric port as a
//! *last resort* ([`Ports::keep`]): its entries stay valid, floods use it after all other ports, and routes use it
//! when no other next hop is left.
//!
//! Each Hello says whether its sender hears the other end ([`Reception`]). A port whose neighbour does not hear this switch is
//! a last resort, too, and loses its entries: frames sent there are lost, while those of the neighbour still arrive.
//!
//! A link that loses many Hello messages in one direction ([`crate::hello_loss`]) is a last resort at both ends, with its entries.
//! Flows leave it in rounds ([`crate::leaving`]).

use weft_units::{Duration, PortId, Time};
use weft_wire::Mac;

use crate::exploration::{Exploration, FloodOrder, Scope};
use crate::hash::pick;
use crate::header::{Header, Kind};
use crate::hello_loss::{HelloCount, HelloLoss, HelloNumbers};
use crate::leaving::Leaving;
use crate::reception::Reception;
use crate::{Actions, Context, DropReason};

use rand_core::RngCore;

/// The direction of a port, as far as known before the first Hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Way {
    /// To a switch of a higher tier.
    Up,
    /// To a switch of a lower tier.
    Down,
    /// To a switch of the same or an unknown tier.
    Level,
    /// To a host.
    Host,
    /// Unknown.
    #[default]
    Unknown,
}

/// The host ports that a flood leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hosts {
    /// None.
    None,
    /// Those with a bit here; a port without a bit counts as one.
    At(u64),
    /// All.
    All,
}

impl Hosts {
    fn include(self, port: PortId) -> bool {
        match self {
            Self::None => false,
            Self::At(bits) => bits.checked_shr(port.0.into()).is_none_or(|bits| bits & 1 == 1),
            Self::All => true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Port {
    up: bool,
    way: Way,
    /// The neighbour is considered up until then.
    neighbour_until: Time,
    /// The last Hello counts as heard until then.
    heard_until: Time,
    /// Without a Hello, it is certain from then on that none arrives.
    reports_from: Time,
    /// A host port from then on, unless a Hello arrives before.
    host_from: Time,
    /// What the neighbour receives from this switch, as its last Hello said.
    theirs: Reception,
    /// Whether the neighbour's Hello messages stopped but its frames still arrive, or it does not hear this switch.
    last_resort: bool,
    numbers: HelloNumbers,
    loss: HelloLoss,
    /// Whether the neighbour misses many Hello messages of this switch.
    is_missed: bool,
    leaving: Leaving,
}

impl Port {
    /// The next Hello to send, which says this.
    fn hello(&mut self, reception: Reception) -> Header {
        let mut hello = Header { dst: Mac::HELLO, kind: Kind::Hello, ..Header::default() };
        reception.write(&mut hello);
        HelloCount { number: self.numbers.get(), misses: self.loss.is_lossy() }.write(&mut hello);
        self.numbers.advance();
        hello
    }

    /// Whether others are preferred.
    const fn is_last(&self) -> bool {
        self.last_resort || self.loses()
    }

    /// Whether the link loses many frames, in either direction.
    const fn loses(&self) -> bool {
        self.loss.is_lossy() || self.is_missed
    }

    fn may_be_of_a_host(&self) -> bool {
        self.host_from < Time::MAX
    }

    fn reception(&self, now: Time) -> Reception {
        match (self.heard_until > now, self.reports_from > now) {
            (true, _) => Reception::Heard,
            (false, true) => Reception::Unknown,
            (false, false) => Reception::Nothing,
        }
    }
}

/// The ports of a switch.
#[derive(Clone, Debug)]
pub struct Ports {
    ports: Vec<Port>,
    /// Whether any port is or may become a host port.
    may_have_hosts: bool,
    hold: Duration,
    interval: Duration,
    next_hello: Time,
    chosen: Vec<PortId>,
}

impl Ports {
    /// The ports of a switch, all up, in the roles `ways`.
    pub fn new(ways: Vec<Way>, config: &Exploration) -> Self {
        let hold = Time::ZERO + config.hold;
        let port = |way| {
            let (neighbour_until, host_from) = match way {
                Way::Host => (Time::ZERO, Time::ZERO),
                Way::Unknown => (Time::ZERO, hold),
                Way::Up | Way::Down | Way::Level => (hold, Time::MAX),
            };
            Port {
                up: true,
                way,
                neighbour_until,
                heard_until: Time::ZERO,
                reports_from: hold,
                host_from,
                theirs: Reception::Unknown,
                last_resort: false,
                numbers: HelloNumbers::default(),
                loss: HelloLoss::default(),
                is_missed: false,
                leaving: Leaving::default(),
            }
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

    /// A Hello arrived on `port`, whose sender receives `theirs`. It is answered at once if this switch has said that it
    /// hears nothing. Returns whether the neighbour has just ceased to hear this switch: entries on the port lead nowhere.
    pub fn heard(&mut self, port: PortId, theirs: Reception, now: Time, out: &mut Actions) -> bool {
        let Some(state) = self.ports.get_mut(port.index()) else { return false };
        if state.reception(now) == Reception::Nothing {
            out.emit(port, state.hello(Reception::Heard));
        }
        state.heard_until = now + self.hold;
        state.neighbour_until = state.heard_until;
        state.host_from = Time::MAX;
        // A neighbour that has restarted does not know yet.
        let before = state.theirs;
        let theirs = if theirs == Reception::Unknown { before } else { theirs };
        (state.theirs, state.last_resort) = (theirs, theirs == Reception::Nothing);
        let is_cut = state.last_resort && before != theirs;
        self.count_hosts();
        is_cut
    }

    /// A Hello on `port` says this of losses. A port of a link that loses many is a last resort, at both ends.
    pub fn hear_count(&mut self, port: PortId, said: HelloCount, now: Time) {
        if let Some(port) = self.ports.get_mut(port.index()) {
            match port.neighbour_until > now {
                true => port.loss.hear(said.number),
                false => port.loss.resume(said.number),
            }
            port.is_missed = said.misses;
        }
    }

    /// Hello messages on `port` stopped, but frames still arrive: it stays a fabric port, as a last resort, until
    /// [`Ports::lose`], the next Hello or loss of carrier.
    pub fn keep(&mut self, port: PortId) {
        if let Some(port) = self.ports.get_mut(port.index()) {
            port.neighbour_until = Time::MAX;
            port.last_resort = true;
        }
    }

    /// Declares the neighbour of a last-resort `port` dead: nothing arrived for a hold time.
    pub fn lose(&mut self, port: PortId, now: Time) {
        if let Some(port) = self.ports.get_mut(port.index()).filter(|port| port.last_resort) {
            port.neighbour_until = now;
            port.last_resort = false;
        }
    }

    /// Whether `port` is only used if no other is left.
    pub fn is_last_resort(&self, port: PortId) -> bool {
        self.ports.get(port.index()).is_some_and(Port::is_last)
    }

    /// The ports whose flows should be moved to other paths now: their links lose frames, and another port to a switch is
    /// better.
    pub fn leave(&mut self, now: Time) -> Vec<PortId> {
        if !self.ports.iter().any(Port::loses) {
            return Vec::new();
        }
        let is_better = |port: &Port| port.neighbour_until > now && !port.is_last();
        if !self.ports.iter().any(is_better) {
            return Vec::new();
        }
        let due = |port: &mut Port| {
            port.neighbour_until > now && port.loses() && port.leaving.is_due(now.ps() / 1000)
        };
        (0..).map(PortId).zip(&mut self.ports).filter_map(|(id, port)| due(port).then_some(id)).collect()
    }

    /// Whether a flow that leaves through `port` and comes from another switch may have a better way up from here.
    pub fn has_better_up(&self, port: PortId, now: Time) -> bool {
        let is_up = |port: &&Port| port.way == Way::Up && port.neighbour_until > now;
        let leads_up = self.ports.get(port.index()).is_some_and(|port| port.way == Way::Up);
        leads_up && self.ports.iter().filter(is_up).any(|port| !port.is_last())
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

    /// Whether any port is or may become a host port.
    #[inline]
    pub fn may_have_hosts(&self) -> bool {
        self.may_have_hosts
    }

    /// Whether the role of `port` is known.
    #[inline]
    pub fn is_known(&self, port: PortId, now: Time) -> bool {
        self.is_fabric(port, now) || self.is_host(port, now)
    }

    /// Whether `port` is up.
    pub fn is_up(&self, port: PortId) -> bool {
        self.ports.get(port.index()).is_some_and(|port| port.up)
    }

    /// `port` went down or came up: its role is unknown until Hello messages are exchanged again, unless it is
    /// configured as a host port.
    pub fn set_up(&mut self, port: PortId, up: bool, now: Time, out: &mut Actions) {
        let Some(state) = self.ports.get_mut(port.index()) else { return };
        state.up = up;
        state.theirs = Reception::Unknown;
        state.last_resort = false;
        state.loss.forget();
        state.is_missed = false;
        state.neighbour_until = Time::ZERO;
        state.heard_until = Time::ZERO;
        state.reports_from = now + self.hold;
        state.host_from = match (up, state.way) {
            (false, _) => Time::MAX,
            (true, Way::Host) => now,
            (true, _) => now + self.hold,
        };
        if up {
            out.emit(port, state.hello(Reception::Unknown));
        }
        self.count_hosts();
    }

    /// Floods the frame out of every fabric port that `scope` allows, and of these host ports, except `ingress`; drops it
    /// if there is none.
    pub fn flood<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: PortId,
        hosts: Hosts,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, Some(ingress), hosts);
        if self.chosen.is_empty() {
            out.drop(DropReason::DeadEnd);
        }
        self.chosen.iter().for_each(|&port| out.send(port));
    }

    /// Floods a frame to an unknown station: marked out of fabric ports, as its host sent it out of host ports,
    /// except `ingress` and `spared`; drops it if there is none.
    pub fn flood_unknown<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: Option<PortId>,
        spared: Option<PortId>,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, ingress, Hosts::All);
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

    /// Floods a frame made by the switch out of the fabric ports.
    pub fn flood_own<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        header: &Header,
        out: &mut Actions,
    ) {
        self.choose(ctx, config, None, Hosts::None);
        self.chosen.iter().for_each(|&port| out.emit(port, *header));
    }

    /// The ports of a flood in order, which decides the race in an idle fabric. Last-resort ports come after all
    /// others.
    fn choose<C: Context>(
        &mut self,
        ctx: &mut C,
        config: &Exploration,
        ingress: Option<PortId>,
        hosts: Hosts,
    ) {
        let now = ctx.now();
        let from = ingress.and_then(|port| self.ports.get(port.index()));
        // A copy that came down a tier only goes further down.
        let falls = config.scope == Scope::ValleyFree && from.is_some_and(|port| port.way == Way::Up);
        self.chosen.clear();
        for (number, port) in self.ports.iter().enumerate() {
            let id = PortId(number as u16);
            let fabric = port.neighbour_until > now && (!falls || port.way == Way::Down);
            let allowed = fabric || hosts.include(id) && port.host_from <= now;
            if port.up && allowed && ingress != Some(id) {
                self.chosen.push(id);
            }
        }
        if config.order == FloodOrder::Random {
            for last in (1..self.chosen.len()).rev() {
                self.chosen.swap(last, pick(ctx.random().next_u64(), last + 1));
            }
        }
        let last = |port: &PortId| self.ports[port.index()].is_last();
        if self.chosen.iter().any(last) {
            self.chosen.sort_by_key(last);
        }
    }

    /// The number of ports.
    pub fn count(&self) -> usize {
        self.ports.len()
    }

    /// When the next Hello is due.
    pub const fn next_hello(&self) -> Time {
        self.next_hello
    }

    /// Sends a Hello out of every port that is up, if it is due.
    pub fn greet(&mut self, now: Time, out: &mut Actions) {
        if now < self.next_hello {
            return;
        }
        self.next_hello = now + self.interval;
        for (number, port) in self.ports.iter_mut().enumerate().filter(|(_, port)| port.up) {
            out.emit(PortId(number as u16), port.hello(port.reception(now)));
        }
    }

    /// Ports whose neighbour's hold time ended between `before` and `now`.
    pub fn silent(&self, before: Time, now: Time) -> Vec<PortId> {
        let lost = |port: &Port| port.neighbour_until > before && port.neighbour_until <= now;
        let ports = (0..).map(PortId).zip(&self.ports);
        ports.filter(|(_, port)| lost(port)).map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::Exploration;
    use crate::switch::Idle;
    use crate::{Action, stream};

    fn flooded(ports: &mut Ports, now: Time) -> Vec<u16> {
        let mut out = Actions::default();
        let mut ctx = Idle(now, stream(1, "hello", 0));
        ports.flood(&mut ctx, &Exploration::default(), PortId(0), Hosts::All, &mut out);
        let port = |action| match action {
            Action::Send(port) => port.0,
            other => panic!("{other:?}"),
        };
        out.all().map(port).collect()
    }

    #[test]
    fn a_port_that_is_not_heard_and_delivers_is_flooded_to_behind_all_others_until_it_is_lost() {
        let config = Exploration::default();
        let ways = vec![Way::Host, Way::Level, Way::Level, Way::Level, Way::Host];
        let mut ports = Ports::new(ways, &config);
        let later = Time::ZERO + config.hold;
        for port in [1, 3] {
            ports.heard(PortId(port), Reception::Heard, later, &mut Actions::default());
        }
        ports.keep(PortId(2));
        assert!(ports.is_fabric(PortId(2), later) && ports.is_last_resort(PortId(2)));
        for at in 0..50 {
            let now = later + Duration::from_ps(at);
            assert_eq!(flooded(&mut ports, now).last(), Some(&2), "in any random order");
        }
        assert!(ports.silent(Time::ZERO, later).is_empty(), "not dead yet");
        ports.lose(PortId(2), later);
        assert!(!ports.is_fabric(PortId(2), later));
        assert_eq!(ports.silent(Time::ZERO, later), [PortId(2)]);
        ports.lose(PortId(1), later);
        assert!(ports.is_fabric(PortId(1), later), "applies to last-resort ports only");
        ports.keep(PortId(2));
        ports.heard(PortId(2), Reception::Heard, later, &mut Actions::default());
        assert!(!ports.is_last_resort(PortId(2)), "a Hello makes it a normal port");
        ports.keep(PortId(2));
        ports.set_up(PortId(2), false, later, &mut Actions::default());
        assert!(!ports.is_fabric(PortId(2), later), "no carrier");
    }

    #[test]
    fn a_link_that_loses_some_frames_is_a_last_resort_at_both_ends_until_it_loses_none() {
        let config = Exploration::default();
        let mut ends = [0, 1].map(|_| Ports::new(vec![Way::Host, Way::Level, Way::Level], &config));
        let (mut now, mut sent) = (Time::ZERO, 0);
        let mut greet = |ends: &mut [Ports; 2], loses: u32| {
            for _ in 0..300 {
                now += config.hello;
                for from in 0..2 {
                    let mut out = Actions::default();
                    ends[from].greet(now, &mut out);
                    for &(port, hello) in out.emitted().iter().filter(|(port, _)| *port != PortId(0)) {
                        sent += 1;
                        if from == 0 && port == PortId(1) && sent % 5 < loses {
                            continue;
                        }
                        ends[1 - from].hear_count(port, HelloCount::of(&hello), now);
                        ends[1 - from].heard(port, Reception::of(&hello), now, &mut Actions::default());
                    }
                }
            }
            now
        };
        greet(&mut ends, 0);
        assert!(ends.iter().all(|end| !end.is_last_resort(PortId(1))));
        let lossy = greet(&mut ends, 1);
        for end in &mut ends {
            assert!(end.is_fabric(PortId(1), lossy) && end.is_last_resort(PortId(1)));
            assert!(!end.is_last_resort(PortId(2)));
            for at in 0..50 {
                assert_eq!(flooded(end, lossy + Duration::from_ps(at)), [2, 1], "in any random order");
            }
        }
        greet(&mut ends, 0);
        assert!(ends.iter().all(|end| !end.is_last_resort(PortId(1))));
    }

    /// The Hello messages that `act` makes.
    fn said(act: impl FnOnce(&mut Actions)) -> Vec<Reception> {
        let mut out = Actions::default();
        act(&mut out);
        out.emitted().iter().map(|(_, header)| Reception::of(header)).collect()
    }

    #[test]
    fn a_link_that_works_in_one_direction_only_is_the_last_resort_within_a_hold_time() {
        let config = Exploration::default();
        let both = || Ports::new(vec![Way::Level], &config);
        let (mut deaf, mut mute, port) = (both(), both(), PortId(0));
        // Frames from `mute` to `deaf` are lost from 20 s on.
        let (broken, healed) = (Time::ZERO + config.hello * 4, Time::ZERO + config.hello * 12);
        let mut cut = None;
        for tick in 0..20 {
            let now = Time::ZERO + config.hello * tick;
            let of_deaf = said(|out| deaf.greet(now, out));
            let of_mute = said(|out| mute.greet(now, out));
            let mut answers = Vec::new();
            if now < broken || now >= healed {
                for theirs in of_mute {
                    answers.extend(said(|out| assert!(!deaf.heard(port, theirs, now, out))));
                }
            }
            for theirs in of_deaf.into_iter().chain(answers) {
                said(|out| {
                    if mute.heard(port, theirs, now, out) {
                        cut = Some(now);
                    }
                });
            }
            let works = now < broken + config.hello * 2 || now >= healed;
            assert_eq!(mute.is_last_resort(port), !works, "{now:?}");
            assert_eq!(deaf.is_fabric(port, now), works, "{now:?}");
            assert!(!mute.is_host(port, now) && !deaf.is_host(port, now));
        }
        assert_eq!(
            cut,
            Some(Time::ZERO + config.hello * 6),
            "three intervals after the last Hello that arrived"
        );
    }

    #[test]
    fn a_switch_says_that_it_hears_nothing_only_when_it_is_certain() {
        let config = Exploration::default();
        let (mut ports, port) = (Ports::new(vec![Way::Unknown], &config), PortId(0));
        let at = |tick| Time::ZERO + config.hello * tick;
        let greeting = |ports: &mut Ports, tick| said(|out| ports.greet(at(tick), out));
        assert_eq!(greeting(&mut ports, 0), [Reception::Unknown]);
        assert_eq!(greeting(&mut ports, 2), [Reception::Unknown]);
        assert_eq!(greeting(&mut ports, 3), [Reception::Nothing]);
        let answered = said(|out| {
            ports.heard(port, Reception::Unknown, at(3), out);
        });
        assert_eq!(answered, [Reception::Heard], "at once: the neighbour may wait for it");
        assert!(ports.is_fabric(port, at(3)));
        assert_eq!(greeting(&mut ports, 4), [Reception::Heard]);
        ports.set_up(port, false, at(4), &mut Actions::default());
        assert_eq!(said(|out| ports.set_up(port, true, at(5), out)), [Reception::Unknown]);
        assert_eq!(greeting(&mut ports, 6), [Reception::Unknown]);
        assert_eq!(greeting(&mut ports, 8), [Reception::Nothing]);
    }

    #[test]
    fn flows_leave_a_port_that_loses_frames_only_for_a_better_one() {
        let config = Exploration::default();
        let mut ports = Ports::new(vec![Way::Host, Way::Up, Way::Up, Way::Up], &config);
        let now = Time::ZERO;
        for port in 1..4 {
            ports.heard(PortId(port), Reception::Heard, now, &mut Actions::default());
        }
        assert!(ports.leave(now).is_empty());
        let lossy = HelloCount { number: None, misses: true };
        ports.hear_count(PortId(1), lossy, now);
        assert_eq!(ports.leave(now), [PortId(1)]);
        assert!(ports.leave(now).is_empty(), "once");
        assert!(ports.has_better_up(PortId(1), now) && !ports.has_better_up(PortId(0), now));
        for port in [2, 3] {
            ports.hear_count(PortId(port), lossy, now);
        }
        assert!(ports.leave(now).is_empty() && !ports.has_better_up(PortId(1), now), "no better one");
    }
}
