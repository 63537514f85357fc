//! Rules and groups as text, in the style of ovs-ofctl(8):
//!
//! ```text
//! priority=1000,ip,ip_src=10.0.0.0/24,ip_dst=10.2.0.3 actions=queue:1,down:30,gate:48,up:48
//! priority=1000,ip,ip_dst=10.2.0.3 actions=down:30,group:3
//! group_id=3,type=select,bucket=gate:48,up:48,bucket=gate:56,up:52
//! ```
//!
//! Displayed rules can be parsed again. [`FlowFilter`] is the part before `actions`.

mod error;
mod filter;
mod read;
mod show;

use ipnet::IpNet;

use super::flow::{FlowChange, FlowMatch, FlowRule};
use read::{parse_group, parse_rule};

pub use error::SyntaxError;
pub use filter::FlowFilter;

/// The default priority, as in ovs-ofctl.
const PRIORITY: u16 = 32_768;

/// The operation on a parsed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Adds a rule, or sets a group.
    Add,
    /// Replaces a rule's action, or sets a group.
    Modify,
    /// Removes a rule or group.
    Delete,
}

impl Verb {
    /// The verb at the start of a line, [`Verb::Add`] by default, and the rest of the line.
    pub fn split(line: &str) -> (Self, &str) {
        let line = line.trim();
        let of = |(word, verb)| {
            let rest: &str = line.strip_prefix(word)?;
            rest.starts_with([' ', '\t']).then(|| (verb, rest.trim_start()))
        };
        let verbs = [("add", Self::Add), ("modify", Self::Modify), ("delete", Self::Delete)];
        verbs.into_iter().find_map(of).unwrap_or((Self::Add, line))
    }
}

/// Parses a change from the text of a rule, or of a group (which starts with `group_id=`).
///
/// # Errors
/// [`SyntaxError`].
pub fn parse_change(verb: Verb, text: &str) -> Result<FlowChange, SyntaxError> {
    let text = text.trim();
    if text.starts_with("group_id") {
        let (id, ways) = parse_group(text)?;
        return Ok(match verb {
            Verb::Delete if ways.is_empty() => FlowChange::RemoveGroup(id),
            Verb::Delete => return Err(SyntaxError::Superfluous("a group is deleted by its group_id alone")),
            Verb::Add | Verb::Modify => FlowChange::SetGroup { id, ways: ways.into() },
        });
    }
    let (filter, action) = parse_rule(text)?;
    let (priority, matches) = (filter.priority.unwrap_or(PRIORITY), filter.matches()?);
    let action = match (verb, action) {
        (Verb::Delete, None) => return Ok(FlowChange::Remove { priority, matches }),
        (Verb::Delete, Some(_)) => {
            return Err(SyntaxError::Superfluous(
                "a rule is deleted by its priority and match: leave out `actions`",
            ));
        }
        (_, None) => {
            let lacks = "missing actions: expected actions=down:30,gate:48,up:48 or actions=down:30,group:3";
            return Err(SyntaxError::Lacks(lacks));
        }
        (_, Some(action)) => action,
    };
    let rule = FlowRule { priority, matches, action };
    Ok(if verb == Verb::Modify { FlowChange::Replace(rule) } else { FlowChange::Add(rule) })
}

impl FlowFilter {
    /// Parses the part of a rule before `actions`; an empty text selects all rules.
    ///
    /// # Errors
    /// [`SyntaxError`].
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        match parse_rule(text)? {
            (filter, None) => Ok(filter),
            _ => Err(SyntaxError::Superfluous(
                "rules are selected by priority and addresses: leave out `actions`",
            )),
        }
    }

    /// The match equivalent to this filter.
    fn matches(&self) -> Result<FlowMatch, SyntaxError> {
        let family = |network: IpNet| matches!(network, IpNet::V6(_));
        let given = self.is_v6.or(self.source.map(family)).or(self.destination.map(family));
        let anywhere = match given {
            Some(false) => IpNet::V4(ipnet::Ipv4Net::default()),
            Some(true) => IpNet::V6(ipnet::Ipv6Net::default()),
            None => return Err(SyntaxError::Lacks("missing match: expected ip_src, ip_dst, ip or ipv6")),
        };
        let matches = FlowMatch::new(self.source.unwrap_or(anywhere), self.destination.unwrap_or(anywhere))?;
        // The given family must be that of the addresses.
        FlowMatch::new(anywhere, matches.source())?;
        Ok(matches)
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::gates::Gate;

    use super::super::flow::{GroupId, Way};
    use super::*;

    fn rule(text: &str) -> FlowRule {
        match parse_change(Verb::Add, text) {
            Ok(FlowChange::Add(rule)) => rule,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_spelling_of_a_rule_is_read_as_the_one_that_is_shown() {
        for (text, shown) in [
            (
                "priority=1000,ip,nw_src=10.0.0.0/255.255.255.0,nw_dst=10.2.0.3,actions=queue:1,down:30,gate:48,up:48",
                "priority=1000,ip,ip_src=10.0.0.0/24,ip_dst=10.2.0.3 actions=queue:1,down:30,gate:48,up:48",
            ),
            (
                "ip_dst=10.0.0.1 actions=down:0x1e,gate:2",
                "priority=32768,ip,ip_dst=10.0.0.1 actions=queue:0,down:30,gate:2,up:0",
            ),
            ("ipv6 action=group:3,down:4", "priority=32768,ipv6 actions=queue:0,down:4,group:3"),
            ("nw_src=*,actions=group:3,down:4", "priority=32768,ip actions=queue:0,down:4,group:3"),
            (
                "n_packets=7, n_bytes=700, priority=0,ipv6,ipv6_src=fd00::1,ipv6_dst=fd00:1::/32 actions=down:4,group:0",
                "priority=0,ipv6,ip_src=fd00::1,ip_dst=fd00:1::/32 actions=queue:0,down:4,group:0",
            ),
            (
                "ip_src=10.9.8.7/8,actions=down:4,group:0",
                "priority=32768,ip,ip_src=10.0.0.0/8 actions=queue:0,down:4,group:0",
            ),
        ] {
            assert_eq!(rule(text).to_string(), shown);
            assert_eq!(rule(shown), rule(text));
        }
    }

    #[test]
    fn lines_of_files_are_read_as_they_are_written() {
        for line in [
            "add priority=5,ip actions=queue:7,down:4,gate:2,up:0",
            "modify priority=5,ip actions=queue:7,down:4,group:2",
            "delete priority=5,ipv6,ip_dst=::1",
            "add group_id=3,type=select,bucket=gate:48,up:48,bucket=gate:56,up:52",
            "add group_id=3,type=select",
            "delete group_id=3",
        ] {
            let (verb, text) = Verb::split(line);
            assert_eq!(parse_change(verb, text).unwrap().to_string(), line);
        }
        let (verb, text) = Verb::split("  group_id=3 bucket=gate:56 ");
        let ways = [Way { gate: Gate(56), up: 0 }];
        assert_eq!(parse_change(verb, text), Ok(FlowChange::SetGroup { id: GroupId(3), ways: ways.into() }));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_what_would_do() {
        for (line, message) in [
            (
                "ip_dts=10.0.0.1,actions=group:1",
                "`ip_dts` is unknown (did you mean `ip_dst`?): expected one of priority, ",
            ),
            ("tcp,actions=group:1", "`tcp` is unknown"),
            ("ip,actions=output:1", "`output` is unknown"),
            ("ip,actions=drop", "`drop` is unknown"),
            ("ip,ip,actions=group:1", "`ip or ipv6` is given twice"),
            ("nw_src=10.0.0.1,ip_src=10.0.0.2,actions=group:1", "`ip_src` is given twice"),
            ("priority=65536,ip,actions=group:1", "`priority` cannot be \"65536\": expected a number from 0"),
            ("priority=+1,ip,actions=group:1", "`priority` cannot be \"+1\""),
            ("priority,ip,actions=group:1", "`priority` cannot be \"\": expected a value after `=`"),
            ("ip_src=10.0.0.1/33,actions=group:1", "`ip_src` cannot be \"10.0.0.1/33\""),
            ("ip_src=10.0.0.1/255.0.255.0,actions=group:1", "`ip_src` cannot be"),
            ("nw_src=fd00::1,actions=group:1", "`nw_src` takes IPv4 addresses, not fd00::1/128"),
            ("ipv6_dst=10.0.0.1,actions=group:1", "`ipv6_dst` takes IPv6 addresses, not 10.0.0.1/32"),
            (
                "ip,ip_src=fd00::1,ip_dst=fd00::2,actions=group:1",
                "0.0.0.0/0 and fd00::1/128 are of different address families",
            ),
            (
                "ip_src=fd00::1,ip_dst=10.0.0.1,actions=group:1",
                "fd00::1/128 and 10.0.0.1/32 are of different",
            ),
            ("priority=3,actions=group:1", "missing match"),
            ("ip", "missing actions"),
            ("ip,actions=down:3", "the actions select no path"),
            ("ip,actions=gate:2,group:3", "gate and up come from the group's buckets"),
            ("ip,actions=queue:8,gate:2", "`queue` cannot be \"8\": expected a number from 0 to 7"),
            ("ip,actions=gate:0", "`gate` cannot be \"0\""),
            ("delete ip,actions=gate:2", "a rule is deleted by its priority and match"),
            ("delete group_id=1,bucket=gate:2", "a group is deleted by its group_id alone"),
            ("group_id=1,up:4", "a bucket starts with its gate"),
            ("group_id=1,bucket=gate:2,up:4,up:5", "`up` is given twice"),
            ("group_id=1,type=all", "`type` cannot be \"all\": expected select"),
            ("group_id=1,weight=3", "`weight` is unknown"),
        ] {
            let (verb, text) = Verb::split(line);
            let error = parse_change(verb, text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }

    #[test]
    fn a_filter_selects_what_looks_at_no_more() {
        let all = [
            rule("priority=5,ip_dst=10.0.0.1,actions=group:1"),
            rule("priority=5,ip_dst=10.0.0.0/24,actions=group:1"),
            rule("priority=6,ip_src=10.1.0.0/16,ip_dst=10.0.0.0/24,actions=group:1"),
            rule("priority=5,ipv6,actions=group:1"),
        ];
        for (filter, expected) in [
            ("", vec![0, 1, 2, 3]),
            ("priority=5", vec![0, 1, 3]),
            ("ip_dst=10.0.0.0/24", vec![0, 1, 2]),
            ("ip_dst=10.0.0.1", vec![0]),
            ("ip_src=10.0.0.0/8", vec![2]),
            ("ipv6", vec![3]),
            ("ip,priority=5", vec![0, 1]),
        ] {
            let filter = FlowFilter::parse(filter).unwrap();
            let selected: Vec<usize> = (0..all.len()).filter(|&at| filter.selects(&all[at])).collect();
            assert_eq!(selected, expected, "{filter:?}");
        }
        assert!(FlowFilter::parse("ip,actions=group:1").is_err());
    }
}
