//! Identifiers of switches, ports and frames.

use std::fmt;

/// A switch, by its OpenFlow datapath id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SwitchId(pub u64);

/// 16 hexadecimal digits.
impl fmt::Display for SwitchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A port of a switch, by its OpenFlow number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PortNo(pub u32);

impl PortNo {
    /// The highest number of a physical port (`OFPP_MAX`).
    pub const MAX: Self = Self(0xffff_ff00);

    /// Packet-out port that applies the switch's rules (`OFPP_TABLE`).
    pub const TABLE: Self = Self(0xffff_fff9);

    /// Whether this is a valid physical port number.
    pub const fn is_real(self) -> bool {
        self.0 != 0 && self.0 <= Self::MAX.0
    }
}

impl fmt::Display for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A port of a given switch: one end of a link, or where a host is attached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SwitchPort {
    /// The switch.
    pub switch: SwitchId,
    /// The port.
    pub port: PortNo,
}

impl SwitchPort {
    /// Port `port` of the switch with datapath id `switch`.
    pub const fn new(switch: u64, port: u32) -> Self {
        Self { switch: SwitchId(switch), port: PortNo(port) }
    }
}

/// A frame of [`crate::Controller::packet_in`], as a reference to the bytes that the caller keeps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FrameRef(pub u64);
