//! [`Action`]: an action on a packet (section 7.2.4), and the instruction that applies actions at once
//! (section 7.2.5).

use super::PortNumber;
use super::field::{self, FIELD_HEADER_LEN};
use super::list::{Codec, List};
use super::padding::padding;
use super::reader::Reader;
use crate::writer::Writer;
use crate::{Error, Mac};

const OUTPUT: u16 = 0;
const SET_FIELD: u16 = 25;
/// The number of match field `eth_dst`.
const ETH_DST: u8 = 3;
/// Length of either action.
const LEN: usize = 16;
const APPLY_ACTIONS: u16 = 4;
/// Length of an instruction before its actions.
const INSTRUCTION_LEN: usize = 8;

/// An action on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Sends the packet, as modified so far.
    Output {
        /// The egress port.
        port: PortNumber,
        /// Bytes sent to the controller, if that is the port; [`Action::WHOLE`] for all.
        max_len: u16,
    },
    /// Sets the Ethernet destination.
    SetEthDst(Mac),
}

impl Action {
    /// The whole packet, for the controller.
    pub const WHOLE: u16 = 0xffff;

    /// Sends a packet out of a port.
    pub const fn output(port: PortNumber) -> Self {
        Self::Output { port, max_len: 0 }
    }
}

impl Codec<'_> for Action {
    fn encoded_len(&self) -> usize {
        LEN
    }

    fn read(reader: &mut Reader) -> Result<Self, Error> {
        let (kind, len) = (reader.u16()?, usize::from(reader.u16()?));
        let mut body =
            reader.part(len.checked_sub(4).ok_or(Error::HeaderLength { least: LEN, given: len })?)?;
        let action = match kind {
            OUTPUT => {
                let (port, max_len) = (PortNumber(body.u32()?), body.u16()?);
                body.skip(6)?;
                Self::Output { port, max_len }
            }
            SET_FIELD => match field::read_header(&mut body)? {
                (Some(ETH_DST), false, 6) => {
                    let address = Mac(body.array()?);
                    body.skip(padding(4 + FIELD_HEADER_LEN + 6))?;
                    Self::SetEthDst(address)
                }
                (number, ..) => {
                    let value = number.unwrap_or(0xff).into();
                    return Err(Error::Unsupported { field: "field to be set", value });
                }
            },
            _ => return Err(Error::Unsupported { field: "action", value: kind }),
        };
        if body.is_empty() {
            Ok(action)
        } else {
            // The length field of an action has 16 bits.
            Err(Error::Unsupported { field: "length of action", value: len as u16 })
        }
    }

    fn put(&self, writer: &mut Writer) {
        match self {
            Self::Output { port, max_len } => {
                writer.put(&OUTPUT.to_be_bytes());
                writer.put(&(LEN as u16).to_be_bytes());
                writer.put(&port.0.to_be_bytes());
                writer.put(&max_len.to_be_bytes());
                writer.skip(6);
            }
            Self::SetEthDst(address) => {
                writer.put(&SET_FIELD.to_be_bytes());
                writer.put(&(LEN as u16).to_be_bytes());
                field::put(writer, ETH_DST, address);
                writer.skip(padding(4 + FIELD_HEADER_LEN + 6));
            }
        }
    }
}

/// Length of the instructions that apply `actions`.
pub fn instructions_len(actions: &List<Action>) -> usize {
    if actions.is_empty() { 0 } else { INSTRUCTION_LEN + actions.encoded_len() }
}

/// Writes the instructions that apply `actions`: none for an empty list, which drops the packet.
pub fn put_instructions(writer: &mut Writer, actions: &List<Action>) {
    if !actions.is_empty() {
        writer.put(&APPLY_ACTIONS.to_be_bytes());
        // Longer lists do not fit a message, whose length is checked.
        writer.put(&(instructions_len(actions) as u16).to_be_bytes());
        writer.skip(4);
        actions.put(writer);
    }
}

/// Reads the actions of the remaining instructions of `reader`.
pub fn read_instructions<'a>(reader: &mut Reader<'a>) -> Result<List<'a, Action>, Error> {
    let mut actions = None;
    while !reader.is_empty() {
        let (kind, len) = (reader.u16()?, usize::from(reader.u16()?));
        let least = Error::HeaderLength { least: INSTRUCTION_LEN, given: len };
        let rest = len.checked_sub(INSTRUCTION_LEN).ok_or(least)?;
        reader.skip(4)?;
        if kind != APPLY_ACTIONS {
            return Err(Error::Unsupported { field: "instruction", value: kind });
        }
        if actions.replace(List::read(reader.part(rest)?)?).is_some() {
            return Err(Error::Repeated { field: "instruction" });
        }
    }
    Ok(actions.unwrap_or_default())
}
