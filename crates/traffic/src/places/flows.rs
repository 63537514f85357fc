//! The links of [`Places`] that flows take: their delays and rates.

use weft_units::{Duration, HostId, Rate};

use super::Places;
use super::interfaces::Interfaces;
use crate::listed::ListedFlow;

impl Places {
    /// The least delays of the links of two hosts that a packet of a flow passes, without the links between switches; of an `answer`,
    /// those on its way back.
    pub(crate) fn delay(&self, flow: &ListedFlow, is_answer: bool) -> Duration {
        let ends = [flow.src, flow.dst];
        let ways = |host: HostId| self.ways.get(host.index()).copied();
        let both = match (self.takes_domain(flow), self.known_interfaces(flow), &self.interfaces) {
            (true, ..) => ends.map(|host| self.domains.within(host).map(|(_, ways)| ways)),
            (false, Some([own, other]), Some(all)) => {
                [Some(all.way(flow.src, own).1), Some(all.way(flow.dst, other).1)]
            }
            _ => ends.map(ways),
        };
        let [src, dst] = if is_answer { [both[1], both[0]] } else { both };
        src.map_or(Duration::ZERO, |ways| ways.delay_out) + dst.map_or(Duration::ZERO, |ways| ways.delay_in)
    }

    /// Why a flow cannot run between these hosts.
    pub(crate) fn refuse(&self, flow: &ListedFlow) -> Option<String> {
        match [flow.src, flow.dst].into_iter().find(|host| host.index() >= self.len()) {
            Some(host) => Some(format!("there is no host {host} in the fabric")),
            None if flow.src == flow.dst => {
                Some(format!("its source and destination are both `{}`", self.name(flow.src)))
            }
            None => (flow.bytes == 0).then(|| "its size is 0 bytes".into()),
        }
    }

    /// Whether a flow takes a scale-up domain: both hosts belong to it, their links into it work at the start, and the flow names no
    /// interfaces into the network.
    pub(crate) fn takes_domain(&self, flow: &ListedFlow) -> bool {
        let is_listed = self.interfaces.as_ref().is_some_and(Interfaces::are_listed);
        !is_listed && self.domains.connects(flow.src, flow.dst)
    }

    /// The numbers of the interfaces that a flow through the network has at its source and its destination, if they are known.
    pub(crate) fn known_interfaces(&self, flow: &ListedFlow) -> Option<[u32; 2]> {
        self.interfaces.as_ref().filter(|_| !self.takes_domain(flow))?.known(flow)
    }

    /// The number of an interface among those of all hosts.
    pub(crate) fn interface_index(&self, host: HostId, number: u32) -> usize {
        self.interfaces.as_ref().map_or(0, |own| own.all().index(host, number))
    }

    /// How many interfaces all hosts have together, if they are known.
    pub(crate) fn interface_count(&self) -> usize {
        self.interfaces.as_ref().map_or(0, |own| own.all().len())
    }

    /// The rates at which an interface sends and receives.
    pub(crate) fn interface_rates(&self, host: HostId, number: u32) -> [Rate; 2] {
        let way = self.interfaces.as_ref().map(|all| all.way(host, number));
        way.map_or([Rate::from_bps(0); 2], |(out, ways)| [out, ways.rate_in])
    }

    /// The rates at which `host` sends into its scale-up domain and receives from it.
    pub(crate) fn domain_rates(&self, host: HostId) -> Option<[Rate; 2]> {
        self.domains.within(host).map(|(out, ways)| [out, ways.rate_in])
    }

    /// The rate at which the source of a flow can send it, with nothing else in the network.
    pub(crate) fn rate_out(&self, flow: &ListedFlow) -> Rate {
        if self.takes_domain(flow) {
            return self.domain_rates(flow.src).map_or(Rate::from_bps(0), |[out, _]| out);
        }
        let one = self.interfaces.as_ref().and_then(|all| all.rate_out(flow));
        one.unwrap_or_else(|| self.rate(flow.src))
    }

    /// The rate of a flow with nothing else in the network: that of the slower of both hosts' links into the network or, within a
    /// scale-up domain, into it.
    pub(crate) fn rate_of(&self, flow: &ListedFlow) -> Rate {
        let into = if self.takes_domain(flow) {
            self.domain_rates(flow.dst).map_or(Rate::from_bps(0), |[_, into]| into)
        } else {
            let are_in_one_domain = self.domains.share(flow.src, flow.dst);
            let one = self.interfaces.as_ref().and_then(|all| all.rate_in(flow, are_in_one_domain));
            one.unwrap_or_else(|| self.rate_in(flow.dst))
        };
        self.rate_out(flow).min(into)
    }
}
