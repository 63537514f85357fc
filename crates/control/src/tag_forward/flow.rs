//! [`FlowRule`], one entry of the flow table of a switch at the source of flows: the packets it matches, and their tag.
//! This is the only table that Tag-and-Forward needs.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_fabric::gates::Gate;

/// The addresses that a rule matches: source and destination of an IPv4 or IPv6 packet. For an ARP frame these are the
/// sender and target addresses, for a Neighbour Solicitation its source and target, so that the rules of two hosts also
/// forward their requests for each other, and nothing is flooded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addresses {
    /// The source.
    pub source: IpAddr,
    /// The destination.
    pub destination: IpAddr,
}

/// The packets a rule applies to: source and destination in two networks of one address family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Networks")]
pub struct FlowMatch {
    source: IpNet,
    destination: IpNet,
}

/// The serialised form of a [`FlowMatch`], before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Networks {
    source: IpNet,
    destination: IpNet,
}

/// One network is IPv4, the other IPv6.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{source_network} and {destination} are of different address families: no packet matches both")]
pub struct MixedFamilies {
    /// The source's network.
    pub source_network: IpNet,
    /// The destination's.
    pub destination: IpNet,
}

impl FlowMatch {
    /// Packets from `source` to `destination`; bits after the prefix are ignored.
    ///
    /// # Errors
    /// [`MixedFamilies`].
    pub fn new(source: IpNet, destination: IpNet) -> Result<Self, MixedFamilies> {
        let (source, destination) = (source.trunc(), destination.trunc());
        if matches!(source, IpNet::V4(_)) == matches!(destination, IpNet::V4(_)) {
            Ok(Self { source, destination })
        } else {
            Err(MixedFamilies { source_network: source, destination })
        }
    }

    /// Packets to `destination` from anywhere.
    pub fn to(destination: IpAddr) -> Self {
        let anywhere = match destination {
            IpAddr::V4(_) => IpNet::V4(ipnet::Ipv4Net::default()),
            IpAddr::V6(_) => IpNet::V6(ipnet::Ipv6Net::default()),
        };
        Self { source: anywhere, destination: destination.into() }
    }

    /// The network of sources.
    pub const fn source(&self) -> IpNet {
        self.source
    }

    /// The network of destinations.
    pub const fn destination(&self) -> IpNet {
        self.destination
    }
}

impl TryFrom<Networks> for FlowMatch {
    type Error = MixedFamilies;

    fn try_from(networks: Networks) -> Result<Self, MixedFamilies> {
        Self::new(networks.source, networks.destination)
    }
}

impl fmt::Display for FlowMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.source, self.destination)
    }
}

/// A path for a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The output gate at the source's switch.
    pub gate: Gate,
    /// The UP field of its tag.
    pub up: u32,
}

/// A group of paths that rules refer to, by the number that the controller assigns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub u32);

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The path for the packets of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowTarget {
    /// A fixed path, as in the paper.
    Way(Way),
    /// One path of a group, chosen by the switch for each packet.
    Group(GroupId),
}

/// The action on the packets of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowAction {
    /// The QID field of the tag, 0 to 7.
    pub queue: u8,
    /// The DOWN field of the tag.
    pub down: u32,
    /// Gate and UP.
    pub to: FlowTarget,
}

/// One entry of a flow table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowRule {
    /// The matching rule with the highest priority applies.
    pub priority: u16,
    /// The packets it applies to.
    pub matches: FlowMatch,
    /// The action on them.
    pub action: FlowAction,
}

/// A change of a switch's flow table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowChange {
    /// Adds a rule; none with the same match and priority exists.
    Add(FlowRule),
    /// Replaces the action of the rule with this match and priority.
    Replace(FlowRule),
    /// Removes a rule.
    Remove {
        /// Its priority.
        priority: u16,
        /// Its match.
        matches: FlowMatch,
    },
    /// Sets the paths of a group; packets to an empty group are dropped.
    SetGroup {
        /// The group, which need not exist yet.
        id: GroupId,
        /// Its paths.
        ways: Arc<[Way]>,
    },
    /// Removes a group that no rule refers to.
    RemoveGroup(GroupId),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, destination: &str) -> FlowMatch {
        FlowMatch::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap()
    }

    #[test]
    fn bits_behind_the_prefix_do_not_count() {
        assert_eq!(matches("10.1.2.3/8", "10.0.0.9/31"), matches("10.0.0.0/8", "10.0.0.8/31"));
        assert_eq!(matches("fd00:1::7/32", "::1/0").to_string(), "fd00:1::/32 -> ::/0");
    }

    #[test]
    fn a_match_is_of_one_family() {
        let refused = FlowMatch::new("10.0.0.0/8".parse().unwrap(), "::/0".parse().unwrap());
        let text = "10.0.0.0/8 and ::/0 are of different address families: no packet matches both";
        assert_eq!(refused.unwrap_err().to_string(), text);
        let json = r#"{"source":"10.0.0.0/8","destination":"::/0"}"#;
        assert!(serde_json::from_str::<FlowMatch>(json).unwrap_err().to_string().contains(text));
    }

    #[test]
    fn changes_are_read_as_they_are_written_and_what_is_unknown_is_named() {
        let matches = r#"{"source":"0.0.0.0/0","destination":"10.0.0.1/32"}"#;
        let rule =
            format!(r#"{{"priority":7,"matches":{matches},"action":{{"queue":1,"down":30,"to":TO}}}}"#);
        let to_group = rule.replace("TO", r#"{"group":3}"#);
        let to_way = rule.replace("TO", r#"{"way":{"gate":56,"up":48}}"#);
        for json in [
            format!(r#"{{"add":{to_group}}}"#),
            format!(r#"{{"replace":{to_way}}}"#),
            format!(r#"{{"remove":{{"priority":7,"matches":{matches}}}}}"#),
            r#"{"set_group":{"id":3,"ways":[{"gate":56,"up":48},{"gate":64,"up":52}]}}"#.to_owned(),
            r#"{"remove_group":3}"#.to_owned(),
        ] {
            let change: FlowChange = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&change).unwrap(), json);
        }
        for (json, what) in [
            (r#"{"drop":3}"#, "unknown variant `drop`, expected one of `add`"),
            (r#"{"set_group":{"id":3,"ways":[],"way":1}}"#, "unknown field `way`"),
            (r#"{"remove_group":-1}"#, "invalid value: integer `-1`, expected u32"),
        ] {
            let error = serde_json::from_str::<FlowChange>(json).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
