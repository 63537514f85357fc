//! [`Mode`]: how the data plane forwards, and the maps of each mode's object in `bpf/`.

use weft_switching::exploration::Exploration;
use weft_switching::{Descriptor, arp_path, ecmp, spray, tag_forward, tcp_path, tfe};
use weft_units::words;

words! {
    /// How the data plane forwards.
    pub enum Mode {
        /// `bpf/arp_path.c`: stations on the path that a copy of their ARP Request found fastest.
        ArpPath = "arp-path",
        /// `bpf/tcp_path.c`: each TCP connection on the path that a copy of its SYN found fastest.
        TcpPath = "tcp-path",
        /// `bpf/tfe.c`: the same for elephant flows, the default forwarding for the rest.
        Tfe = "tfe",
        /// `bpf/ecmp.c`: each flow on one of the next hops of a route, by a hash.
        Ecmp = "ecmp",
        /// `bpf/spray.c`: each frame on a random one of the next hops of a route.
        Spray = "spray",
        /// `bpf/tag_forward.c`: each frame looked up where it enters the fabric, then forwarded by its tag.
        TagForward = "tag-forward",
        /// `bpf/flow_table.c`: each frame looked up at every switch.
        FlowTable = "flow-table",
    }
}

impl Mode {
    /// Every mode.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.iter().filter_map(|word| word.parse().ok())
    }

    /// The name of the mode's program in the kernel, at most 15 characters.
    pub const fn program(self) -> &'static str {
        match self {
            Self::ArpPath => "weft_arp_path",
            Self::TcpPath => "weft_tcp_path",
            Self::Tfe => "weft_tfe",
            Self::Ecmp => "weft_ecmp",
            Self::Spray => "weft_spray",
            Self::TagForward => "weft_tag_fwd",
            Self::FlowTable => "weft_flow_table",
        }
    }

    /// The simulator's scheme whose parameters the mode has.
    pub const fn scheme(self) -> &'static Descriptor {
        match self {
            Self::ArpPath => &arp_path::DESCRIPTOR,
            Self::TcpPath => &tcp_path::DESCRIPTOR,
            Self::Tfe => &tfe::DESCRIPTOR,
            Self::Ecmp => &ecmp::DESCRIPTOR,
            Self::Spray => &spray::DESCRIPTOR,
            Self::TagForward | Self::FlowTable => &tag_forward::DESCRIPTOR,
        }
    }

    /// The mode with this name, with hyphens or underscores.
    pub fn of_name(name: &str) -> Option<Self> {
        name.replace('_', "-").parse().ok()
    }

    /// Whether the mode finds stations by exploration, all or only those without a route: maps `stations`, `repairs`,
    /// `moves`, `floods`, `limits`, `shares`, `members` and `routers`.
    pub const fn explores(self) -> bool {
        !self.has_gates()
    }

    /// Whether the mode forwards by configured routes: map `routes`.
    pub const fn routes(self) -> bool {
        matches!(self, Self::Ecmp | Self::Spray)
    }

    /// Whether the mode forwards by gates and the rules of a flow table: maps `gates`, `kinds`, `flows_v4`, `flows_v6`
    /// and `groups`.
    pub const fn has_gates(self) -> bool {
        matches!(self, Self::TagForward | Self::FlowTable)
    }

    /// Whether frames are tagged, and so longer, between switches.
    pub const fn tags(self) -> bool {
        matches!(self, Self::TagForward)
    }

    /// Whether the mode has a table of flows: maps `paths` and `locked`.
    pub const fn keeps_flows(self) -> bool {
        matches!(self, Self::TcpPath | Self::Tfe)
    }

    /// Whether the mode may move flows once they have carried enough: map `carried`.
    pub const fn counts_flows(self) -> bool {
        matches!(self, Self::Tfe)
    }

    /// The mode's object.
    pub(crate) const fn object(self) -> &'static [u8] {
        match self {
            Self::ArpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/arp_path.o")),
            Self::TcpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcp_path.o")),
            Self::Tfe => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tfe.o")),
            Self::Ecmp => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/ecmp.o")),
            Self::Spray => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/spray.o")),
            Self::TagForward => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tag_forward.o")),
            Self::FlowTable => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/flow_table.o")),
        }
    }

    /// The size of the table of unconfirmed flows, a quarter of that of confirmed ones.
    pub(crate) const fn unconfirmed(config: &Exploration) -> usize {
        config.flows.div_ceil(4)
    }

    /// The maps whose size `config` sets.
    pub(crate) fn sizes(config: &Exploration) -> [(&'static str, usize); 8] {
        [
            ("stations", config.stations),
            ("repairs", config.stations),
            ("routes", config.stations),
            ("floods", config.safeguards.floods),
            ("members", config.safeguards.groups),
            ("paths", config.flows),
            ("locked", Self::unconfirmed(config)),
            ("carried", config.flows),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_of_a_descriptor_exists_and_every_mode_has_a_scheme() {
        for scheme in weft_switching::registry() {
            let mode = scheme.linux_mode.map(|name| Mode::of_name(name).ok_or(name));
            assert!(mode.is_none_or(|mode| mode.is_ok()), "{mode:?}");
        }
        for mode in Mode::all() {
            assert!(mode == Mode::FlowTable || mode.scheme().linux_mode == Some(mode.word()));
        }
    }
}
