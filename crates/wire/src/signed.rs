//! [`Signed`]: the payload of Hello messages and probes, 28 bytes and, with a key, a signature over these bytes.

use crate::ethernet::MIN_FRAME;
use crate::key::SIGNATURE_LEN;
use crate::writer::Writer;
use crate::{Error, EtherType, Key, Mac, Reach, SwitchId};

/// Length of the Ethernet header: these frames are untagged.
pub const HEADER: usize = 14;
/// Length before the signature.
pub const LEN: usize = 28;
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

/// Writes a frame with this payload and an announcement, if there is one, padded to [`MIN_FRAME`]; returns its length. If
/// there is a key, one signature signs the payload, and another one both.
///
/// # Errors
/// [`Error::Buffer`].
pub fn write(
    [destination, source]: [Mac; 2],
    ethertype: EtherType,
    mut payload: Payload,
    reach: Option<&Reach<'_>>,
    key: Option<&Key>,
    out: &mut [u8],
) -> Result<usize, Error> {
    let signatures = if key.is_none() { 0 } else { 1 + usize::from(reach.is_some()) };
    let need = HEADER + LEN + signatures * SIGNATURE_LEN + reach.map_or(0, Reach::len);
    let need = need.max(MIN_FRAME);
    let mut writer = Writer::new(out, need)?;
    payload[1] |= if key.is_some() { AUTHENTICATED } else { 0 };
    writer.put(&destination.0);
    writer.put(&source.0);
    writer.put(&ethertype.0.to_be_bytes());
    writer.put(&payload);
    if let Some(key) = key {
        writer.put(&key.sign(&payload));
    }
    let Some(reach) = reach else { return Ok(need) };
    reach.pieces().for_each(|piece| writer.put(&piece));
    if let Some(key) = key {
        let (start, _) = payload.as_chunks();
        writer.put(&key.sign_all(start.iter().copied().chain(reach.pieces())));
    }
    Ok(need)
}

/// The signature at the beginning of `bytes`, `before` bytes behind the start of a payload, if that is signed, and the rest.
///
/// # Errors
/// [`Error::Short`].
pub fn signature<'a>(
    payload: &Payload,
    bytes: &'a [u8],
    before: usize,
) -> Result<(Option<&'a [u8; SIGNATURE_LEN]>, &'a [u8]), Error> {
    if payload[1] & AUTHENTICATED == 0 {
        return Ok((None, bytes));
    }
    let short = Error::Short { need: before + SIGNATURE_LEN, have: before + bytes.len() };
    let (signature, rest) = bytes.split_first_chunk().ok_or(short)?;
    Ok((Some(signature), rest))
}

/// A received payload, validated except for the signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signed<'a> {
    /// The payload.
    pub payload: &'a Payload,
    signature: Option<&'a [u8; SIGNATURE_LEN]>,
}

impl<'a> Signed<'a> {
    /// Parses the bytes behind the EtherType; returns also those behind the signature.
    ///
    /// # Errors
    /// [`Error::Short`] and [`Error::Version`].
    pub fn parse(bytes: &'a [u8], version: u8) -> Result<(Self, &'a [u8]), Error> {
        let short = Error::Short { need: LEN, have: bytes.len() };
        let (payload, behind): (&Payload, _) = bytes.split_first_chunk().ok_or(short)?;
        if payload[0] != version {
            return Err(Error::Version(payload[0]));
        }
        let (signature, rest) = signature(payload, behind, LEN)?;
        Ok((Self { payload, signature }, rest))
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
