//! [`FlowFilter`]: which rules are selected.

use ipnet::IpNet;

use crate::tag_forward::flow::FlowRule;

/// Selects rules that match no more addresses than the filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowFilter {
    /// Only rules with this priority.
    pub priority: Option<u16>,
    /// Only IPv6 (or only IPv4) rules.
    pub is_v6: Option<bool>,
    /// Only rules with sources in this network.
    pub source: Option<IpNet>,
    /// Only rules with destinations in this network.
    pub destination: Option<IpNet>,
}

impl FlowFilter {
    /// Whether the filter selects a rule.
    pub fn selects(&self, rule: &FlowRule) -> bool {
        let within = |network: Option<IpNet>, of: IpNet| network.is_none_or(|network| network.contains(&of));
        let matches = rule.matches;
        self.priority.is_none_or(|priority| priority == rule.priority)
            && self.is_v6.is_none_or(|is_v6| is_v6 == matches!(matches.source(), IpNet::V6(_)))
            && within(self.source, matches.source())
            && within(self.destination, matches.destination())
    }
}
