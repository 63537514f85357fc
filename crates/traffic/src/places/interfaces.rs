//! [`Interfaces`]: the links of hosts into the network, and how a flow uses those of its hosts.

use weft_fabric::Fabric;
use weft_units::{Duration, HostId, LinkId, Rate};

use super::domains::Ways;
use crate::lane::InterfaceRule;
use crate::listed::ListedFlow;

/// How a flow uses the interfaces of its hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// Several, also at the same time.
    Several,
    /// One at each end.
    One,
    /// One at each end that is known before the run.
    Known,
}

/// The interfaces of all hosts.
#[derive(Clone, Debug)]
pub(super) struct Interfaces {
    rule: InterfaceRule,
    used: Use,
    all: weft_fabric::Interfaces,
    /// The rate at which each interface sends, and the rate at which it receives with its delays.
    ways: Vec<(Rate, Ways)>,
}

impl Interfaces {
    /// Those of the hosts of `fabric`, whose links `is_up` knows. Flows choose them by a rule; a flow may use several if
    /// `may_use_several`.
    pub(super) fn of(
        fabric: &Fabric,
        rule: InterfaceRule,
        may_use_several: bool,
        is_up: impl Fn(LinkId) -> Option<bool>,
    ) -> Self {
        let all = weft_fabric::Interfaces::of(fabric);
        let ways = all.links().map(|link| way(fabric, link)).collect();
        let is_known = matches!(rule, InterfaceRule::Rail | InterfaceRule::Listed);
        let used = match may_use_several {
            true => Use::Several,
            false
                if is_known && (0..fabric.links().len() as u32).all(|id| is_up(LinkId(id)) == Some(true)) =>
            {
                Use::Known
            }
            false => Use::One,
        };
        Self { rule, used, all, ways }
    }

    /// Whether flows name their interfaces, so that none takes a scale-up domain.
    pub(super) fn are_listed(&self) -> bool {
        self.rule == InterfaceRule::Listed
    }

    /// The interfaces at source and destination of a flow through the network, if they are known.
    pub(super) fn known(&self, flow: &ListedFlow) -> Option<[u32; 2]> {
        if self.used != Use::Known {
            return None;
        }
        let counts = [flow.src, flow.dst].map(|host| self.all.count(host));
        let both = match self.are_listed() {
            true => flow.lane.interfaces()?,
            false => flow.lane.on_rails(flow.src, counts),
        };
        let both = both.map(u32::from);
        let are_there = both.iter().zip(counts).all(|(number, count)| *number < count);
        // Between two networks, others are used.
        (are_there && self.all.are_joined(flow.src, flow.dst, both)).then_some(both)
    }

    /// The rate at which the source of a flow through the network sends it, if it uses one interface.
    pub(super) fn rate_out(&self, flow: &ListedFlow) -> Option<Rate> {
        if let Some([own, _]) = self.known(flow) {
            return Some(self.way(flow.src, own).0);
        }
        let rates = || self.of_host(flow.src).map(|(rate, _)| rate);
        (self.used != Use::Several).then(|| rates().max()).flatten()
    }

    /// The rate at which the destination of a flow through the network receives it, if it does so on one interface: not with the rule
    /// `hash`, nor between hosts of one scale-up domain, as packets then go to the host.
    pub(super) fn rate_in(&self, flow: &ListedFlow, are_in_one_domain: bool) -> Option<Rate> {
        if let Some([_, other]) = self.known(flow) {
            return Some(self.way(flow.dst, other).1.rate_in);
        }
        let is_to_host = self.rule == InterfaceRule::Hash || are_in_one_domain && !self.are_listed();
        let rates = || self.of_host(flow.dst).map(|(_, ways)| ways.rate_in);
        (self.used != Use::Several && !is_to_host).then(|| rates().max()).flatten()
    }

    /// The rate at which an interface sends, and the rate at which it receives with its delays.
    pub(super) fn way(&self, host: HostId, number: u32) -> (Rate, Ways) {
        self.ways[self.all.index(host, number)]
    }

    /// The interfaces by host and number.
    pub(super) fn all(&self) -> &weft_fabric::Interfaces {
        &self.all
    }

    fn of_host(&self, host: HostId) -> impl Iterator<Item = (Rate, Ways)> {
        (0..self.all.count(host)).map(move |number| self.way(host, number))
    }
}

/// The rate at which a host sends on a link, and the rate at which it receives with the delays. Both hosts of a cable between hosts count half of its delay.
pub(super) fn way(fabric: &Fabric, link: LinkId) -> (Rate, Ways) {
    let delay = |id: LinkId| -> Duration {
        let link = fabric.link(id);
        let is_between_hosts = [link.from, link.to].iter().all(|node| fabric.node(*node).is_host());
        if is_between_hosts { link.delay / 2 } else { link.delay }
    };
    let back = link.reverse();
    let rate_in = fabric.link(back).rate;
    (fabric.link(link).rate, Ways { rate_in, delay_out: delay(link), delay_in: delay(back) })
}
