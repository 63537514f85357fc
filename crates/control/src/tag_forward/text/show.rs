//! Displays rules and changes in the syntax that [`parse_change`](super::parse_change) reads.

use std::fmt;

use ipnet::IpNet;

use crate::tag_forward::flow::{FlowChange, FlowMatch, FlowRule, FlowTarget, Way};

/// An exact address is displayed without its prefix length.
struct Short(IpNet);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() { self.0.addr().fmt(f) } else { self.0.fmt(f) }
    }
}

/// Writes priority and match.
fn write_match(f: &mut fmt::Formatter<'_>, priority: u16, matches: &FlowMatch) -> fmt::Result {
    let (source, destination) = (matches.source(), matches.destination());
    write!(f, "priority={priority},{}", if source.max_prefix_len() == 32 { "ip" } else { "ipv6" })?;
    for (name, network) in [("ip_src", source), ("ip_dst", destination)] {
        if network.prefix_len() > 0 {
            write!(f, ",{name}={}", Short(network))?;
        }
    }
    Ok(())
}

impl fmt::Display for FlowRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_match(f, self.priority, &self.matches)?;
        write!(f, " actions=queue:{},down:{},", self.action.queue, self.action.down)?;
        match self.action.to {
            FlowTarget::Way(Way { gate, up }) => write!(f, "gate:{gate},up:{up}"),
            FlowTarget::Group(id) => write!(f, "group:{id}"),
        }
    }
}

/// A line of a file: a verb, and the text that [`parse_change`](super::parse_change) reads.
impl fmt::Display for FlowChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(rule) => write!(f, "add {rule}"),
            Self::Replace(rule) => write!(f, "modify {rule}"),
            Self::Remove { priority, matches } => {
                f.write_str("delete ")?;
                write_match(f, *priority, matches)
            }
            Self::SetGroup { id, ways } => {
                write!(f, "add group_id={id},type=select")?;
                ways.iter().try_for_each(|Way { gate, up }| write!(f, ",bucket=gate:{gate},up:{up}"))
            }
            Self::RemoveGroup(id) => write!(f, "delete group_id={id}"),
        }
    }
}
