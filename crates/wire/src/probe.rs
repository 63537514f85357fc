//! Probes: frames by which a switch finds that two host ports are connected outside the fabric. The format is in
//! `docs/wire-format.md`.

use crate::signed::{self, Payload, Signed};
use crate::{Error, EtherType, Ethernet, Key, Mac, SwitchId};

/// The version in the first byte, which no Hello has: the signature does not cover the destination.
const VERSION: u8 = 2;
/// The flag of a sender that is blocked.
const BLOCKED: u8 = 2;
/// The flag of a sender that is for hosts only.
const HOSTS_ONLY: u8 = 4;

/// The content of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Probe {
    /// The sending switch.
    pub switch: SwitchId,
    /// The sending port's number on that switch.
    pub port: u16,
    /// Whether that port is blocked.
    pub blocked: bool,
    /// Whether that port never becomes a fabric port.
    pub hosts_only: bool,
}

impl Probe {
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
        let mut payload = signed::payload(VERSION, self.switch, self.port);
        payload[1] = if self.blocked { BLOCKED } else { 0 } | if self.hosts_only { HOSTS_ONLY } else { 0 };
        signed::write([Mac::BROADCAST, source], ethertype, payload, None, key, out)
    }

    fn read(payload: &Payload) -> Self {
        let (switch, port) = signed::sender(payload);
        let has = |flag| payload[1] & flag != 0;
        Self { switch, port, blocked: has(BLOCKED), hosts_only: has(HOSTS_ONLY) }
    }
}

/// A frame with a probe, validated except for the signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeFrame<'a>(Signed<'a>);

impl<'a> ProbeFrame<'a> {
    /// Parses `frame`, with `ethertype` as the EtherType of Hello; `None` if it is not sent to all stations, as all
    /// probes are.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::EtherType`] and [`Error::Version`].
    pub fn parse(frame: &'a [u8], ethertype: EtherType) -> Result<Option<Self>, Error> {
        let ethernet = Ethernet::parse(frame)?.require(ethertype)?;
        if ethernet.destination() != Mac::BROADCAST {
            return Ok(None);
        }
        let (signed, _) = Signed::parse(ethernet.payload(), VERSION)?;
        Ok(Some(Self(signed)))
    }

    /// Its content, not necessarily authentic: see [`ProbeFrame::verify`].
    pub fn probe(&self) -> Probe {
        Probe::read(self.0.payload)
    }

    /// Verifies that the sender has `key`. A replayed probe passes too.
    ///
    /// # Errors
    /// [`Error::Unsigned`] and [`Error::Signature`].
    pub fn verify(&self, key: &Key) -> Result<(), Error> {
        self.0.verify(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hello, HelloFrame};

    const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 7]);

    fn frame(probe: Probe, key: Option<&Key>) -> [u8; 60] {
        let mut out = [0xa5; 60];
        assert_eq!(probe.write(SOURCE, EtherType::HELLO, key, &mut out), Ok(60));
        out
    }

    #[test]
    fn a_probe_is_read_as_it_was_written_and_every_signed_bit_counts() {
        let key = Key::new(b"a secret of the fabric");
        for number in 0..4 {
            let (blocked, hosts_only) = (number & 1 != 0, number & 2 != 0);
            let probe = Probe { switch: SwitchId(0x0123_4567_89ab_cdef), port: 7, blocked, hosts_only };
            let good = frame(probe, Some(&key));
            let read = ProbeFrame::parse(&good, EtherType::HELLO).unwrap().unwrap();
            assert_eq!((read.probe(), read.verify(&key)), (probe, Ok(())));
            for bit in 15 * 8..58 * 8 {
                let mut spoilt = good;
                spoilt[bit / 8] ^= 1 << (bit % 8);
                let read = ProbeFrame::parse(&spoilt, EtherType::HELLO).unwrap().unwrap();
                assert!(read.verify(&key).is_err(), "bit {bit}");
            }
            let unsigned = frame(probe, None);
            let read = ProbeFrame::parse(&unsigned, EtherType::HELLO).unwrap().unwrap();
            assert_eq!((read.probe(), read.verify(&key)), (probe, Err(Error::Unsigned)));
        }
    }

    #[test]
    fn a_probe_is_no_hello_and_a_hello_no_probe_whatever_address_a_host_gives_them() {
        let probe = Probe { switch: SwitchId(1), port: 7, blocked: false, hosts_only: false };
        let mut forged = frame(probe, None);
        forged[..6].copy_from_slice(&Mac::HELLO.0);
        assert_eq!(HelloFrame::parse(&forged, EtherType::HELLO), Err(Error::Version(2)));
        assert_eq!(ProbeFrame::parse(&forged, EtherType::HELLO), Ok(None));
        let hello = Hello {
            tier: 1,
            hold_ms: 300,
            switch: SwitchId(1),
            port: 7,
            sequence: 1,
            echo: None,
            number: None,
            misses: false,
        };
        let mut forged = [0; 60];
        hello.write(SOURCE, EtherType::HELLO, None, &mut forged).unwrap();
        forged[..6].copy_from_slice(&Mac::BROADCAST.0);
        assert_eq!(ProbeFrame::parse(&forged, EtherType::HELLO), Err(Error::Version(1)));
    }
}
