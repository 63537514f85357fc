//! [`Writer`]: packet captures in the pcapng format (draft-ietf-opsawg-pcapng), little-endian, with nanoseconds.
//!
//! Only the parts that Weft's captures need: one section, interfaces, packets, statistics. The crates that write the
//! format carry a parser and a procedural macro for it; Weft needs four of its blocks.

use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const ETHERNET: u16 = 1;

const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const SPEED: u16 = 8;
const RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;
const RECEIVED: u16 = 4;
const DROPPED: u16 = 5;

/// The longest text of an option, in bytes; a longer one is cut.
const MOST_TEXT: usize = 4096;

/// An interface of a capture.
#[derive(Clone, Debug, Default)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// A description; empty for none.
    pub description: &'a str,
    /// Its rate in bit/s, if known.
    pub speed: Option<u64>,
    /// The maximum number of bytes stored of a packet.
    pub snaplen: u32,
}

/// Which way a packet went at the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Received.
    In = 1,
    /// Sent.
    Out = 2,
}

/// A packet of a capture.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// The number of its interface, as [`Writer::interface`] returned it.
    pub interface: u32,
    /// Nanoseconds since 1970, or since the start of a simulation.
    pub time_ns: u64,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Its length on the wire in bytes, without the frame check sequence.
    pub length: u32,
    /// Which way it went, if known.
    pub direction: Option<Direction>,
    /// A comment; empty for none.
    pub comment: &'a str,
}

/// Counts of an interface over the whole capture.
#[derive(Clone, Debug)]
pub struct Statistics<'a> {
    /// The number of the interface.
    pub interface: u32,
    /// When the counts were taken, as [`Packet::time_ns`].
    pub time_ns: u64,
    /// Packets seen.
    pub received: u64,
    /// Of these, packets that are not in the capture.
    pub dropped: u64,
    /// A comment; empty for none.
    pub comment: &'a str,
}

/// The first block of a capture by `application`.
pub fn section(application: &str, comment: &str) -> Vec<u8> {
    let (mut body, mut options) = (Vec::new(), Vec::new());
    body.extend(BYTE_ORDER.to_le_bytes());
    // Version 1.0, and a section whose length is not given.
    body.extend([1, 0, 0, 0]);
    body.extend(u64::MAX.to_le_bytes());
    text(&mut options, COMMENT, comment);
    text(&mut options, APPLICATION, application);
    block(SECTION, body, options)
}

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    interfaces: u32,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Starts a capture with [`section`].
    ///
    /// # Errors
    /// Those of `out`, as for all methods.
    pub fn new(out: W, section: &[u8]) -> io::Result<Self> {
        let mut this = Self { out, interfaces: 0, written: 0 };
        this.put(section)?;
        Ok(this)
    }

    /// Bytes written so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Adds an interface; returns its number.
    ///
    /// # Errors
    /// Those of the output.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        let (mut body, mut options) = (Vec::new(), Vec::new());
        body.extend(ETHERNET.to_le_bytes());
        body.extend([0; 2]);
        body.extend(interface.snaplen.to_le_bytes());
        text(&mut options, NAME, interface.name);
        text(&mut options, DESCRIPTION, interface.description);
        if let Some(speed) = interface.speed {
            option(&mut options, SPEED, &speed.to_le_bytes());
        }
        option(&mut options, RESOLUTION, &[9]);
        self.put(&block(INTERFACE, body, options))?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// Those of the output.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let (mut body, mut options) = (Vec::with_capacity(packet.bytes.len() + 64), Vec::new());
        body.extend(packet.interface.to_le_bytes());
        stamp(&mut body, packet.time_ns);
        body.extend((packet.bytes.len() as u32).to_le_bytes());
        body.extend(packet.length.to_le_bytes());
        padded(&mut body, packet.bytes);
        if let Some(direction) = packet.direction {
            option(&mut options, FLAGS, &(direction as u32).to_le_bytes());
        }
        text(&mut options, COMMENT, packet.comment);
        self.put(&block(PACKET, body, options))
    }

    /// Adds the counts of an interface, once the capture has ended.
    ///
    /// # Errors
    /// Those of the output.
    pub fn statistics(&mut self, statistics: &Statistics<'_>) -> io::Result<()> {
        let (mut body, mut options) = (Vec::new(), Vec::new());
        body.extend(statistics.interface.to_le_bytes());
        stamp(&mut body, statistics.time_ns);
        text(&mut options, COMMENT, statistics.comment);
        option(&mut options, RECEIVED, &statistics.received.to_le_bytes());
        option(&mut options, DROPPED, &statistics.dropped.to_le_bytes());
        self.put(&block(STATISTICS, body, options))
    }

    /// Passes everything on to the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// A time: its upper and its lower half.
fn stamp(body: &mut Vec<u8>, time_ns: u64) {
    body.extend(((time_ns >> 32) as u32).to_le_bytes());
    body.extend((time_ns as u32).to_le_bytes());
}

fn padded(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend(bytes);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn option(options: &mut Vec<u8>, code: u16, value: &[u8]) {
    options.extend(code.to_le_bytes());
    options.extend((value.len() as u16).to_le_bytes());
    padded(options, value);
}

/// An option with a text, unless it is empty.
fn text(options: &mut Vec<u8>, code: u16, value: &str) {
    if !value.is_empty() {
        let end = (0..=value.len().min(MOST_TEXT)).rev().find(|at| value.is_char_boundary(*at));
        option(options, code, &value.as_bytes()[..end.unwrap_or(0)]);
    }
}

/// A block whose body consists of whole words, with an option that ends its options.
fn block(kind: u32, body: Vec<u8>, options: Vec<u8>) -> Vec<u8> {
    let end = if options.is_empty() { &[][..] } else { &[0; 4] };
    let length = ((body.len() + options.len() + end.len()) as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &options, end, &length].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of blocks in a capture, and the bytes of each.
    fn blocks(mut capture: &[u8]) -> Vec<(u32, &[u8])> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
        let mut found = Vec::new();
        while !capture.is_empty() {
            let (block, rest) = capture.split_at(word(&capture[4..]) as usize);
            assert_eq!(word(&block[block.len() - 4..]) as usize, block.len());
            found.push((word(block), &block[8..block.len() - 4]));
            capture = rest;
        }
        found
    }

    #[test]
    fn blocks_follow_each_other_in_whole_words() {
        let mut writer = Writer::new(Vec::new(), &section("weft", "a capture")).unwrap();
        let interface = Interface { name: "l0->s0", speed: Some(10_000_000_000), ..Interface::default() };
        assert_eq!((writer.interface(&interface).unwrap(), writer.interface(&interface).unwrap()), (0, 1));
        let time_ns = 0x1_2345_6789;
        for (bytes, comment) in [(&[1, 2, 3][..], "dropped"), (&[1, 2, 3, 4], "")] {
            let direction = Some(Direction::Out);
            let packet = Packet { interface: 1, time_ns, bytes, length: 1514, direction, comment };
            writer.packet(&packet).unwrap();
        }
        let counts = Statistics { interface: 1, time_ns, received: 3, dropped: 1, comment: "full" };
        writer.statistics(&counts).unwrap();
        assert_eq!(writer.written(), writer.out.len() as u64);
        let blocks = blocks(&writer.out);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, INTERFACE, PACKET, PACKET, STATISTICS]);
        let packet = blocks[3].1;
        let start = [1, 0, 0, 0, 1, 0, 0, 0, 0x89, 0x67, 0x45, 0x23, 3, 0, 0, 0, 0xea, 5, 0, 0, 1, 2, 3, 0];
        assert_eq!(packet[..24], start);
        assert_eq!(packet[24..], *b"\x02\0\x04\0\x02\0\0\0\x01\0\x07\0dropped\0\0\0\0\0");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut body = Vec::new();
        text(&mut body, COMMENT, &"\u{e9}".repeat(MOST_TEXT));
        assert_eq!(body.len(), 4 + MOST_TEXT);
        body.clear();
        text(&mut body, COMMENT, &format!("a{}", "\u{e9}".repeat(MOST_TEXT)));
        assert_eq!(body.len(), 4 + MOST_TEXT);
        assert_eq!(body[2..4], (MOST_TEXT as u16 - 1).to_le_bytes());
    }
}
