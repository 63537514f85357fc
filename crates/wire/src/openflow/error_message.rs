//! [`ErrorMessage`]: the rejected message, and why (section 7.4.4).

use core::fmt;

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The peer rejected a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ErrorMessage<'a> {
    /// The error type.
    pub kind: u16,
    /// The error code within the type.
    pub code: u16,
    /// The first bytes of the rejected message; a text for a failed Hello.
    pub data: &'a [u8],
}

#[allow(missing_docs, reason = "the specification's names")]
impl ErrorMessage<'_> {
    pub const HELLO_FAILED: u16 = 0;
    pub const BAD_REQUEST: u16 = 1;
    pub const BAD_ACTION: u16 = 2;
    pub const BAD_INSTRUCTION: u16 = 3;
    pub const BAD_MATCH: u16 = 4;
    pub const FLOW_MOD_FAILED: u16 = 5;
    pub const ROLE_REQUEST_FAILED: u16 = 11;
    /// The code of a [`Self::BAD_REQUEST`] from a controller with the secondary role.
    pub const IS_SECONDARY: u16 = 10;
}

impl fmt::Display for ErrorMessage<'_> {
    /// The specification's name of the error in words, such as `bad request is slave`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, codes) = match NAMES.get(usize::from(self.kind)) {
            Some(names) => *names,
            None if self.kind == EXPERIMENTER => ("experimenter", &[] as &[_]),
            None => return write!(f, "error of type {}, code {}", self.kind, self.code),
        };
        match codes.get(usize::from(self.code)) {
            Some(code) => write!(f, "{kind} {code}"),
            None => write!(f, "{kind} {}", self.code),
        }
    }
}

const EXPERIMENTER: u16 = 0xffff;
/// The error types, each with its codes, by number.
#[rustfmt::skip]
const NAMES: [(&str, &[&str]); 14] = [
    ("hello failed", &["incompatible", "eperm"]),
    ("bad request", &["bad version", "bad type", "bad multipart", "bad experimenter", "bad exp type",
        "eperm", "bad len", "buffer empty", "buffer unknown", "bad table id", "is slave", "bad port",
        "bad packet", "multipart buffer overflow"]),
    ("bad action", &["bad type", "bad len", "bad experimenter", "bad exp type", "bad out port",
        "bad argument", "eperm", "too many", "bad queue", "bad out group", "match inconsistent",
        "unsupported order", "bad tag", "bad set type", "bad set len", "bad set argument"]),
    ("bad instruction", &["unknown inst", "unsup inst", "bad table id", "unsup metadata",
        "unsup metadata mask", "bad experimenter", "bad exp type", "bad len", "eperm"]),
    ("bad match", &["bad type", "bad len", "bad tag", "bad dl addr mask", "bad nw addr mask",
        "bad wildcards", "bad field", "bad value", "bad mask", "bad prereq", "dup field", "eperm"]),
    ("flow mod failed", &["unknown", "table full", "bad table id", "overlap", "eperm", "bad timeout",
        "bad command", "bad flags"]),
    ("group mod failed", &["group exists", "invalid group", "weight unsupported", "out of groups",
        "out of buckets", "chaining unsupported", "watch unsupported", "loop", "unknown group",
        "chained group", "bad type", "bad command", "bad bucket", "bad watch", "eperm"]),
    ("port mod failed", &["bad port", "bad hw addr", "bad config", "bad advertise", "eperm"]),
    ("table mod failed", &["bad table", "bad config", "eperm"]),
    ("queue op failed", &["bad port", "bad queue", "eperm"]),
    ("switch config failed", &["bad flags", "bad len", "eperm"]),
    ("role request failed", &["stale", "unsup", "bad role"]),
    ("meter mod failed", &["unknown", "meter exists", "invalid meter", "unknown meter", "bad command",
        "bad flags", "bad rate", "bad burst", "bad band", "bad band value", "out of meters",
        "out of bands"]),
    ("table features failed", &["bad table", "bad metadata", "bad type", "bad len", "bad argument",
        "eperm"]),
];

impl<'a> ErrorMessage<'a> {
    pub(crate) fn encoded_len(&self) -> usize {
        4 + self.data.len()
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(Self { kind: reader.u16()?, code: reader.u16()?, data: reader.rest() })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.kind.to_be_bytes());
        writer.put(&self.code.to_be_bytes());
        writer.put(self.data);
    }
}
