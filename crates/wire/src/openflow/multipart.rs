//! Requests whose replies may take several messages (section 7.3.5): a switch's description, ports, rules
//! and number of rules.

use super::features::SwitchDescription;
use super::flow_stats::{FlowCounts, FlowStats, FlowStatsRequest};
use super::header::MULTIPART_LEN;
use super::list::List;
use super::port::Port;
use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

const DESCRIPTION: u16 = 0;
const FLOWS: u16 = 1;
const COUNTS: u16 = 2;
const PORTS: u16 = 13;
/// The flag of all messages of a reply except the last.
const MORE: u16 = 1;
/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MultipartRequest {
    /// The switch's description.
    Description,
    /// Its rules.
    Flows(FlowStatsRequest),
    /// The number of rules (section 7.3.5.3).
    Counts(FlowStatsRequest),
    /// Its ports.
    Ports,
}

impl MultipartRequest {
    pub(crate) fn encoded_len(&self) -> usize {
        MULTIPART_LEN
            + match self {
                Self::Description | Self::Ports => 0,
                Self::Flows(request) | Self::Counts(request) => request.encoded_len(),
            }
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let (kind, flags) = (reader.u16()?, reader.u16()?);
        reader.skip(4)?;
        if flags & MORE != 0 {
            return Err(Error::Unsupported { field: "multipart request in parts", value: kind });
        }
        match kind {
            DESCRIPTION => Ok(Self::Description),
            FLOWS => FlowStatsRequest::read(reader).map(Self::Flows),
            COUNTS => FlowStatsRequest::read(reader).map(Self::Counts),
            PORTS => Ok(Self::Ports),
            _ => Err(Error::Unsupported { field: "multipart request", value: kind }),
        }
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        let kind = match self {
            Self::Description => DESCRIPTION,
            Self::Flows(_) => FLOWS,
            Self::Counts(_) => COUNTS,
            Self::Ports => PORTS,
        };
        writer.put(&kind.to_be_bytes());
        writer.skip(MULTIPART_LEN - 2);
        if let Self::Flows(request) | Self::Counts(request) = self {
            request.put(writer);
        }
    }
}

/// A reply.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MultipartReply<'a> {
    /// The switch's description.
    Description(SwitchDescription<'a>),
    /// Some of its rules.
    Flows {
        /// The rules.
        flows: List<'a, FlowStats<'a>>,
        /// Whether more messages follow.
        more: bool,
    },
    /// The number of rules.
    Counts(FlowCounts),
    /// Some of its ports.
    Ports {
        /// The ports.
        ports: List<'a, Port>,
        /// Whether more messages follow.
        more: bool,
    },
}

impl<'a> MultipartReply<'a> {
    pub(crate) fn encoded_len(&self) -> usize {
        MULTIPART_LEN
            + match self {
                Self::Description(description) => description.encoded_len(),
                Self::Flows { flows, .. } => flows.encoded_len(),
                Self::Counts(counts) => counts.encoded_len(),
                Self::Ports { ports, .. } => ports.encoded_len(),
            }
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let (kind, flags) = (reader.u16()?, reader.u16()?);
        reader.skip(4)?;
        let more = flags & MORE != 0;
        match kind {
            DESCRIPTION => SwitchDescription::read(reader).map(Self::Description),
            FLOWS => Ok(Self::Flows { flows: List::read(*reader)?, more }),
            COUNTS => FlowCounts::read(reader).map(Self::Counts),
            PORTS => Ok(Self::Ports { ports: List::read(*reader)?, more }),
            _ => Err(Error::Unsupported { field: "multipart reply", value: kind }),
        }
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        let (kind, more) = match self {
            Self::Description(_) => (DESCRIPTION, false),
            Self::Flows { more, .. } => (FLOWS, *more),
            Self::Counts(_) => (COUNTS, false),
            Self::Ports { more, .. } => (PORTS, *more),
        };
        writer.put(&kind.to_be_bytes());
        writer.put(&if more { MORE } else { 0 }.to_be_bytes());
        writer.skip(4);
        match self {
            Self::Description(description) => description.put(writer),
            Self::Flows { flows, .. } => flows.put(writer),
            Self::Counts(counts) => counts.put(writer),
            Self::Ports { ports, .. } => ports.put(writer),
        }
    }
}
