//! [`TagCommand`]: the command line of `weftctl` for gates and flows, similar to ovs-ofctl(8).

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weft_fabric::gates::Direction;

use crate::bodies::Flag;

/// The syntax of a rule.
pub const FLOW_HELP: &str = "\
A flow is the match of a rule and its actions:

  [priority=P,][ip|ipv6,][ip_src=A,][ip_dst=A] actions=[queue:Q,][down:D,](gate:G[,up:U] | group:N)

A is an address, a network (10.0.0.0/24, 10.0.0.0/255.255.255.0, fd00::/16) or `any`; nw_src,
nw_dst, ipv6_src and ipv6_dst are aliases. The default priority is 32768. `queue` is the QID of
the tag, `down` and `up` are its DOWN and UP, `gate` is the gate by which frames leave this
switch.";

/// The syntax of a group.
pub const GROUP_HELP: &str = "\
Each packet of a rule with this group takes one of its ways:

  group_id=N[,type=select][,bucket=gate:G[,up:U]]...

Provisioning numbers its groups from 0 and removes groups that no rule uses: number your own groups
from 1000000, and create a group together with its rules by `add-flows`.

Example: weftctl add-group 'group_id=1000000,bucket=gate:48,up:48,bucket=gate:56,up:52'";

/// A command about gates or flows.
#[derive(Subcommand)]
pub enum TagCommand {
    /// Set the gate of a port
    #[command(after_help = "Example: weftctl set-gate eth1 2 --flag srv")]
    SetGate {
        /// The port, by interface or number
        port: String,
        /// The gate's number, 1 or more
        gate: u32,
        /// Which number of a tag addresses it
        #[command(flatten)]
        direction: GateSelector,
        /// The neighbour behind it [default: another switch]
        #[arg(long, value_enum)]
        flag: Option<Flag>,
    },
    /// Set the distance between gates
    #[command(after_help = "Example: weftctl set-divisors --down 2 --up 8")]
    SetDivisors {
        /// Distance between DOWN gates of this switch
        #[arg(long, required_unless_present = "up")]
        down: Option<u32>,
        /// Distance between UP gates of this switch
        #[arg(long)]
        up: Option<u32>,
    },
    /// Remove the gate of a port
    DelGate {
        /// The port, by interface or number
        port: String,
    },
    /// Print the gates, one per line
    DumpGates,
    /// Add a rule; fails if one with the same match and priority exists
    #[command(after_help = FLOW_HELP)]
    AddFlow {
        /// The rule, as below
        flow: String,
    },
    /// Apply the changes in a file, all or none
    #[command(after_help = "\
Each line is a flow (`weftctl help add-flow`) or a group (`weftctl help add-group`), optionally after
`add` (the default), `modify` or `delete`. Empty lines and comments starting with `#` are ignored.
dump-groups and dump-flows print this format.")]
    AddFlows {
        /// The file; `-` for standard input
        file: PathBuf,
    },
    /// Change the actions of a rule; its counters continue
    #[command(after_help = FLOW_HELP)]
    ModFlow {
        /// The rule, as below
        flow: String,
    },
    /// Remove a rule
    #[command(after_help = "\
Examples:
  weftctl del-flow 'priority=1000,ip_dst=10.0.0.1'     the rule with this match and priority (default 32768)
  weftctl del-flow --all 'ip_dst=10.0.0.0/8'           all rules that match only packets to this network
  weftctl del-flow --all                               all rules")]
    DelFlow {
        /// Priority and match of the rule
        #[arg(required_unless_present = "all")]
        flow: Option<String>,
        /// Remove all rules that match no packets outside this flow
        #[arg(long)]
        all: bool,
    },
    /// Print the rules with their counters, one per line
    DumpFlows {
        /// Only rules that match no packets outside this flow [default: all]
        flow: Option<String>,
    },
    /// Add a group, or change its ways
    #[command(after_help = GROUP_HELP)]
    AddGroup {
        /// The group, as below
        group: String,
    },
    /// Remove a group that no rule uses
    DelGroup {
        /// Its number
        id: u32,
    },
    /// Print the groups, one per line
    DumpGroups,
}

/// The number of a tag that addresses a gate.
#[derive(Args)]
#[group(multiple = false)]
pub struct GateSelector {
    /// A DOWN gate, towards servers [default unless the flag is ext]
    #[arg(long)]
    down: bool,
    /// An UP gate, towards core switches and external networks
    #[arg(long)]
    up: bool,
}

impl GateSelector {
    /// The direction of a gate with this flag.
    pub fn direction(&self, flag: Option<Flag>) -> Direction {
        let goes_up = self.up || (matches!(flag, Some(Flag::Ext)) && !self.down);
        if goes_up { Direction::Up } else { Direction::Down }
    }
}
