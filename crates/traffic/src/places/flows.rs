//! The links of [`Places`] that flows take: their delays and rates.

use weft_units::{Duration, HostId, Rate};

use super::Places;
use super::domains::{Course, Ways};
use super::interfaces::Interfaces;
use crate::listed::ListedFlow;

impl Places {
    /// The links that a flow takes: those into the network, also if it names interfaces there, or into a scale-up domain.
    pub(crate) fn course(&self, flow: &ListedFlow) -> Course {
        match self.interfaces.as_ref().is_some_and(Interfaces::are_listed) {
            true => Course::Network,
            false => self.domains.course(flow.src, flow.dst),
        }
    }

    /// The least delay of the links of two hosts that a packet of a flow passes, without the links between switches; of an `answer`,
    /// those on its way back.
    pub(crate) fn delay(&self, flow: &ListedFlow, is_answer: bool) -> Duration {
        let [src, dst] = self.ways_of(flow);
        if is_answer { dst.delay_out + src.delay_in } else { src.delay_out + dst.delay_in }
    }

    /// The least delays of the link out of a flow's source, and of that into its destination.
    pub(crate) fn delays(&self, flow: &ListedFlow) -> [Duration; 2] {
        let [src, dst] = self.ways_of(flow);
        [src.delay_out, dst.delay_in]
    }

    /// The links of a flow's source and destination, with the least delays if there are several.
    fn ways_of(&self, flow: &ListedFlow) -> [Ways; 2] {
        let ends = [flow.src, flow.dst];
        let within = || ends.map(|host| self.domains.within(host).map(|(_, ways)| ways).unwrap_or_default());
        let through = || match (self.known_interfaces(flow), &self.interfaces) {
            (Some([own, other]), Some(all)) => [all.way(flow.src, own).1, all.way(flow.dst, other).1],
            _ => ends.map(|host| self.ways.get(host.index()).copied().unwrap_or_default()),
        };
        match self.course(flow) {
            Course::Domain => within(),
            Course::Network => through(),
            Course::Either => {
                let (inside, outside) = (within(), through());
                [0, 1].map(|end| inside[end].least(outside[end]))
            }
        }
    }

    /// The numbers of the interfaces that a flow through the network has at its source and its destination, if they are known.
    pub(crate) fn known_interfaces(&self, flow: &ListedFlow) -> Option<[u32; 2]> {
        self.interfaces.as_ref().filter(|_| self.course(flow) == Course::Network)?.known(flow)
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

    /// The rates at which `host` sends into its scale-up domain and receives from it; 0 without a link that ever works.
    pub(crate) fn domain_rates(&self, host: HostId) -> [Rate; 2] {
        self.domains.within(host).map_or([Rate::from_bps(0); 2], |(out, ways)| [out, ways.rate_in])
    }

    /// The rate at which the source of a flow can send it, with nothing else in the network.
    pub(crate) fn rate_out(&self, flow: &ListedFlow) -> Rate {
        let one = self.interfaces.as_ref().and_then(|all| all.rate_out(flow));
        let through = one.unwrap_or_else(|| self.rate(flow.src));
        self.course(flow).rate(self.domain_rates(flow.src)[0], through)
    }

    /// The rate of the links of a flow's source into the network, all together, or into their scale-up domain, whatever events
    /// change later and however the flow chooses among them.
    pub(crate) fn pace(&self, flow: &ListedFlow) -> Rate {
        match self.domains.course(flow.src, flow.dst) {
            Course::Network => self.rate(flow.src),
            Course::Domain | Course::Either => self.domain_rates(flow.src)[0],
        }
    }

    /// The rate of a flow with nothing else in the network: that of the slower of both hosts' links into the network or, within a
    /// scale-up domain, into it.
    pub(crate) fn rate_of(&self, flow: &ListedFlow) -> Rate {
        let are_in_one_domain = self.domains.share(flow.src, flow.dst);
        let one = self.interfaces.as_ref().and_then(|all| all.rate_in(flow, are_in_one_domain));
        let through = one.unwrap_or_else(|| self.rate_in(flow.dst));
        let into = self.course(flow).rate(self.domain_rates(flow.dst)[1], through);
        self.rate_out(flow).min(into)
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
}
