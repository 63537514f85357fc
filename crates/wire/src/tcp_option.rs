//! [`TcpOption`]: the options of a TCP header (RFC 9293, section 3.1).

use core::iter::FusedIterator;

use crate::Error;
use crate::mptcp::Option as MptcpOption;
use crate::writer::Writer;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
pub(crate) const MPTCP: u8 = 30;

/// An option of a TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TcpOption<'a> {
    /// The maximum segment size that the sender accepts, in bytes (RFC 9293, section 3.7.1).
    MaximumSegmentSize(u16),
    /// The shift of the sender's windows, in bits (RFC 7323, section 2); values above 14 mean 14.
    WindowScale(u8),
    /// The sender supports selective acknowledgements (RFC 2018, section 2).
    SackPermitted,
    /// Data received beyond the cumulative acknowledgement (RFC 2018, section 3).
    Sack(SackBlocks<'a>),
    /// Timestamps (RFC 7323, section 3).
    Timestamps {
        /// The sender's clock.
        value: u32,
        /// The value received last.
        echo: u32,
    },
    /// A Multipath TCP option.
    Mptcp(MptcpOption<'a>),
    /// An unknown option.
    Unknown {
        /// Its IANA number.
        kind: u8,
        /// The bytes after its length.
        data: &'a [u8],
    },
}

impl<'a> TcpOption<'a> {
    /// Length of kind and length.
    pub(crate) const START: usize = 2;
    /// Maximum length of a header's options.
    pub const MAX_LEN: usize = 40;

    /// Parses the option of this kind from the bytes after its length.
    fn parse(kind: u8, data: &'a [u8]) -> Result<Self, Error> {
        let wrong = |option| Error::OptionLength { option, given: Self::START + data.len() };
        match (kind, data) {
            (MAXIMUM_SEGMENT_SIZE, &[a, b]) => Ok(Self::MaximumSegmentSize(u16::from_be_bytes([a, b]))),
            (MAXIMUM_SEGMENT_SIZE, _) => Err(wrong("maximum segment size")),
            (WINDOW_SCALE, &[shift]) => Ok(Self::WindowScale(shift)),
            (WINDOW_SCALE, _) => Err(wrong("window scale")),
            (SACK_PERMITTED, []) => Ok(Self::SackPermitted),
            (SACK_PERMITTED, _) => Err(wrong("SACK permitted")),
            (SACK, data) => match data.as_chunks() {
                (blocks @ [_, ..], []) => Ok(Self::Sack(SackBlocks(blocks))),
                _ => Err(wrong("SACK")),
            },
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => Ok(Self::Timestamps {
                value: u32::from_be_bytes([a, b, c, d]),
                echo: u32::from_be_bytes([e, f, g, h]),
            }),
            (TIMESTAMPS, _) => Err(wrong("timestamps")),
            (MPTCP, data) => MptcpOption::parse(data).map(Self::Mptcp),
            (kind, data) => Ok(Self::Unknown { kind, data }),
        }
    }

    /// Its IANA number.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::MaximumSegmentSize(_) => MAXIMUM_SEGMENT_SIZE,
            Self::WindowScale(_) => WINDOW_SCALE,
            Self::SackPermitted => SACK_PERMITTED,
            Self::Sack(_) => SACK,
            Self::Timestamps { .. } => TIMESTAMPS,
            Self::Mptcp(_) => MPTCP,
            Self::Unknown { kind, .. } => *kind,
        }
    }

    /// Its length, kind and length included.
    #[expect(clippy::len_without_is_empty, reason = "no option is empty")]
    pub fn len(&self) -> usize {
        match self {
            Self::MaximumSegmentSize(_) => 4,
            Self::WindowScale(_) => 3,
            Self::SackPermitted => 2,
            Self::Sack(blocks) => Self::START + blocks.0.as_flattened().len(),
            Self::Timestamps { .. } => 10,
            Self::Mptcp(option) => option.len(),
            Self::Unknown { data, .. } => Self::START + data.len(),
        }
    }

    /// Writes `options`, padded to a whole word with zeros, which end the list; returns the length, a
    /// multiple of 4.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for the first option that would parse differently, and [`Error::Buffer`], also
    /// if they fit no header. Nothing is written then.
    pub fn write_all(options: &[Self], out: &mut [u8]) -> Result<usize, Error> {
        let need = options.iter().map(Self::len).sum::<usize>().next_multiple_of(4);
        let error = Error::Buffer { need, have: out.len().min(Self::MAX_LEN) };
        let out = out.get_mut(..need).ok_or(error)?;
        let mut whole = [0; Self::MAX_LEN];
        let whole = whole.get_mut(..need).ok_or(error)?;
        let mut writer = Writer::new(whole, need)?;
        for option in options {
            option.write(&mut writer);
        }
        let mut read = TcpOptions::new(whole);
        match options.iter().find(|option| read.next() != Some(Ok(**option))) {
            Some(option) => Err(Error::Unwritable { kind: option.kind() }),
            None => {
                out.copy_from_slice(whole);
                Ok(need)
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        let length = u8::try_from(self.len()).unwrap_or(u8::MAX);
        writer.put(&[self.kind(), length]);
        match self {
            Self::MaximumSegmentSize(bytes) => writer.put(&bytes.to_be_bytes()),
            Self::WindowScale(shift) => writer.put(&[*shift]),
            Self::SackPermitted => {}
            Self::Sack(blocks) => writer.put(blocks.0.as_flattened()),
            Self::Timestamps { value, echo } => {
                writer.put(&value.to_be_bytes());
                writer.put(&echo.to_be_bytes());
            }
            Self::Mptcp(option) => option.write(writer),
            Self::Unknown { data, .. } => writer.put(data),
        }
    }
}

/// Received ranges in a SACK option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SackBlocks<'a>(&'a [[u8; 8]]);

impl<'a> SackBlocks<'a> {
    /// Ranges as in the option's bytes.
    pub const fn new(blocks: &'a [[u8; 8]]) -> Self {
        Self(blocks)
    }

    /// The ranges: the first sequence number, and the one after the last.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        self.0.iter().map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
        })
    }
}

/// A malformed option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MalformedOption {
    /// Its IANA number.
    pub kind: u8,
    /// Its offset from the first option, in bytes.
    pub at: usize,
    /// The error. After [`Error::Short`] and [`Error::HeaderLength`] no further option can be parsed.
    pub error: Error,
}

/// Parses the options of a header, without padding. A malformed option is returned as such, and those after
/// it are parsed; parsing ends at an option length below the minimum of two bytes ([`Error::HeaderLength`])
/// or beyond the header ([`Error::Short`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpOptions<'a> {
    options: &'a [u8],
    at: usize,
}

impl<'a> TcpOptions<'a> {
    /// Parses `options`: the bytes of a TCP header after the first 20.
    pub const fn new(options: &'a [u8]) -> Self {
        Self { options, at: 0 }
    }

    /// The next option, delimited but not parsed.
    pub(crate) fn next_raw(&mut self) -> Option<Result<RawOption<'a>, MalformedOption>> {
        let rest = self.options.get(self.at..)?;
        let skipped = rest.iter().take_while(|kind| **kind == NO_OPERATION).count();
        let (at, rest) = (self.at + skipped, rest.get(skipped..)?);
        let have = rest.len();
        let (kind, error) = match *rest {
            [] | [END, ..] => return None,
            [kind] => (kind, Error::Short { need: TcpOption::START, have }),
            [kind, length, ..] => {
                let (least, given) = (TcpOption::START, usize::from(length));
                match rest.get(least..given) {
                    Some(data) => {
                        self.at = at + given;
                        return Some(Ok(RawOption { at, kind, data }));
                    }
                    None if given < least => (kind, Error::HeaderLength { least, given }),
                    None => (kind, Error::Short { need: given, have }),
                }
            }
        };
        self.at = self.options.len();
        Some(Err(MalformedOption { kind, at, error }))
    }
}

/// A delimited option.
pub(crate) struct RawOption<'a> {
    /// Its offset from the first option, in bytes.
    pub(crate) at: usize,
    /// Its IANA number.
    pub(crate) kind: u8,
    /// The bytes after its length.
    pub(crate) data: &'a [u8],
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = Result<TcpOption<'a>, MalformedOption>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.next_raw()?.and_then(|RawOption { at, kind, data }| {
            TcpOption::parse(kind, data).map_err(|error| MalformedOption { kind, at, error })
        });
        Some(read)
    }
}

impl FusedIterator for TcpOptions<'_> {}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    fn read(options: &[u8]) -> Vec<Result<TcpOption<'_>, MalformedOption>> {
        TcpOptions::new(options).collect()
    }

    fn malformed<'a>(kind: u8, at: usize, error: Error) -> Result<TcpOption<'a>, MalformedOption> {
        Err(MalformedOption { kind, at, error })
    }

    #[test]
    fn what_only_fills_up_is_skipped_and_the_end_is_the_end() {
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[1, 1, 1, 1]), []);
        assert_eq!(read(&[0, 3, 3, 7]), []);
        assert_eq!(read(&[1, 3, 3, 7, 0, 3, 3, 8]), [Ok(TcpOption::WindowScale(7))]);
    }

    #[test]
    fn a_malformed_option_does_not_hide_those_behind_it() {
        for (kind, option, lengths) in [
            (2, "maximum segment size", &[2, 3, 5, 6][..]),
            (3, "window scale", &[2, 4]),
            (4, "SACK permitted", &[3, 10]),
            (5, "SACK", &[2, 9, 11, 16]),
            (8, "timestamps", &[2, 9, 11, 12]),
        ] {
            for &given in lengths {
                let mut options = [&[1, kind, given as u8][..], &[0xa5; 14]].concat();
                options.truncate(1 + given);
                options.extend([4, 2]);
                let wrong = malformed(kind, 1, Error::OptionLength { option, given });
                assert_eq!(read(&options), [wrong, Ok(TcpOption::SackPermitted)], "{option} {given}");
            }
        }
    }

    #[test]
    fn a_length_that_leads_nowhere_ends_the_reading() {
        let scale = Ok(TcpOption::WindowScale(7));
        for (rest, error) in [
            (&[30, 0, 4, 2][..], Error::HeaderLength { least: 2, given: 0 }),
            (&[30, 1, 4, 2], Error::HeaderLength { least: 2, given: 1 }),
            (&[30, 5, 4, 2], Error::Short { need: 5, have: 4 }),
            (&[30, 255, 4, 2], Error::Short { need: 255, have: 4 }),
            (&[30], Error::Short { need: 2, have: 1 }),
        ] {
            let options = [&[3, 3, 7][..], rest].concat();
            assert_eq!(read(&options), [scale, malformed(30, 3, error)], "{rest:?}");
        }
    }

    #[test]
    fn what_would_not_be_read_as_it_is_written_is_not_written() {
        use crate::mptcp::{Capable, CapableFlags, FirstData, Key, Keys, Option, RemoveAddr, Version};
        let both = |data| Keys::Both { sender: Key(1), receiver: Key(2), data };
        let capable = |version, keys| {
            TcpOption::Mptcp(Option::Capable(Capable { version, flags: CapableFlags::HMAC, keys }))
        };
        for (option, kind) in [
            (capable(Version::V0, Keys::None), 30),
            (capable(Version::V0, both(Some(FirstData { length: 1, checksum: None }))), 30),
            (TcpOption::Mptcp(Option::RemoveAddr(RemoveAddr { address_ids: &[] })), 30),
            (TcpOption::Mptcp(Option::Unknown { subtype: 9, data: &[0xa0] }), 30),
            (TcpOption::Mptcp(Option::Unknown { subtype: 1, data: &[0x10; 10] }), 30),
            (TcpOption::Sack(SackBlocks(&[])), 5),
            (TcpOption::Unknown { kind: 0, data: &[] }, 0),
            (TcpOption::Unknown { kind: 1, data: &[] }, 1),
            (TcpOption::Unknown { kind: 3, data: &[1] }, 3),
        ] {
            let mut out = [0xa5; 40];
            let written = TcpOption::write_all(&[TcpOption::SackPermitted, option], &mut out);
            assert_eq!((written, out), (Err(Error::Unwritable { kind }), [0xa5; 40]), "{option:?}");
        }
    }

    #[test]
    fn options_fill_whole_words_and_no_more_than_a_header_has() {
        let timestamps = TcpOption::Timestamps { value: 1, echo: 2 };
        let mut out = [0xa5; 64];
        assert_eq!(TcpOption::write_all(&[timestamps], &mut out), Ok(12));
        assert_eq!(out[..13], [8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0xa5]);
        assert_eq!(TcpOption::write_all(&[timestamps; 4], &mut out), Ok(40));
        let error = Err(Error::Buffer { need: 52, have: 40 });
        assert_eq!(TcpOption::write_all(&[timestamps; 5], &mut out), error);
        let error = Err(Error::Buffer { need: 12, have: 11 });
        assert_eq!(TcpOption::write_all(&[timestamps], &mut out[..11]), error);
    }
}
