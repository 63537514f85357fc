//! [`Mode`]: how the data plane forwards, and what each mode's object in `bpf/` has.

use weft_switching::exploration::Exploration;

/// How the data plane forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `bpf/arp_path.c`: stations on the path that a copy of their ARP Request found fastest.
    ArpPath,
    /// `bpf/tcp_path.c`: each TCP connection on the path that a copy of its SYN found fastest.
    TcpPath,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::ArpPath, Self::TcpPath];

    /// The name of the mode's program, and of the simulator's scheme.
    pub const fn program(self) -> &'static str {
        match self {
            Self::ArpPath => "arp_path",
            Self::TcpPath => "tcp_path",
        }
    }

    /// The name in configurations: the program's with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArpPath => "arp-path",
            Self::TcpPath => "tcp-path",
        }
    }

    /// The mode of a name, with hyphens or underscores.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| name == mode.name() || name == mode.program())
    }

    /// Whether the mode finds stations by exploring: maps `stations` and `repairs`.
    pub const fn explores(self) -> bool {
        true
    }

    /// Whether the mode keeps flows: maps `paths`, `locked` and `limits`.
    pub const fn keeps_flows(self) -> bool {
        matches!(self, Self::TcpPath)
    }

    /// The mode's object.
    pub(crate) const fn object(self) -> &'static [u8] {
        match self {
            Self::ArpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/arp_path.o")),
            Self::TcpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcp_path.o")),
        }
    }

    /// The maps whose size `config` gives. Flows that no reply has confirmed have a quarter as many
    /// entries of their own.
    pub(crate) fn sizes(config: &Exploration) -> [(&'static str, usize); 5] {
        [
            ("stations", config.stations),
            ("repairs", config.stations),
            ("floods", config.floods),
            ("paths", config.flows),
            ("locked", config.flows.div_ceil(4)),
        ]
    }
}
