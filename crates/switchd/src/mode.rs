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
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::ArpPath, Self::TcpPath, Self::Tfe, Self::Ecmp, Self::Spray];

    /// The name of the mode's program, and of the simulator's scheme.
    pub const fn program(self) -> &'static str {
        match self {
            Self::ArpPath => "arp_path",
            Self::TcpPath => "tcp_path",
            Self::Tfe => "tfe",
            Self::Ecmp => "ecmp",
            Self::Spray => "spray",
        }
    }

    /// The name in configurations: the program's with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArpPath => "arp-path",
            Self::TcpPath => "tcp-path",
            mode => mode.program(),
        }
    }

    /// The mode of a name, with hyphens or underscores.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| name == mode.name() || name == mode.program())
    }

    /// Whether the mode finds stations by exploring: maps `stations` and `repairs`.
    pub const fn explores(self) -> bool {
        !self.routes()
    }

    /// Whether the mode goes by routes that it is given: map `routes`.
    pub const fn routes(self) -> bool {
        matches!(self, Self::Ecmp | Self::Spray)
    }

    /// Whether the mode keeps flows: maps `paths`, `locked` and `limits`.
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
