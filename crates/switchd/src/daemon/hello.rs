//! Hello messages: sending ours and checking received ones (docs/wire-format.md).

use std::collections::BTreeMap;

use weft_wire::{EtherType, Hello, HelloFrame, Key, Mac, SwitchId};

use super::memory::Memory;

/// The state for sending and checking Hellos.
#[derive(Debug)]
pub struct Hellos {
    /// The switch.
    pub id: u64,
    /// Its tier; 0 if unknown.
    pub tier: u8,
    /// The hold time, in milliseconds.
    pub hold_ms: u32,
    /// The keys: the first signs our Hellos, any of them may verify received ones.
    pub keys: Vec<Key>,
    /// Sequence numbers, which outlive the daemon.
    pub memory: Memory,
    /// Hellos accepted.
    pub heard: u64,
    /// Hellos sent.
    pub sent: u64,
    /// Hellos refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

/// Every reason for refusing a Hello; `port`: received on a port that must not become a fabric port, `own`: sent by
/// this switch.
pub const REASONS: [&str; 9] =
    ["ethertype", "destination", "short", "version", "unsigned", "signature", "replay", "port", "own"];

impl Hellos {
    /// The Hello to send from a port with this address. A hold time of 0 withdraws the adjacency.
    pub fn frame(&mut self, source: Mac, port: u16, hold_ms: u32, since_1970: u64) -> [u8; 60] {
        let mut frame = [0; 60];
        let sequence = self.memory.next(since_1970);
        let hello = Hello { tier: self.tier, hold_ms, switch: SwitchId(self.id), port, sequence };
        // A Hello has 60 bytes.
        let _ = hello.write(source, EtherType::HELLO, self.keys.first(), &mut frame);
        self.sent += 1;
        frame
    }

    /// The contents of a valid Hello, and the index of the key that signed it.
    ///
    /// # Errors
    /// One of [`REASONS`], which is counted.
    pub fn read(
        &mut self,
        frame: &[u8],
        may_be_fabric: bool,
    ) -> Result<(Hello, Option<usize>), &'static str> {
        let read = self.check(frame, may_be_fabric);
        match read {
            Ok(_) => self.heard += 1,
            Err(reason) => *self.refused.entry(reason).or_default() += 1,
        }
        read
    }

    fn check(&mut self, frame: &[u8], may_be_fabric: bool) -> Result<(Hello, Option<usize>), &'static str> {
        if !may_be_fabric {
            return Err("port");
        }
        let frame = HelloFrame::parse(frame, EtherType::HELLO).map_err(|error| error.counter())?;
        let hello = frame.hello();
        let mut key = None;
        if !self.keys.is_empty() {
            let mut verified = Err(weft_wire::Error::Unsigned);
            for (number, known) in self.keys.iter().enumerate() {
                verified = frame.verify(known);
                if verified.is_ok() {
                    key = Some(number);
                    break;
                }
            }
            verified.map_err(|error| error.counter())?;
        }
        if hello.switch.0 == self.id {
            return Err("own");
        }
        if key.is_some() && !self.memory.is_new((hello.switch.0, hello.port), hello.sequence) {
            return Err("replay");
        }
        Ok((hello, key))
    }
}
