//! Hello messages: a switch periodically announces itself to the other end of each link, optionally
//! authenticated. The format is in `docs/wire-format.md`.

use core::fmt;

use crate::key::SIGNATURE_LEN;
use crate::signed::{self, Signed};
use crate::{Echo, Error, EtherType, Ethernet, Key, Mac, Reach, SwitchId};

/// The supported version of Hello.
const VERSION: u8 = 1;
/// The flag of a Hello with an echo.
const ECHOES: u8 = 2;
/// The flag of a Hello with an announcement.
const REACHES: u8 = 4;
/// The flag of a Hello with a running number.
const NUMBERED: u8 = 8;
/// The flag of a Hello whose sender misses many Hello messages of the receiver.
const MISSES: u8 = 16;

/// The content of a Hello.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hello {
    /// The switch's tier: 1 if hosts are attached, growing upwards; 0 if unknown.
    pub tier: u8,
    /// Hold time in milliseconds: the receiving port leads to a switch until then, unless another Hello
    /// arrives. 0 withdraws the last Hello.
    pub hold_ms: u32,
    /// The sending switch.
    pub switch: SwitchId,
    /// The sending port's number on that switch.
    pub port: u16,
    /// Sequence number: increases with every Hello of a port, even across restarts.
    pub sequence: u64,
    /// Whom the sender hears on that port; none while it does not know, and from switches that do not say.
    pub echo: Option<Echo>,
    /// Counts the Hellos of that port modulo 256, so that its neighbour can count lost ones; none in the first one after a
    /// start, and from switches that do not count.
    pub number: Option<u8>,
    /// Whether the sender misses many of the Hellos that the receiver sends on that port.
    pub misses: bool,
}

impl Hello {
    /// The length of the longest frame, with [`Reach::MOST`] ranges and signed.
    pub const MOST: usize = {
        let longest =
            Reach { first: Mac::BROADCAST, last: Mac::BROADCAST, unreached: &[[[0; 6]; 2]; Reach::MOST] };
        signed::HEADER + signed::LEN + longest.len() + 2 * SIGNATURE_LEN
    };

    /// Writes the frame from the port with the address `source`, signed if there is a key; returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn write(
        &self,
        source: Mac,
        ethertype: EtherType,
        key: Option<&Key>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.write_with(None, source, ethertype, key, out)
    }

    /// Writes the frame with an announcement of the stations that the sender reaches, if there is one.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn write_with(
        &self,
        reach: Option<&Reach<'_>>,
        source: Mac,
        ethertype: EtherType,
        key: Option<&Key>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let mut payload = signed::payload(VERSION, self.switch, self.port);
        payload[1] = if reach.is_some() { REACHES } else { 0 };
        if let Some(echo) = self.echo {
            payload[1] |= ECHOES;
            payload[18..20].copy_from_slice(&echo.0.to_be_bytes());
        }
        if let Some(number) = self.number {
            payload[1] |= NUMBERED;
            payload[3] = number;
        }
        if self.misses {
            payload[1] |= MISSES;
        }
        payload[2] = self.tier;
        payload[4..8].copy_from_slice(&self.hold_ms.to_be_bytes());
        payload[20..28].copy_from_slice(&self.sequence.to_be_bytes());
        signed::write([Mac::HELLO, source], ethertype, payload, reach, key, out)
    }
}

impl fmt::Display for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tier, hold_ms, switch, port, sequence, echo, number: _, misses } = self;
        write!(f, "Hello {sequence} of switch {switch} port {port}, tier {tier}, for {hold_ms} ms")?;
        match echo {
            None => Ok(()),
            Some(Echo::NOBODY) => write!(f, ", hears nobody"),
            Some(Echo(echo)) => write!(f, ", hears {echo:04x}"),
        }?;
        if *misses { write!(f, ", misses many") } else { Ok(()) }
    }
}

/// A frame with a Hello, validated except for the signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HelloFrame<'a> {
    ethernet: Ethernet<'a>,
    signed: Signed<'a>,
    announced: Option<Announced<'a>>,
}

/// An announcement, its bytes and their signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Announced<'a> {
    reach: Reach<'a>,
    bytes: &'a [u8],
    signature: Option<&'a [u8; SIGNATURE_LEN]>,
}

impl<'a> HelloFrame<'a> {
    /// Parses `frame`, with `ethertype` as the EtherType of Hello.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::EtherType`], [`Error::Destination`], and [`Error::Version`].
    pub fn parse(frame: &'a [u8], ethertype: EtherType) -> Result<Self, Error> {
        let ethernet = Ethernet::parse(frame)?.require(ethertype)?;
        if ethernet.destination() != Mac::HELLO {
            return Err(Error::Destination(ethernet.destination()));
        }
        let all = ethernet.payload().len();
        let (signed, behind) = Signed::parse(ethernet.payload(), VERSION)?;
        let announced = match signed.payload[1] & REACHES {
            0 => None,
            _ => {
                let (reach, bytes, behind) = Reach::parse(behind, all - behind.len())?;
                let (signature, _) = signed::signature(signed.payload, behind, all - behind.len())?;
                Some(Announced { reach, bytes, signature })
            }
        };
        Ok(Self { ethernet, signed, announced })
    }

    /// Its Ethernet header.
    pub const fn ethernet(&self) -> &Ethernet<'a> {
        &self.ethernet
    }

    /// Its content, not necessarily authentic: see [`HelloFrame::verify`].
    pub const fn hello(&self) -> Hello {
        let p = self.signed.payload;
        let (switch, port) = signed::sender(p);
        Hello {
            tier: p[2],
            hold_ms: u32::from_be_bytes([p[4], p[5], p[6], p[7]]),
            switch,
            port,
            sequence: u64::from_be_bytes([p[20], p[21], p[22], p[23], p[24], p[25], p[26], p[27]]),
            echo: if p[1] & ECHOES == 0 { None } else { Some(Echo(u16::from_be_bytes([p[18], p[19]]))) },
            number: if p[1] & NUMBERED == 0 { None } else { Some(p[3]) },
            misses: p[1] & MISSES != 0,
        }
    }

    /// The stations that its sender reaches, if it says so; not necessarily authentic.
    pub const fn reach(&self) -> Option<Reach<'a>> {
        match self.announced {
            Some(Announced { reach, .. }) => Some(reach),
            None => None,
        }
    }

    /// Whether it has a signature.
    pub const fn is_authenticated(&self) -> bool {
        self.signed.is_authenticated()
    }

    /// Verifies that the sender has `key`. A replayed Hello passes too: the sequence number reveals it.
    ///
    /// # Errors
    /// [`Error::Unsigned`] and [`Error::Signature`].
    pub fn verify(&self, key: &Key) -> Result<(), Error> {
        self.signed.verify(key)?;
        let is_authentic = self.announced.is_none_or(|announced| {
            let payload = self.signed.payload;
            announced.signature.is_some_and(|signature| key.verify_both(payload, announced.bytes, signature))
        });
        if is_authentic { Ok(()) } else { Err(Error::Signature) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Hello = Hello {
        tier: 2,
        hold_ms: 3000,
        switch: SwitchId(0x0123_4567_89ab_cdef),
        port: 7,
        sequence: 1 << 40,
        echo: None,
        number: None,
        misses: false,
    };
    const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 7]);

    /// The frame, written into a nonzero buffer.
    fn frame(key: Option<&Key>) -> [u8; 70] {
        let mut out = [0xa5; 70];
        assert_eq!(HELLO.write(SOURCE, EtherType::HELLO, key, &mut out), Ok(60));
        assert_eq!(out[60..], [0xa5; 10]);
        out
    }

    #[test]
    fn every_signed_bit_counts_and_no_other() {
        let key = Key::new(b"a secret of the fabric");
        let good = frame(Some(&key));
        for bit in 14 * 8..60 * 8 {
            let mut spoilt = good;
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let verdict =
                HelloFrame::parse(&spoilt[..60], EtherType::HELLO).and_then(|frame| frame.verify(&key));
            match bit / 8 - 14 {
                0 => assert!(matches!(verdict, Err(Error::Version(_)))),
                1 if bit % 8 == 0 => assert_eq!(verdict, Err(Error::Unsigned)),
                1 if bit % 8 == 2 => assert!(matches!(verdict, Err(Error::Short { .. }))),
                1..44 => assert_eq!(verdict, Err(Error::Signature), "byte {}", bit / 8),
                _ => assert_eq!(verdict, Ok(())),
            }
        }
    }

    #[test]
    fn every_signed_bit_of_an_announcement_counts() {
        let key = Key::new(b"a secret of the fabric");
        let reach = Reach { first: Mac([0; 6]), last: Mac::BROADCAST, unreached: &[[[2; 6], [3; 6]]] };
        let mut good = [0xa5; 110];
        let written = HELLO.write_with(Some(&reach), SOURCE, EtherType::HELLO, Some(&key), &mut good);
        assert_eq!((written, &good[100..]), (Ok(100), &[0xa5; 10][..]));
        let read = HelloFrame::parse(&good[..100], EtherType::HELLO).unwrap();
        assert_eq!((read.hello(), read.reach(), read.verify(&key)), (HELLO, Some(reach), Ok(())));
        for bit in 58 * 8..100 * 8 {
            let mut spoilt = good;
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let verdict =
                HelloFrame::parse(&spoilt[..100], EtherType::HELLO).and_then(|frame| frame.verify(&key));
            match bit / 8 - 58 {
                12 | 13 if verdict != Err(Error::Signature) => {
                    assert!(matches!(verdict, Err(Error::Short { .. })), "the count");
                }
                at => assert_eq!(verdict, Err(Error::Signature), "byte {at}"),
            }
        }
    }

    #[test]
    fn another_key_does_not_verify() {
        let signed = frame(Some(&Key::new(b"one")));
        let signed = HelloFrame::parse(&signed, EtherType::HELLO).unwrap();
        assert_eq!(signed.verify(&Key::new(b"two")), Err(Error::Signature));
        let unsigned = frame(None);
        let unsigned = HelloFrame::parse(&unsigned, EtherType::HELLO).unwrap();
        assert!(!unsigned.is_authenticated());
        assert_eq!(unsigned.verify(&Key::new(b"one")), Err(Error::Unsigned));
    }

    #[test]
    fn flags_and_fields_that_are_reserved_are_not_read() {
        let mut frame = frame(None);
        (frame[15], frame[17], frame[32], frame[33]) = (0xe0, 1, 2, 3);
        let read = HelloFrame::parse(&frame, EtherType::HELLO).unwrap();
        assert_eq!((read.hello(), read.is_authenticated()), (HELLO, false));
        frame[15] = 0xe2;
        let read = HelloFrame::parse(&frame, EtherType::HELLO).unwrap();
        assert_eq!(read.hello(), Hello { echo: Some(Echo(0x0203)), ..HELLO });
        frame[15] = 0xf8;
        let read = HelloFrame::parse(&frame, EtherType::HELLO).unwrap();
        assert_eq!(read.hello(), Hello { number: Some(1), misses: true, ..HELLO });
    }

    #[test]
    fn a_hello_that_may_have_come_through_a_bridge_is_refused() {
        let mut frame = frame(None);
        frame[5] = 0x0f;
        let elsewhere = Mac([0x01, 0x80, 0xc2, 0, 0, 0x0f]);
        assert_eq!(HelloFrame::parse(&frame, EtherType::HELLO), Err(Error::Destination(elsewhere)));
    }

    #[test]
    fn a_buffer_that_is_too_small_stays_as_it_was() {
        let mut out = [0xa5; 59];
        let error = Error::Buffer { need: 60, have: 59 };
        assert_eq!(HELLO.write(SOURCE, EtherType::HELLO, None, &mut out), Err(error));
        assert_eq!(out, [0xa5; 59]);
    }
}
