//! [`Mode`]: how the data plane forwards, and what each mode's object in `bpf/` has.

use weft_switching::exploration::Exploration;

/// How the data plane forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `bpf/arp_path.c`: stations on the path that a copy of their ARP Request found fastest.
    ArpPath,
    /// `bpf/tcp_path.c`: each TCP connection on the path that a copy of its SYN found fastest.
    TcpPath,
    /// `bpf/tfe.c`: the same for elephant flows, the default forwarding for the rest.
    Tfe,
    /// `bpf/ecmp.c`: each flow on one of the next hops of a route, by a hash.
    Ecmp,
    /// `bpf/spray.c`: each frame on a random one of the next hops of a route.
    Spray,
    /// `bpf/tag_forward.c`: looked up where a frame enters the fabric, and forwarded by its tag from there on.
    TagForward,
    /// `bpf/flow_table.c`: looked up at every switch.
    FlowTable,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 7] =
        [Self::ArpPath, Self::TcpPath, Self::Tfe, Self::Ecmp, Self::Spray, Self::TagForward, Self::FlowTable];

    /// The name of the mode's program in the kernel, which has room for 15 characters.
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

    /// The name with underscores, as that of a scheme.
    const fn plain(self) -> &'static str {
        match self {
            Self::ArpPath => "arp_path",
            Self::TcpPath => "tcp_path",
            Self::Tfe => "tfe",
            Self::Ecmp => "ecmp",
            Self::Spray => "spray",
            Self::TagForward => "tag_forward",
            Self::FlowTable => "flow_table",
        }
    }

    /// The simulator's scheme whose parameters the mode has.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::FlowTable => "tag_forward",
            mode => mode.plain(),
        }
    }

    /// The name in configurations, with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArpPath => "arp-path",
            Self::TcpPath => "tcp-path",
            Self::TagForward => "tag-forward",
            Self::FlowTable => "flow-table",
            mode => mode.plain(),
        }
    }

    /// The mode of a name, with hyphens or underscores.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| name == mode.name() || name == mode.plain())
    }

    /// Whether the mode finds stations by exploring, all or those without a route: maps `stations`, `repairs`,
    /// `moves`, `floods` and `limits`.
    pub const fn explores(self) -> bool {
        !self.has_gates()
    }

    /// Whether the mode goes by routes that it is given: map `routes`.
    pub const fn routes(self) -> bool {
        matches!(self, Self::Ecmp | Self::Spray)
    }

    /// Whether the mode goes by gates and the rules of a flow table that it is given: maps `gates`, `kinds`,
    /// `flows_v4`, `flows_v6` and `groups`.
    pub const fn has_gates(self) -> bool {
        matches!(self, Self::TagForward | Self::FlowTable)
    }

    /// Whether frames have tags between switches, by which they are longer there.
    pub const fn tags(self) -> bool {
        matches!(self, Self::TagForward)
    }

    /// Whether the mode keeps flows: maps `paths` and `locked`.
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

    /// The maps whose size `config` gives. Flows that no reply has confirmed have a quarter as many
    /// entries of their own.
    pub(crate) fn sizes(config: &Exploration) -> [(&'static str, usize); 7] {
        [
            ("stations", config.stations),
            ("repairs", config.stations),
            ("routes", config.stations),
            ("floods", config.floods),
            ("paths", config.flows),
            ("locked", config.flows.div_ceil(4)),
            ("carried", config.flows),
        ]
    }
}
