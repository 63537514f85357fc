//! Any options of a segment are parsed to their end; each parsed option survives a round trip, and a
//! handshake is one of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_wire::mptcp::{self, Handshake, Join, Key, Party, Version};
use weft_wire::{Tcp, TcpFrame, TcpOption, TcpOptions, Udp};

fn check(tcp: &Tcp) {
    let mut options = tcp.options();
    let mut handshakes = 0;
    for option in options.by_ref().take(TcpOption::MAX_LEN / 2) {
        let Ok(option) = option else { continue };
        let mut out = [0; TcpOption::MAX_LEN];
        let len = TcpOption::write_all(&[option], &mut out).expect("a parsed option can be written");
        assert_eq!(TcpOptions::new(&out[..len]).next(), Some(Ok(option)));
        match option {
            TcpOption::Mptcp(mptcp::Option::Join(join)) => {
                let party = |key| Party { key: Key(key), nonce: 1 };
                for version in [Version::V0, Version::V1] {
                    assert!(!join.verify(version, party(1), party(2)) || !matches!(join, Join::Syn { .. }));
                }
                handshakes += 1;
            }
            TcpOption::Mptcp(mptcp::Option::Capable(_)) => handshakes += 1,
            TcpOption::Mptcp(mptcp::Option::AddAddr(add)) => {
                let _ = add.verify(Key(1), Key(2));
            }
            _ => {}
        }
    }
    assert!(options.next().is_none(), "more options than fit the header");
    match Handshake::read(tcp) {
        Ok(found) => assert_eq!(handshakes, usize::from(found.is_some())),
        Err(wrong) => assert!(wrong.at < TcpOption::MAX_LEN),
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frame) = TcpFrame::parse(bytes) {
        check(frame.tcp());
    }
    if let Ok(tcp) = Tcp::parse(bytes) {
        check(&tcp);
    }
    // The same bytes as options alone, after a byte of flags: the fastest way for a fuzzer to reach them.
    if let Some((&flags, options)) =
        bytes.split_first().filter(|(_, options)| options.len() <= TcpOption::MAX_LEN)
    {
        let words = options.len() / 4;
        let mut header = [0; 20];
        (header[12], header[13]) = ((5 + words as u8) << 4, flags);
        let segment = [&header, &options[..words * 4]].concat();
        check(&Tcp::parse(&segment).expect("valid data offset"));
    }
    let _ = Udp::parse(bytes).map(|udp| udp.payload());
});
