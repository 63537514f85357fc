//! [`TagCommand`]: what `weftctl` is told about gates and flows, in the manner of ovs-ofctl(8).

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weft_fabric::gates::Direction;

use crate::bodies::Flag;

/// How a rule is written.
pub const FLOW_HELP: &str = "\
A flow is the match of a rule and its actions:

  [priority=P,][ip|ipv6,][ip_src=A,][ip_dst=A] actions=[queue:Q,][down:D,](gate:G[,up:U] | group:N)

A is an address, a network (10.0.0.0/24, 10.0.0.0/255.255.255.0, fd00::/16) or `any`; nw_src,
nw_dst, ipv6_src and ipv6_dst are other names of the same. Without a priority it is 32768. `queue`
is QID of the tag, `down` and `up` are its DOWN and UP, `gate` is the gate by which frames leave
this switch.";

/// How a group is written.
pub const GROUP_HELP: &str = "\
A packet of a rule that names the group takes one of its ways:

  group_id=N[,type=select][,bucket=gate:G[,up:U]]...

Who provisions a fabric numbers its groups from 0: number those made by hand from 1000000. It also takes out groups that
no rule names; `add-flows` makes a group and its rules at once.

Example: weftctl add-group 'group_id=1000000,bucket=gate:48,up:48,bucket=gate:56,up:52'";

/// A command about gates or flows.
#[derive(Subcommand)]
pub enum TagCommand {
    /// Give a port a gate
    #[command(after_help = "Example: weftctl set-gate eth1 2 --flag srv")]
    SetGate {
        /// The port, by interface or number
        port: String,
        /// The gate's number, 1 or more
        gate: u32,
        /// Which number of a tag leads through it
        #[command(flatten)]
        direction: Toward,
        /// What is behind it, where that matters
        #[arg(long, value_enum)]
        flag: Option<FlagName>,
    },
    /// Say how far gates are apart
    #[command(after_help = "Example: weftctl set-divisors --down 2 --up 8")]
    SetDivisors {
        /// DOWN gates of this switch
        #[arg(long, required_unless_present = "up")]
        down: Option<u32>,
        /// UP gates of this switch
        #[arg(long)]
        up: Option<u32>,
    },
    /// Take the gate of a port away
    DelGate {
        /// The port, by interface or number
        port: String,
    },
    /// Print the gates, a line each
    DumpGates,
    /// Put a rule in, of which there is none of the same match and priority
    #[command(after_help = FLOW_HELP)]
    AddFlow {
        /// The rule, as below
        flow: String,
    },
    /// Do what the lines of a file say, all or nothing
    #[command(after_help = "\
Each line is a flow (`weftctl help add-flow`) or a group (`weftctl help add-group`), behind `add`,
`modify` or `delete`, or nothing for `add`; empty lines and what follows `#` are left out.
dump-groups and dump-flows print such a file.")]
    AddFlows {
        /// The file; `-` is the standard input
        file: PathBuf,
    },
    /// Give a rule other actions; its counts go on
    #[command(after_help = FLOW_HELP)]
    ModFlow {
        /// The rule, as below
        flow: String,
    },
    /// Take a rule out
    #[command(after_help = "\
Examples:
  weftctl del-flow 'priority=1000,ip_dst=10.0.0.1'     the one rule of this match and priority (32768 if not said)
  weftctl del-flow --all 'ip_dst=10.0.0.0/8'           all that look at no more than that
  weftctl del-flow --all                               all")]
    DelFlow {
        /// Priority and match of the rule
        #[arg(required_unless_present = "all")]
        flow: Option<String>,
        /// All rules that look at no other packets
        #[arg(long)]
        all: bool,
    },
    /// Print the rules with what they were applied to, a line each
    DumpFlows {
        /// Those that look at no other packets; all, if this is not said
        flow: Option<String>,
    },
    /// Say which ways a group has
    #[command(after_help = GROUP_HELP)]
    AddGroup {
        /// The group, as below
        group: String,
    },
    /// Take out a group that no rule names
    DelGroup {
        /// Its number
        id: u32,
    },
    /// Print the groups, a line each
    DumpGroups,
}

/// The flag of a gate.
#[derive(Clone, Copy, ValueEnum)]
pub enum FlagName {
    /// A server: tags are taken off (G_SRV)
    Srv,
    /// A network outside: tags are taken off (G_EXT)
    Ext,
    /// An edge switch: frames that come from there go up (G_ASS)
    Ass,
}

impl From<FlagName> for Flag {
    fn from(name: FlagName) -> Self {
        match name {
            FlagName::Srv => Self::Srv,
            FlagName::Ext => Self::Ext,
            FlagName::Ass => Self::Ass,
        }
    }
}

/// Which number of a tag leads through a gate.
#[derive(Args)]
#[group(multiple = false)]
pub struct Toward {
    /// DOWN leads through it, towards servers; so it is unless the flag is ext
    #[arg(long)]
    down: bool,
    /// UP leads through it, towards cores and what is outside
    #[arg(long)]
    up: bool,
}

impl Toward {
    /// The direction of a gate with this flag.
    pub fn direction(&self, flag: Option<FlagName>) -> Direction {
        let goes_up = self.up || (matches!(flag, Some(FlagName::Ext)) && !self.down);
        if goes_up { Direction::Up } else { Direction::Down }
    }
}
