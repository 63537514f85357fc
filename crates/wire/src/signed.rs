//! [`Signed`]: the payload of Hello messages and probes, 28 bytes and, with a key, a signature over these bytes.

use crate::ethernet::MIN_FRAME;
use crate::key::SIGNATURE_LEN;
use crate::writer::Writer;
use crate::{Error, EtherType, Key, Mac, SwitchId};

/// Length before the signature.
const LEN: usize = 28;
/// The flag of a signed payload.
const AUTHENTICATED: u8 = 1;

/// A payload before the signature.
pub type Payload = [u8; LEN];

/// A payload of `version` from this port of a switch, without flags.
pub fn payload(version: u8, switch: SwitchId, port: u16) -> Payload {
    let mut payload = [0; LEN];
    payload[0] = version;
    payload[8..16].copy_from_slice(&switch.0.to_be_bytes());
    payload[16..18].copy_from_slice(&port.to_be_bytes());
    payload
}

/// The switch and the port that sent a payload.
pub const fn sender(p: &Payload) -> (SwitchId, u16) {
    let switch = u64::from_be_bytes([p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]]);
    (SwitchId(switch), u16::from_be_bytes([p[16], p[17]]))
}

/// Writes a frame with this payload, padded to [`MIN_FRAME`] and signed if there is a key; returns its length.
///
/// # Errors
/// [`Error::Buffer`].
pub fn write(
    [destination, source]: [Mac; 2],
    ethertype: EtherType,
    mut payload: Payload,
    key: Option<&Key>,
    out: &mut [u8],
) -> Result<usize, Error> {
    let mut writer = Writer::new(out, MIN_FRAME)?;
    payload[1] |= if key.is_some() { AUTHENTICATED } else { 0 };
    writer.put(&destination.0);
    writer.put(&source.0);
    writer.put(&ethertype.0.to_be_bytes());
    writer.put(&payload);
    if let Some(key) = key {
        writer.put(&key.sign(&payload));
    }
    Ok(MIN_FRAME)
}

/// A received payload, validated except for the signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signed<'a> {
    /// The payload.
    pub payload: &'a Payload,
    signature: Option<&'a [u8; SIGNATURE_LEN]>,
}

impl<'a> Signed<'a> {
    /// Parses the bytes behind the EtherType.
    ///
    /// # Errors
    /// [`Error::Short`] and [`Error::Version`].
    pub fn parse(bytes: &'a [u8], version: u8) -> Result<Self, Error> {
        let short = |need| Error::Short { need, have: bytes.len() };
        let (payload, behind): (&Payload, _) = bytes.split_first_chunk().ok_or(short(LEN))?;
        if payload[0] != version {
            return Err(Error::Version(payload[0]));
        }
        let signature = match payload[1] & AUTHENTICATED {
            0 => None,
            _ => Some(behind.first_chunk().ok_or(short(LEN + SIGNATURE_LEN))?),
        };
        Ok(Self { payload, signature })
    }

    /// Whether it has a signature.
    pub const fn is_authenticated(&self) -> bool {
        self.signature.is_some()
    }

    /// Verifies that the sender has `key`.
    ///
    /// # Errors
    /// [`Error::Unsigned`] and [`Error::Signature`].
    pub fn verify(&self, key: &Key) -> Result<(), Error> {
        let signature = self.signature.ok_or(Error::Unsigned)?;
        if key.verify(self.payload, signature) { Ok(()) } else { Err(Error::Signature) }
    }
}
