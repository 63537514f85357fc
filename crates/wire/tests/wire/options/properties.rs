//! Properties of all TCP options: written options parse to the same, no bytes make a parser panic or
//! write something else, and the proof of a join is valid for no other.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use weft_wire::mptcp::{
    self, AddAddr, Announcement, Capable, CapableFlags, DataSequence, Dss, Fail, FastClose, FirstData,
    Handshake, Join, Key, Keys, Mapping, Party, Priority, RemoveAddr, Reset, Token, Version,
};
use weft_wire::{SackBlocks, Tcp, TcpOption, TcpOptions};

/// Bytes that options can borrow for the duration of the test.
fn bytes(lengths: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = &'static [u8]> {
    vec(any::<u8>(), lengths).prop_map(|bytes| &*bytes.leak())
}

fn version() -> impl Strategy<Value = Version> {
    select(vec![Version::V0, Version::V1])
}

fn capable() -> impl Strategy<Value = Capable> {
    let first_data =
        any::<(u16, Option<u16>)>().prop_map(|(length, checksum)| FirstData { length, checksum });
    let keys = (any::<(u64, u64)>(), proptest::option::of(first_data), 0..3);
    (version(), any::<u8>(), keys).prop_map(|(version, flags, ((sender, receiver), data, form))| {
        let (sender, receiver) = (Key(sender), Key(receiver));
        let keys = match (form, version) {
            (0, Version::V1) => Keys::None,
            (1, _) => Keys::Sender(sender),
            (_, Version::V0) => Keys::Both { sender, receiver, data: None },
            (_, Version::V1) => Keys::Both { sender, receiver, data },
        };
        Capable { version, flags: CapableFlags(flags), keys }
    })
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| Join::Syn {
            backup,
            address_id,
            token: Token(token),
            nonce
        }),
        any::<(bool, u8, [u8; 8], u32)>().prop_map(|(backup, address_id, hmac, nonce)| Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac }),
    ]
}

fn dss() -> impl Strategy<Value = Dss> {
    let sequence =
        || prop_oneof![any::<u32>().prop_map(DataSequence::Short), any::<u64>().prop_map(DataSequence::Long)];
    let mapping = (sequence(), any::<(u32, u16, Option<u16>)>()).prop_map(
        |(data_sequence, (subflow_sequence, length, checksum))| Mapping {
            data_sequence,
            subflow_sequence,
            length,
            checksum,
        },
    );
    (any::<bool>(), proptest::option::of(sequence()), proptest::option::of(mapping))
        .prop_map(|(data_fin, acknowledgement, mapping)| Dss { data_fin, acknowledgement, mapping })
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    let announcement = prop_oneof![
        Just(Announcement::Unsigned),
        any::<[u8; 8]>().prop_map(Announcement::Signed),
        Just(Announcement::Echo)
    ];
    (any::<(u8, IpAddr, Option<u16>)>(), announcement).prop_map(
        |((address_id, address, port), announcement)| AddAddr { address_id, address, port, announcement },
    )
}

fn mptcp_option() -> impl Strategy<Value = mptcp::Option<'static>> {
    prop_oneof![
        capable().prop_map(mptcp::Option::Capable),
        join().prop_map(mptcp::Option::Join),
        dss().prop_map(mptcp::Option::Dss),
        add_addr().prop_map(mptcp::Option::AddAddr),
        bytes(1..=37).prop_map(|address_ids| mptcp::Option::RemoveAddr(RemoveAddr { address_ids })),
        any::<(bool, Option<u8>)>()
            .prop_map(|(backup, address_id)| mptcp::Option::Priority(Priority { backup, address_id })),
        any::<u64>().prop_map(|data_sequence| mptcp::Option::Fail(Fail { data_sequence })),
        any::<u64>().prop_map(|key| mptcp::Option::FastClose(FastClose { receiver_key: Key(key) })),
        any::<(bool, u8)>().prop_map(|(transient, reason)| mptcp::Option::Reset(Reset { transient, reason })),
        (9..16_u8, bytes(1..=10)).prop_map(|(subtype, data)| {
            let data = [&[subtype << 4 | data[0] >> 4], &data[1..]].concat().leak();
            mptcp::Option::Unknown { subtype, data }
        }),
    ]
}

fn tcp_option() -> impl Strategy<Value = TcpOption<'static>> {
    // The kinds that are read, and those that only fill up.
    let unknown = any::<u8>().prop_filter("known", |kind| ![0, 1, 2, 3, 4, 5, 8, 30].contains(kind));
    prop_oneof![
        8 => mptcp_option().prop_map(TcpOption::Mptcp),
        1 => any::<u16>().prop_map(TcpOption::MaximumSegmentSize),
        1 => any::<u8>().prop_map(TcpOption::WindowScale),
        1 => Just(TcpOption::SackPermitted),
        1 => vec(any::<[u8; 8]>(), 1..=4).prop_map(|blocks| TcpOption::Sack(SackBlocks::new(blocks.leak()))),
        1 => any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
        1 => (unknown, bytes(0..=10)).prop_map(|(kind, data)| TcpOption::Unknown { kind, data }),
    ]
}

/// Options that together fit a header.
fn options() -> impl Strategy<Value = Vec<TcpOption<'static>>> {
    vec(tcp_option(), 0..5).prop_map(|mut options| {
        while options.iter().map(TcpOption::len).sum::<usize>() > TcpOption::MAX_LEN {
            options.pop();
        }
        options
    })
}

/// The encoded options of a header.
fn written(options: &[TcpOption]) -> Vec<u8> {
    let mut out = [0xa5; TcpOption::MAX_LEN];
    let len = TcpOption::write_all(options, &mut out).unwrap();
    assert!(out[len..].iter().all(|byte| *byte == 0xa5));
    out[..len].to_vec()
}

/// Options of a header with a few bytes changed, and random bytes.
fn near_options() -> impl Strategy<Value = Vec<u8>> {
    let good = options().prop_map(|options| written(&options));
    let any_bytes = vec(any::<u8>(), 0..=TcpOption::MAX_LEN);
    (prop_oneof![3 => good, 1 => any_bytes], vec(any::<(Index, u8)>(), 0..3)).prop_map(
        |(mut bytes, changes)| {
            for (at, value) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = value;
                }
            }
            bytes
        },
    )
}

/// A segment with these flags and options.
fn segment(flags: u8, options: &[u8]) -> Vec<u8> {
    let mut header = [0xa5; 20];
    let words = options.len().div_ceil(4);
    (header[12], header[13]) = ((5 + words as u8) << 4, flags);
    let mut segment = [&header, options].concat();
    segment.resize(20 + words * 4, 0);
    segment
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn options_that_are_written_are_read(options in options(), flags: u8) {
        let bytes = written(&options);
        prop_assert!(TcpOptions::new(&bytes).eq(options.iter().map(|option| Ok(*option))));
        let segment = segment(flags, &bytes);
        prop_assert!(Tcp::parse(&segment).unwrap().options().eq(TcpOptions::new(&bytes)));
    }

    #[test]
    fn what_is_read_of_any_bytes_is_read_again_when_it_is_written(bytes in near_options()) {
        let mut read = TcpOptions::new(&bytes);
        // Every option has at least two bytes, so there cannot be more.
        for option in read.by_ref().take(TcpOption::MAX_LEN / 2).flatten() {
            let again = written(&[option]);
            prop_assert_eq!(TcpOptions::new(&again).next(), Some(Ok(option)));
        }
        prop_assert_eq!(read.next(), None);
    }

    #[test]
    fn a_malformed_option_changes_nothing_of_those_around_it(
        before in options(), kind in select(vec![2_u8, 3, 4, 8, 30]), data in bytes(0..=6), behind in options(),
    ) {
        // No option of these kinds has this length and content.
        let bad = [&[kind, 5 + data.len() as u8, 0x10, 0, 0], data].concat();
        prop_assume!(TcpOptions::new(&bad).next().unwrap().is_err());
        let (before_bytes, behind_bytes): (Vec<u8>, Vec<u8>) = (
            before.iter().flat_map(|option| written(&[*option])[..option.len()].to_vec()).collect(),
            written(&behind),
        );
        let bytes = [before_bytes, bad, behind_bytes].concat();
        let read: Vec<_> = TcpOptions::new(&bytes).collect();
        prop_assert_eq!(read.len(), before.len() + 1 + behind.len());
        let good: Vec<_> = read.into_iter().flatten().collect();
        prop_assert_eq!(good, [before, behind].concat());
    }

    #[test]
    fn a_handshake_is_one_of_the_options_and_in_the_right_segment(bytes in near_options(), flags: u8) {
        let segment = segment(flags, &bytes);
        let tcp = Tcp::parse(&segment).unwrap();
        let handshakes = tcp.options().flatten().filter_map(|option| match option {
            TcpOption::Mptcp(mptcp::Option::Capable(capable)) => Some(Handshake::Capable(capable)),
            TcpOption::Mptcp(mptcp::Option::Join(join)) => Some(Handshake::Join(join)),
            _ => None,
        });
        match Handshake::read(&tcp) {
            Ok(found) => prop_assert!(handshakes.eq(found)),
            Err(wrong) => prop_assert!(wrong.at < tcp.header_len() - Tcp::MIN_HEADER_LEN),
        }
        if let Ok(Some(Handshake::Join(join))) = Handshake::read(&tcp) {
            prop_assert!(mptcp::Option::Join(join).belongs(tcp.flags()));
        }
    }

    #[test]
    fn an_hmac_proves_what_it_was_made_for_and_nothing_else(
        version in version(), keys: (u64, u64), nonces: (u32, u32), bit in 0..160_usize, other: u32,
    ) {
        let one = Party { key: Key(keys.0), nonce: nonces.0 };
        let two = Party { key: Key(keys.1), nonce: nonces.1 };
        let hmac = mptcp::join_hmac(version, one, two);
        let proves = |hmac, sender, receiver| (Join::Ack { hmac }).verify(version, sender, receiver);
        prop_assert!(proves(hmac, one, two));
        let mut spoilt = hmac;
        spoilt[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(!proves(spoilt, one, two));
        prop_assume!(other != one.nonce && one != two);
        let another = Party { nonce: other, ..one };
        prop_assert!(!proves(hmac, two, one) && !proves(hmac, another, two));
    }
}
