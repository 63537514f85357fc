//! [`Handshake`]: the connection that a segment opens or joins, from all its options.

use super::option::Option as MptcpOption;
use super::{Capable, Join};
use crate::tcp_option::{MPTCP, RawOption};
use crate::{Error, MalformedOption, Tcp};

/// The MP_CAPABLE or MP_JOIN of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Handshake {
    /// The segment opens a connection, or confirms one.
    Capable(Capable),
    /// The segment opens a subflow, or confirms one.
    Join(Join),
}

impl Handshake {
    /// Parses the handshake in the options of `tcp`; `None` if there is none.
    ///
    /// # Errors
    /// If hosts may disagree about the segment: a malformed Multipath TCP option; options that cannot be
    /// parsed to their end; a handshake that is not allowed with these flags, or a second one
    /// ([`Error::Misplaced`]).
    pub fn read(tcp: &Tcp) -> Result<Option<Self>, MalformedOption> {
        let (mut found, mut options) = (None, tcp.options());
        while let Some(raw) = options.next_raw() {
            let RawOption { at, kind, data } = raw?;
            if kind != MPTCP {
                continue;
            }
            let malformed = |error| MalformedOption { kind, at, error };
            let option = MptcpOption::parse(data).map_err(malformed)?;
            let (name, handshake) = match option {
                MptcpOption::Capable(capable) => ("MP_CAPABLE", Self::Capable(capable)),
                MptcpOption::Join(join) => ("MP_JOIN", Self::Join(join)),
                _ => continue,
            };
            if !option.belongs(tcp.flags()) || found.replace(handshake).is_some() {
                return Err(malformed(Error::Misplaced { option: name }));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::mptcp::{CapableFlags, Key, Keys, Token, Version};

    /// The handshake in a segment with these flags and options.
    fn read(flags: u8, options: &[u8]) -> Result<Option<Handshake>, MalformedOption> {
        let options = [options, &[1; 3]].concat();
        let words = options.len() / 4;
        let mut segment = [0xa5; 20];
        (segment[12], segment[13]) = ((5 + words as u8) << 4, flags);
        Handshake::read(&Tcp::parse(&[&segment, &options[..words * 4]].concat()).unwrap())
    }

    const SYN: u8 = 0x02;
    const SYN_ACK: u8 = 0x12;
    const ACK: u8 = 0x10;

    #[test]
    fn a_form_belongs_into_one_kind_of_segment() {
        // Version 0 uses the same form in SYN and SYN+ACK.
        for (name, first, length, belongs) in [
            ("MP_CAPABLE", [0x00, 0x01], 12, &[SYN, SYN_ACK][..]),
            ("MP_CAPABLE", [0x00, 0x01], 20, &[ACK]),
            ("MP_CAPABLE", [0x01, 0x01], 4, &[SYN]),
            ("MP_CAPABLE", [0x01, 0x01], 12, &[SYN_ACK]),
            ("MP_CAPABLE", [0x01, 0x01], 20, &[ACK]),
            ("MP_CAPABLE", [0x01, 0x01], 22, &[ACK]),
            ("MP_CAPABLE", [0x01, 0x01], 24, &[ACK]),
            ("MP_JOIN", [0x10, 0x01], 12, &[SYN]),
            ("MP_JOIN", [0x10, 0x01], 16, &[SYN_ACK]),
            ("MP_JOIN", [0x10, 0x01], 24, &[ACK]),
        ] {
            let option = [&[30, length][..], &first, &[0xa5; 20]].concat();
            for flags in [SYN, SYN_ACK, ACK, 0] {
                let verdict = read(flags, &option[..usize::from(length)]).map(|found| found.is_some());
                let expected = match belongs.contains(&flags) {
                    true => Ok(true),
                    false => {
                        let error = Error::Misplaced { option: name };
                        Err(MalformedOption { kind: 30, at: 0, error })
                    }
                };
                assert_eq!(verdict, expected, "{name} of {length} bytes, flags {flags:#x}");
            }
        }
    }

    #[test]
    fn what_a_host_may_understand_otherwise_is_refused() {
        let capable = [30, 4, 0x01, 0x81];
        let join = [30, 12, 0x11, 5, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 9];
        let keys = Capable { version: Version::V1, flags: CapableFlags(0x81), keys: Keys::None };
        let (token, nonce) = (Token(0xdead_beef), 9);
        let joined = Handshake::Join(Join::Syn { backup: true, address_id: 5, token, nonce });
        let opened = Handshake::Capable(keys);
        let wrong = |at, error| Err(MalformedOption { kind: 30, at, error });
        let twice = |option| Error::Misplaced { option };
        for (options, expected) in [
            (&[&[2, 4, 5, 0xb4][..], &capable][..], Ok(Some(opened))),
            (&[&[1, 1], &join, &[3, 3, 7]], Ok(Some(joined))),
            (&[&[4, 2, 1, 1]], Ok(None)),
            // Other options may be malformed.
            (&[&[3, 4, 7, 7], &join], Ok(Some(joined))),
            (&[&capable, &capable], wrong(4, twice("MP_CAPABLE"))),
            (&[&join, &join], wrong(12, twice("MP_JOIN"))),
            (&[&capable, &join], wrong(4, twice("MP_JOIN"))),
            (&[&join, &[30, 5, 0x20, 0, 0]], wrong(12, Error::OptionLength { option: "DSS", given: 5 })),
            (&[&[30, 4, 0x02, 1]], wrong(0, Error::Version(2))),
            (&[&[30, 2]], wrong(0, Error::OptionLength { option: "Multipath TCP", given: 2 })),
            (&[&join[..8]], wrong(0, Error::Short { need: 12, have: 8 })),
            (
                &[&join, &[3, 9, 7, 0]],
                Err(MalformedOption { kind: 3, at: 12, error: Error::Short { need: 9, have: 4 } }),
            ),
        ] {
            assert_eq!(read(SYN, &options.concat()), expected, "{options:x?}");
        }
    }

    #[test]
    fn keys_are_those_of_sender_and_receiver() {
        let option = [&[30, 20, 0, 1][..], &1u64.to_be_bytes(), &2u64.to_be_bytes()].concat();
        let Ok(Some(Handshake::Capable(capable))) = read(ACK, &option) else { panic!("MP_CAPABLE") };
        assert_eq!((capable.sender_key(), capable.receiver_key()), (Some(Key(1)), Some(Key(2))));
    }
}
