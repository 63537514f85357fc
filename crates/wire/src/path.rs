//! Path frames: the five frames by which switches find, confirm and repair the path of a flow (TCP-Path,
//! section III). The format is in `docs/wire-format.md`.

use core::fmt;

use crate::ethernet::MIN_FRAME;
use crate::path_type::PathType;
use crate::writer::Writer;
use crate::{Error, EtherType, Ethernet, Mac, TcpFrame, Tuple, VlanTag};

/// Bytes that wrapping adds to a frame: the Path header.
pub const PATH_HEADER_LEN: usize = 20;

/// The supported version of Path frames.
const VERSION: u8 = 1;

impl PathType {
    /// The type with this number.
    ///
    /// # Errors
    /// [`Error::Type`].
    pub const fn from_number(number: u8) -> Result<Self, Error> {
        match number {
            1 => Ok(Self::Request),
            2 => Ok(Self::Reply),
            3 => Ok(Self::Fail),
            4 => Ok(Self::RecoveryRequest),
            5 => Ok(Self::RecoveryReply),
            _ => Err(Error::Type(number)),
        }
    }
}

/// The content of a Path frame, apart from the original frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PathHeader {
    /// Its type.
    pub path_type: PathType,
    /// Switches that have forwarded it; 255 means 255 or more.
    pub hops: u8,
    /// The exploration: the SYN's initial sequence number, or a random number of the source's edge in a
    /// recovery.
    pub id: u32,
    /// The flow, from the Ethernet source to the original destination.
    pub tuple: Tuple,
}

impl PathHeader {
    /// The Ethernet destination: broadcast, or the host towards which it travels.
    pub const fn ethernet_destination(&self) -> Mac {
        if self.path_type.is_flooded() { Mac::BROADCAST } else { self.tuple.destination }
    }

    /// Writes a frame without an original, in the VLAN of `tags`, padded to [`MIN_FRAME`]; returns its
    /// length.
    ///
    /// # Errors
    /// [`Error::NeedsOriginal`], [`Error::Tags`], and [`Error::Buffer`].
    pub fn write(&self, tags: &[VlanTag], ethertype: EtherType, out: &mut [u8]) -> Result<usize, Error> {
        if self.path_type.carries_original() {
            return Err(Error::NeedsOriginal(self.path_type));
        }
        if tags.len() > Ethernet::MAX_TAGS {
            return Err(Error::Tags(tags.len()));
        }
        let need = (Ethernet::HEADER_LEN + tags.len() * VlanTag::LEN + PATH_HEADER_LEN).max(MIN_FRAME);
        let mut writer = Writer::new(out, need)?;
        writer.put(&self.ethernet_destination().0);
        writer.put(&self.tuple.source.0);
        tags.iter().for_each(|tag| writer.put(&tag.to_bytes()));
        writer.put(&ethertype.0.to_be_bytes());
        writer.put(&self.bytes(0));
        Ok(need)
    }

    /// The header, with the original frame's EtherType or 0.
    fn bytes(&self, original: u16) -> [u8; PATH_HEADER_LEN] {
        let mut bytes = [0; PATH_HEADER_LEN];
        bytes[0] = VERSION;
        bytes[1] = self.path_type as u8;
        bytes[2] = self.hops;
        bytes[4..8].copy_from_slice(&self.id.to_be_bytes());
        bytes[8..14].copy_from_slice(&self.tuple.destination.0);
        bytes[14..16].copy_from_slice(&self.tuple.source_port.to_be_bytes());
        bytes[16..18].copy_from_slice(&self.tuple.destination_port.to_be_bytes());
        bytes[18..20].copy_from_slice(&original.to_be_bytes());
        bytes
    }
}

impl fmt::Display for PathHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path_type, hops, id, tuple } = self;
        write!(f, "{path_type} {id:#010x} after {hops} hops, {tuple}")
    }
}

/// A validated Path frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathFrame<'a> {
    ethernet: Ethernet<'a>,
    header: &'a [u8; PATH_HEADER_LEN],
    path_type: PathType,
    behind: &'a [u8],
}

impl<'a> PathFrame<'a> {
    /// Parses `frame`, with `ethertype` as the EtherType of Path frames. The original frame's payload is not
    /// checked.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::EtherType`], [`Error::Version`], and [`Error::Type`].
    pub fn parse(frame: &'a [u8], ethertype: EtherType) -> Result<Self, Error> {
        let ethernet = Ethernet::parse(frame)?.require(ethertype)?;
        let short = Error::Short { need: PATH_HEADER_LEN, have: ethernet.payload().len() };
        let (header, behind): (&[u8; PATH_HEADER_LEN], _) =
            ethernet.payload().split_first_chunk().ok_or(short)?;
        if header[0] != VERSION {
            return Err(Error::Version(header[0]));
        }
        let path_type = PathType::from_number(header[1])?;
        // Without ports it is about two stations, and cannot carry a frame of theirs.
        if path_type.carries_original() && header[14..18] == [0; 4] {
            return Err(Error::Type(header[1]));
        }
        Ok(Self { ethernet, header, path_type, behind })
    }

    /// Its Ethernet header.
    pub const fn ethernet(&self) -> &Ethernet<'a> {
        &self.ethernet
    }

    /// Its content.
    pub const fn header(&self) -> PathHeader {
        let h = self.header;
        PathHeader {
            path_type: self.path_type,
            hops: h[2],
            id: u32::from_be_bytes([h[4], h[5], h[6], h[7]]),
            tuple: Tuple {
                source: self.ethernet.source(),
                source_port: u16::from_be_bytes([h[14], h[15]]),
                destination: Mac([h[8], h[9], h[10], h[11], h[12], h[13]]),
                destination_port: u16::from_be_bytes([h[16], h[17]]),
            },
        }
    }

    /// EtherType and payload of the original frame, padding included; `None` if it carries none.
    pub const fn original(&self) -> Option<(EtherType, &'a [u8])> {
        let ethertype = EtherType(u16::from_be_bytes([self.header[18], self.header[19]]));
        if self.path_type.carries_original() { Some((ethertype, self.behind)) } else { None }
    }
}

/// Writes the Path frame of type `path_type` and exploration `id` that wraps `original`, a frame with a TCP
/// segment; returns its length, [`PATH_HEADER_LEN`] more than the original's. VLAN tags stay in front.
///
/// # Errors
/// [`Error::NoOriginal`]; the errors of [`TcpFrame::parse`]; [`Error::Buffer`].
pub fn wrap(
    original: &[u8],
    path_type: PathType,
    id: u32,
    ethertype: EtherType,
    out: &mut [u8],
) -> Result<usize, Error> {
    if !path_type.carries_original() {
        return Err(Error::NoOriginal(path_type));
    }
    let frame = TcpFrame::parse(original)?;
    let ethernet = frame.ethernet();
    let header = PathHeader { path_type, hops: 0, id, tuple: frame.tuple() };
    let need = original.len() + PATH_HEADER_LEN;
    let mut writer = Writer::new(out, need)?;
    writer.put(&header.ethernet_destination().0);
    writer.put(&ethernet.source().0);
    writer.put(ethernet.tag_bytes());
    writer.put(&ethertype.0.to_be_bytes());
    writer.put(&header.bytes(ethernet.ethertype().0));
    writer.put(ethernet.payload());
    Ok(need)
}

/// Writes the original of a Path frame, byte for byte; returns its length.
///
/// # Errors
/// The errors of [`PathFrame::parse`]; [`Error::NoOriginal`]; [`Error::Buffer`].
pub fn unwrap(frame: &[u8], ethertype: EtherType, out: &mut [u8]) -> Result<usize, Error> {
    let path = PathFrame::parse(frame, ethertype)?;
    let (original, payload) = path.original().ok_or(Error::NoOriginal(path.path_type))?;
    let ethernet = path.ethernet();
    let need = ethernet.header_len() + payload.len();
    let mut writer = Writer::new(out, need)?;
    writer.put(&path.header().tuple.destination.0);
    writer.put(&ethernet.source().0);
    writer.put(ethernet.tag_bytes());
    writer.put(&original.0.to_be_bytes());
    writer.put(payload);
    Ok(need)
}

/// Increments the hop count of a Path frame in place, up to 255; returns the new count.
///
/// # Errors
/// The errors of [`PathFrame::parse`].
pub fn count_hop(frame: &mut [u8], ethertype: EtherType) -> Result<u8, Error> {
    let path = PathFrame::parse(frame, ethertype)?;
    let (at, hops) = (path.ethernet().header_len() + 2, path.header().hops.saturating_add(1));
    if let Some(byte) = frame.get_mut(at) {
        *byte = hops;
    }
    Ok(hops)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUPLE: Tuple = Tuple {
        source: Mac([2, 0, 0, 0, 0, 1]),
        source_port: 0xc000,
        destination: Mac([2, 0, 0, 0, 0, 2]),
        destination_port: 80,
    };
    const TAG: VlanTag = VlanTag { tpid: EtherType::VLAN, tci: 42 };

    #[test]
    fn only_explorations_are_addressed_to_all() {
        for path_type in PathType::ALL {
            assert_eq!(PathType::from_number(path_type as u8), Ok(path_type));
            let header = PathHeader { path_type, hops: 0, id: 0, tuple: TUPLE };
            let explores = matches!(path_type, PathType::Request | PathType::RecoveryRequest);
            assert_eq!(header.ethernet_destination() == Mac::BROADCAST, explores, "{path_type}");
        }
        assert_eq!(PathType::from_number(0), Err(Error::Type(0)));
        assert_eq!(PathType::from_number(6), Err(Error::Type(6)));
    }

    #[test]
    fn frames_without_an_original_are_padded_with_zeros() {
        for (tags, header) in [(&[][..], 14), (&[TAG][..], 18), (&[TAG; 2][..], 22)] {
            let mut out = [0xa5; 70];
            let fail = PathHeader { path_type: PathType::Fail, hops: 3, id: 0xfeed, tuple: TUPLE };
            assert_eq!(fail.write(tags, EtherType::PATH, &mut out), Ok(60));
            assert!(
                out[header + PATH_HEADER_LEN..60].iter().all(|byte| *byte == 0) && out[60..] == [0xa5; 10]
            );
            let read = PathFrame::parse(&out[..60], EtherType::PATH).unwrap();
            assert_eq!((read.header(), read.original()), (fail, None));
            assert!(read.ethernet().tags().eq(tags.iter().copied()));
        }
    }

    #[test]
    fn a_type_is_made_only_with_what_it_carries() {
        let mut out = [0; 70];
        for path_type in PathType::ALL {
            let header = PathHeader { path_type, hops: 0, id: 0, tuple: TUPLE };
            let written = header.write(&[], EtherType::PATH, &mut out);
            let wrapped = wrap(&[], path_type, 0, EtherType::PATH, &mut out);
            if path_type.carries_original() {
                assert_eq!(written, Err(Error::NeedsOriginal(path_type)));
                assert_eq!(wrapped, Err(Error::Short { need: 14, have: 0 }));
            } else {
                assert_eq!(
                    unwrap(&out[..60], EtherType::PATH, &mut [0; 60]),
                    Err(Error::NoOriginal(path_type))
                );
                assert_eq!(wrapped, Err(Error::NoOriginal(path_type)));
            }
        }
        let fail = PathHeader { path_type: PathType::Fail, hops: 0, id: 0, tuple: TUPLE };
        assert_eq!(fail.write(&[TAG; 3], EtherType::PATH, &mut out), Err(Error::Tags(3)));
    }

    #[test]
    fn the_hop_count_stops_at_its_greatest() {
        let mut out = [0; 60];
        let fail = PathHeader { path_type: PathType::Fail, hops: 253, id: 0, tuple: TUPLE };
        fail.write(&[TAG], EtherType::PATH, &mut out).unwrap();
        let counts = [(); 4].map(|()| count_hop(&mut out, EtherType::PATH));
        assert_eq!(counts, [Ok(254), Ok(255), Ok(255), Ok(255)]);
        let mut expected = [0; 60];
        PathHeader { hops: 255, ..fail }.write(&[TAG], EtherType::PATH, &mut expected).unwrap();
        assert_eq!(out, expected);
    }
}
