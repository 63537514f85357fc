//! [`Error`]: why bytes are not the header that was asked for, and the counter which that reaches.

use core::fmt;

use crate::{EtherType, IpProtocol, Mac, PathType};

/// Why bytes were refused. A reader checks in the order of the header's bytes, after its length: the first
/// thing that is wrong is what is said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Error {
    /// The header is longer than what is there. Both count bytes from the header's first.
    Short {
        /// The bytes that the header has.
        need: usize,
        /// The bytes that are there.
        have: usize,
    },
    /// The caller's buffer is too small for what would be written; nothing was.
    Buffer {
        /// The bytes that would be written.
        need: usize,
        /// The bytes of the buffer.
        have: usize,
    },
    /// The frame is of another protocol.
    EtherType(EtherType),
    /// A Hello to another address than [`Mac::HELLO`]: it may come from further than the other end of the
    /// cable.
    Destination(Mac),
    /// A version of Hello, Path, IP or OpenFlow that is not the one read here.
    Version(u8),
    /// A type of Path frame, ICMPv6 or OpenFlow message that is not among those read here.
    Type(u8),
    /// A header whose length field is less than the header has.
    HeaderLength {
        /// The least that the header has, in bytes.
        least: usize,
        /// What its length field says, in bytes.
        given: usize,
    },
    /// A TCP option of a length that it does not come in.
    OptionLength {
        /// The option's name.
        option: &'static str,
        /// The bytes that it says it has, kind and length included.
        given: usize,
    },
    /// A TCP option that does not belong into this segment, or not a second time.
    Misplaced {
        /// The option's name.
        option: &'static str,
    },
    /// A TCP option that would not be read as it is to be written: a form that its version does not have, no
    /// address in a list of them, the number of another option.
    Unwritable {
        /// Its number at IANA.
        kind: u8,
    },
    /// The IP packet carries another protocol.
    Protocol(IpProtocol),
    /// A fragment of an IP packet: the others do not show their ports, so none is asked for them.
    Fragment,
    /// More IPv6 extension headers than [`Ipv6::MAX_EXTENSIONS`](crate::Ipv6::MAX_EXTENSIONS).
    Extensions,
    /// A field with a value that only other uses of the header have.
    Unsupported {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: u16,
    },
    /// A number that its field does not hold, to be written.
    Range {
        /// The field's name.
        field: &'static str,
        /// The number.
        value: u32,
        /// The greatest that the field holds.
        most: u32,
    },
    /// A field without which the others have no meaning is not there.
    Missing {
        /// The field's name.
        field: &'static str,
    },
    /// A field that is there once at most is there again.
    Repeated {
        /// The field's name.
        field: &'static str,
    },
    /// More VLAN tags than [`Ethernet::MAX_TAGS`](crate::Ethernet::MAX_TAGS) to be written.
    Tags(usize),
    /// Path frames of this type carry no original frame.
    NoOriginal(PathType),
    /// Path frames of this type carry an original frame, and are made with [`wrap`](crate::wrap) only.
    NeedsOriginal(PathType),
    /// A Hello without authentication, where a key is set.
    Unsigned,
    /// A Hello whose authentication was not made with the key.
    Signature,
}

impl Error {
    /// The name of the counter to which a frame refused for this reason is added.
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
            Self::Short { need, have } => write!(f, "the header has {need} bytes, and {have} are there"),
            Self::Buffer { need, have } => write!(f, "{need} bytes do not fit a buffer of {have}"),
            Self::EtherType(ethertype) => {
                write!(f, "the frame is of another protocol: its EtherType is {ethertype}")
            }
            Self::Destination(address) => write!(f, "a Hello to {address} instead of {}", Mac::HELLO),
            Self::Version(version) => write!(f, "version {version} is not known"),
            Self::Type(number) => write!(f, "type {number} is not known"),
            Self::HeaderLength { least, given } => {
                write!(f, "the header says that it has {given} bytes; it has at least {least}")
            }
            Self::OptionLength { option, given } => {
                write!(f, "the TCP option {option} does not come in {given} bytes")
            }
            Self::Misplaced { option } => write!(f, "the TCP option {option} does not belong there"),
            Self::Unwritable { kind } => write!(f, "no TCP option of kind {kind} says this"),
            Self::Protocol(protocol) => write!(f, "the packet carries IP protocol {protocol}"),
            Self::Fragment => f.write_str("the packet is a fragment"),
            Self::Extensions => {
                write!(f, "the packet has more than {} IPv6 extension headers", crate::Ipv6::MAX_EXTENSIONS)
            }
            Self::Unsupported { field, value } => write!(f, "{field} {value} is not supported"),
            Self::Range { field, value, most } => write!(f, "{field} holds up to {most}, not {value}"),
            Self::Missing { field } => write!(f, "{field} is missing"),
            Self::Repeated { field } => write!(f, "{field} is given twice"),
            Self::Tags(count) => {
                write!(f, "{count} VLAN tags are more than the {} a frame has", crate::Ethernet::MAX_TAGS)
            }
            Self::NoOriginal(path_type) => write!(f, "a {path_type} carries no original frame"),
            Self::NeedsOriginal(path_type) => write!(f, "a {path_type} is made from an original frame"),
            Self::Unsigned => f.write_str("the Hello is not authenticated, and a key is set"),
            Self::Signature => f.write_str("the Hello was not authenticated with the key that is set"),
        }
    }
}

impl core::error::Error for Error {}
