//! [`Role`]: the kind of neighbour at a port: a switch, hosts, or none known.

/// The role of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Down,
    Switch,
    /// Not known yet: the port may still turn out to lead to a switch.
    Settling,
    /// The port led to a switch but no longer does.
    Quarantine,
    Host,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Switch => "switch",
            Self::Settling => "settling",
            Self::Quarantine => "quarantine",
            Self::Host => "host",
        }
    }
}
