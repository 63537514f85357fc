//! [`Option`]: a Multipath TCP option in any of its forms.

use super::length::length_error;
use super::{AddAddr, Capable, Dss, Fail, FastClose, Join, Priority, RemoveAddr, Reset};
use crate::writer::Writer;
use crate::{Error, TcpFlags};

/// A Multipath TCP option, kind 30.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Option<'a> {
    /// MP_CAPABLE, subtype 0: opens a connection.
    Capable(Capable),
    /// MP_JOIN, subtype 1: joins a connection.
    Join(Join),
    /// DSS, subtype 2: maps and acknowledges data.
    Dss(Dss),
    /// ADD_ADDR, subtype 3: announces an address.
    AddAddr(AddAddr),
    /// REMOVE_ADDR, subtype 4: withdraws announcements.
    RemoveAddr(RemoveAddr<'a>),
    /// MP_PRIO, subtype 5: sets or clears a subflow's backup state.
    Priority(Priority),
    /// MP_FAIL, subtype 6: reports a wrong checksum.
    Fail(Fail),
    /// MP_FASTCLOSE, subtype 7: ends the connection at once.
    FastClose(FastClose),
    /// MP_TCPRST, subtype 8: the reason of a subflow's reset.
    Reset(Reset),
    /// An unknown subtype, which hosts ignore.
    Unknown {
        /// The subtype, 9 to 15. 15 is for experiments.
        subtype: u8,
        /// The bytes after kind and length; the subtype is the upper half of the first.
        data: &'a [u8],
    },
}

impl<'a> Option<'a> {
    /// Parses the option from the bytes after its kind and length.
    ///
    /// # Errors
    /// [`Error::OptionLength`] if no form of the subtype has this length, and [`Error::Version`] for
    /// MP_CAPABLE of a version other than 0 and 1. Reserved bits are ignored.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let first = data.first().ok_or(length_error("Multipath TCP", 0))?;
        match first >> 4 {
            0 => Capable::parse(data).map(Self::Capable),
            1 => Join::parse(data).map(Self::Join),
            2 => Dss::parse(data).map(Self::Dss),
            3 => AddAddr::parse(data).map(Self::AddAddr),
            4 => RemoveAddr::parse(data).map(Self::RemoveAddr),
            5 => Priority::parse(data).map(Self::Priority),
            6 => Fail::parse(data).map(Self::Fail),
            7 => FastClose::parse(data).map(Self::FastClose),
            8 => Reset::parse(data).map(Self::Reset),
            subtype => Ok(Self::Unknown { subtype, data }),
        }
    }

    /// The subtype, 0 to 15.
    pub const fn subtype(&self) -> u8 {
        match self {
            Self::Capable(_) => 0,
            Self::Join(_) => 1,
            Self::Dss(_) => 2,
            Self::AddAddr(_) => 3,
            Self::RemoveAddr(_) => 4,
            Self::Priority(_) => 5,
            Self::Fail(_) => 6,
            Self::FastClose(_) => 7,
            Self::Reset(_) => 8,
            Self::Unknown { subtype, .. } => *subtype,
        }
    }

    /// Whether an option of this form is allowed in a segment with these flags: a handshake in its own,
    /// MP_TCPRST in a reset, others in any without SYN.
    pub const fn belongs(&self, flags: TcpFlags) -> bool {
        match self {
            Self::Capable(capable) => capable.belongs(flags),
            Self::Join(join) => join.belongs(flags),
            Self::Reset(_) => flags.contains(TcpFlags::RST),
            Self::Unknown { .. } => true,
            _ => !flags.contains(TcpFlags::SYN),
        }
    }

    /// Length of the option, kind and length included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Capable(capable) => capable.len(),
            Self::Join(join) => join.len(),
            Self::Dss(dss) => dss.len(),
            Self::AddAddr(add) => add.len(),
            Self::RemoveAddr(remove) => remove.len(),
            Self::Priority(priority) => priority.len(),
            Self::Fail(_) | Self::FastClose(_) => 12,
            Self::Reset(_) => 4,
            Self::Unknown { data, .. } => 2 + data.len(),
        }
    }

    /// Writes the bytes after kind and length.
    pub(crate) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Capable(capable) => capable.write(writer),
            Self::Join(join) => join.write(writer),
            Self::Dss(dss) => dss.write(writer),
            Self::AddAddr(add) => add.write(writer),
            Self::RemoveAddr(remove) => remove.write(writer),
            Self::Priority(priority) => priority.write(writer),
            Self::Fail(fail) => fail.write(writer),
            Self::FastClose(close) => close.write(writer),
            Self::Reset(reset) => reset.write(writer),
            Self::Unknown { data, .. } => writer.put(data),
        }
    }
}
