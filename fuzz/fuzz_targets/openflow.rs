//! A stream is split into messages; a message that parses survives a round trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_wire::openflow::{Message, Messages};

fuzz_target!(|stream: &[u8]| {
    let mut out = vec![0; usize::from(u16::MAX)];
    for bytes in Messages::new(stream).map_while(Result::ok) {
        if let Ok((xid, message)) = Message::parse(bytes) {
            let len = message.write(xid, &mut out).expect("large enough buffer");
            assert_eq!(Message::parse(&out[..len]), Ok((xid, message)));
        }
    }
});
