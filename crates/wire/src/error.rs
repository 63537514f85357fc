//! [`Error`]: why bytes are not a valid header, and the name of its counter.

use core::fmt;

use crate::Mac;
use crate::ether_type::{EtherType, MAX_TAGS};
use crate::ip_common::{IpProtocol, MAX_EXTENSIONS};
use crate::path_type::PathType;

/// Why bytes were rejected. After the length, parsers check fields in the order of their bytes and report
/// the first error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Error {
    /// The header is longer than the available bytes. Both lengths count from the header's first byte.
    Short {
        /// Length of the header.
        need: usize,
        /// Available bytes.
        have: usize,
    },
    /// The caller's buffer is too small; nothing was written.
    Buffer {
        /// Required bytes.
        need: usize,
        /// Length of the buffer.
        have: usize,
    },
    /// The frame carries another protocol.
    EtherType(EtherType),
    /// A Hello to another address than [`Mac::HELLO`]: it may come from beyond the other end of the link.
    Destination(Mac),
    /// An unsupported version of Hello, Path, IP or OpenFlow.
    Version(u8),
    /// An unsupported type of Path frame, ICMPv6 or OpenFlow message.
    Type(u8),
    /// A length field below the minimum of its header.
    HeaderLength {
        /// The minimum length, in bytes.
        least: usize,
        /// The length field, in bytes.
        given: usize,
    },
    /// A TCP option of an invalid length.
    OptionLength {
        /// The option's name.
        option: &'static str,
        /// Its length, including kind and length.
        given: usize,
    },
    /// A TCP option that is not allowed in this segment, or not twice.
    Misplaced {
        /// The option's name.
        option: &'static str,
    },
    /// A TCP option that would parse differently once written: a form that its version does not have, an
    /// empty list of addresses, the number of another option.
    Unwritable {
        /// Its IANA number.
        kind: u8,
    },
    /// The IP packet carries another protocol.
    Protocol(IpProtocol),
    /// A fragment of an IP packet: only the first has ports, so none are read.
    Fragment,
    /// More IPv6 extension headers than [`Ipv6::MAX_EXTENSIONS`](crate::Ipv6::MAX_EXTENSIONS).
    Extensions,
    /// An unsupported value of a field.
    Unsupported {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: u16,
    },
    /// A number too large for its field, when writing.
    Range {
        /// The field's name.
        field: &'static str,
        /// The number.
        value: u32,
        /// The maximum of the field.
        most: u32,
    },
    /// A field required by other fields is absent.
    Missing {
        /// The field's name.
        field: &'static str,
    },
    /// A field that is allowed only once is repeated.
    Repeated {
        /// The field's name.
        field: &'static str,
    },
    /// More VLAN tags than [`Ethernet::MAX_TAGS`](crate::Ethernet::MAX_TAGS), when writing.
    Tags(usize),
    /// Path frames of this type carry no original frame.
    NoOriginal(PathType),
    /// Path frames of this type carry an original frame; only [`wrap`](crate::wrap) makes them.
    NeedsOriginal(PathType),
    /// A Hello without authentication, although a key is configured.
    Unsigned,
    /// A Hello whose signature does not match the key.
    Signature,
}

impl Error {
    /// The name of the counter of frames rejected for this reason.
    pub const fn counter(&self) -> &'static str {
        match self {
            Self::Short { .. } => "short",
            Self::Buffer { .. } => "buffer",
            Self::EtherType(_) => "ethertype",
            Self::Destination(_) => "destination",
            Self::Version(_) => "version",
            Self::Type(_) => "type",
            Self::HeaderLength { .. } => "header_length",
            Self::OptionLength { .. } => "option_length",
            Self::Misplaced { .. } => "misplaced",
            Self::Unwritable { .. } => "unwritable",
            Self::Protocol(_) => "protocol",
            Self::Fragment => "fragment",
            Self::Extensions => "extensions",
            Self::Unsupported { .. } => "unsupported",
            Self::Range { .. } => "range",
            Self::Missing { .. } => "missing",
            Self::Repeated { .. } => "repeated",
            Self::Tags(_) => "tags",
            Self::NoOriginal(_) => "no_original",
            Self::NeedsOriginal(_) => "needs_original",
            Self::Unsigned => "unsigned",
            Self::Signature => "signature",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { need, have } => {
                write!(f, "the header needs {need} bytes, but only {have} are available")
            }
            Self::Buffer { need, have } => write!(f, "{need} bytes do not fit a buffer of {have} bytes"),
            Self::EtherType(ethertype) => {
                write!(f, "the frame carries another protocol: EtherType {ethertype}")
            }
            Self::Destination(address) => write!(f, "a Hello to {address} instead of {}", Mac::HELLO),
            Self::Version(version) => write!(f, "version {version} is not supported"),
            Self::Type(number) => write!(f, "type {number} is not supported"),
            Self::HeaderLength { least, given } => {
                write!(f, "the header's length field is {given} bytes, below the minimum of {least}")
            }
            Self::OptionLength { option, given } => {
                write!(f, "the TCP option {option} has an invalid length of {given} bytes")
            }
            Self::Misplaced { option } => write!(f, "the TCP option {option} is not allowed here"),
            Self::Unwritable { kind } => write!(f, "a TCP option of kind {kind} cannot have this content"),
            Self::Protocol(protocol) => write!(f, "the packet carries IP protocol {protocol}"),
            Self::Fragment => f.write_str("the packet is a fragment"),
            Self::Extensions => {
                write!(f, "the packet has more than {} IPv6 extension headers", MAX_EXTENSIONS)
            }
            Self::Unsupported { field, value } => write!(f, "{field} {value} is not supported"),
            Self::Range { field, value, most } => write!(f, "{field} holds up to {most}, not {value}"),
            Self::Missing { field } => write!(f, "{field} is missing"),
            Self::Repeated { field } => write!(f, "{field} is given twice"),
            Self::Tags(count) => {
                write!(f, "a frame has at most {} VLAN tags, not {count}", MAX_TAGS)
            }
            Self::NoOriginal(path_type) => write!(f, "a {path_type} carries no original frame"),
            Self::NeedsOriginal(path_type) => write!(f, "a {path_type} needs an original frame"),
            Self::Unsigned => f.write_str("the Hello is not authenticated, but a key is configured"),
            Self::Signature => f.write_str("the Hello's signature does not match the configured key"),
        }
    }
}

impl core::error::Error for Error {}
