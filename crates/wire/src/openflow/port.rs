//! A switch's ports (section 7.2.1), and [`PortStatus`]: a change of one (section 7.4.3).

use core::fmt;

use super::list::Codec;
use super::reader::Reader;
use crate::writer::Writer;
use crate::{Error, Mac};

/// A port's number, or a reserved number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct PortNumber(pub u32);

impl PortNumber {
    /// The maximum number of a port.
    pub const MAX: Self = Self(0xffff_ff00);
    /// The packet's ingress port: only this number sends it back there.
    pub const IN_PORT: Self = Self(0xffff_fff8);
    /// Packet-out port that processes the packet as if it had arrived on the given ingress port.
    pub const TABLE: Self = Self(0xffff_fff9);
    /// All ports except the ingress and those with flooding disabled.
    pub const FLOOD: Self = Self(0xffff_fffb);
    /// All ports except the ingress.
    pub const ALL: Self = Self(0xffff_fffc);
    /// The controller, by packet-in.
    pub const CONTROLLER: Self = Self(0xffff_fffd);
    /// The switch itself.
    pub const LOCAL: Self = Self(0xffff_fffe);
    /// No port, or any port.
    pub const ANY: Self = Self(0xffff_ffff);
}

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IN_PORT => f.write_str("in_port"),
            Self::TABLE => f.write_str("table"),
            Self::FLOOD => f.write_str("flood"),
            Self::ALL => f.write_str("all"),
            Self::CONTROLLER => f.write_str("controller"),
            Self::LOCAL => f.write_str("local"),
            Self::ANY => f.write_str("any"),
            Self(number) => number.fmt(f),
        }
    }
}

/// A switch's description of a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Port {
    /// Its number.
    pub number: PortNumber,
    /// Its MAC address.
    pub address: Mac,
    /// Its name, padded with zeros.
    pub name: [u8; Port::NAME_LEN],
    /// Its configuration: [`Port::DOWN`] and other bits.
    pub config: u32,
    /// Its state: [`Port::LINK_DOWN`] and other bits.
    pub state: u32,
    /// Bits for rate and medium: current, advertised, supported, advertised by the peer.
    pub features: [u32; 4],
    /// Its rate, in kbit/s.
    pub speed: u32,
    /// Its maximum rate, in kbit/s.
    pub max_speed: u32,
}

impl Port {
    /// Length of a name, terminating zero included.
    pub const NAME_LEN: usize = 16;
    /// Bit of `config`: administratively down.
    pub const DOWN: u32 = 1;
    /// Bit of `state`: there is no link.
    pub const LINK_DOWN: u32 = 1;
    const LEN: usize = 64;

    /// A port name, truncated to fit.
    pub fn name_of(text: &str) -> [u8; Self::NAME_LEN] {
        let mut name = [0; Self::NAME_LEN];
        let fits = Self::NAME_LEN - 1;
        name.iter_mut().zip(text.bytes().take(fits)).for_each(|(place, byte)| *place = byte);
        name
    }
}

impl Codec<'_> for Port {
    fn encoded_len(&self) -> usize {
        Self::LEN
    }

    fn read(reader: &mut Reader) -> Result<Self, Error> {
        let number = PortNumber(reader.u32()?);
        reader.skip(4)?;
        let address = Mac(reader.array()?);
        reader.skip(2)?;
        let name = reader.array()?;
        let (config, state) = (reader.u32()?, reader.u32()?);
        let features = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        let (speed, max_speed) = (reader.u32()?, reader.u32()?);
        Ok(Self { number, address, name, config, state, features, speed, max_speed })
    }

    fn put(&self, writer: &mut Writer) {
        writer.put(&self.number.0.to_be_bytes());
        writer.skip(4);
        writer.put(&self.address.0);
        writer.skip(2);
        writer.put(&self.name);
        let [a, b, c, d] = self.features;
        for number in [self.config, self.state, a, b, c, d, self.speed, self.max_speed] {
            writer.put(&number.to_be_bytes());
        }
    }
}

/// The change of a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum PortReason {
    /// Added.
    Add = 0,
    /// Removed.
    Delete = 1,
    /// Its configuration or state changed.
    Modify = 2,
}

/// A port was added, removed or changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PortStatus {
    /// The change.
    pub reason: PortReason,
    /// The port, in its current or last state.
    pub port: Port,
}

impl PortStatus {
    pub(crate) fn encoded_len(&self) -> usize {
        8 + Port::LEN
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let reason = match reader.u8()? {
            0 => PortReason::Add,
            1 => PortReason::Delete,
            2 => PortReason::Modify,
            other => {
                return Err(Error::Unsupported { field: "reason of a port status", value: other.into() });
            }
        };
        reader.skip(7)?;
        Ok(Self { reason, port: Port::read(reader)? })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&[self.reason as u8]);
        writer.skip(7);
        self.port.put(writer);
    }
}
