//! A frame is rejected or parsed; a parsed frame can be written; wrap and unwrap are inverse, and so
//! are pushing and popping a tag.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_wire::{
    Arp, EtherType, Ethernet, HelloFrame, Ip, Key, MIN_FRAME, Mac, Neighbor, PathFrame, PathType, ProbeFrame,
    Tag, TagWidth, TaggedFrame, TcpFrame, count_hop, pop_tag, push_tag, unwrap, wrap,
};

fuzz_target!(|frame: &[u8]| {
    let mut out = vec![0; frame.len() + 2 * MIN_FRAME];
    let mut again = out.clone();
    if let Ok(read) = HelloFrame::parse(frame, EtherType::HELLO) {
        let key = Key::new(b"key");
        assert!(read.verify(&key).is_err());
        let source = read.ethernet().source();
        let reach = read.reach();
        let written = read.hello().write_with(reach.as_ref(), source, EtherType::HELLO, Some(&key), &mut out);
        let len = written.expect("large enough buffer");
        let written = HelloFrame::parse(&out[..len], EtherType::HELLO).expect("a written Hello parses");
        assert_eq!((written.hello(), written.reach(), written.verify(&key)), (read.hello(), reach, Ok(())));
    }
    if let Ok(Some(read)) = ProbeFrame::parse(frame, EtherType::HELLO) {
        let key = Key::new(b"key");
        assert!(read.verify(&key).is_err());
        let written = read.probe().write(Mac::default(), EtherType::HELLO, Some(&key), &mut out);
        let len = written.expect("large enough buffer");
        let written = ProbeFrame::parse(&out[..len], EtherType::HELLO).expect("it is well-formed");
        let written = written.expect("a written probe parses");
        assert_eq!((written.probe(), written.verify(&key)), (read.probe(), Ok(())));
    }
    if let Ok(read) = PathFrame::parse(frame, EtherType::PATH) {
        if read.original().is_some() {
            let len = unwrap(frame, EtherType::PATH, &mut out).expect("large enough buffer");
            assert!(frame.ends_with(&out[read.ethernet().header_len()..len]));
        } else {
            let tags: Vec<_> = read.ethernet().tags().collect();
            let len = read.header().write(&tags, EtherType::PATH, &mut out).expect("large enough buffer");
            let written = PathFrame::parse(&out[..len], EtherType::PATH).expect("a written Path frame parses");
            assert_eq!(written.header(), read.header());
        }
        let counted = count_hop(&mut frame.to_vec(), EtherType::PATH).expect("it was parsed");
        assert_eq!(counted, read.header().hops.saturating_add(1));
    }
    let wrapped = wrap(frame, PathType::Request, 1, EtherType::PATH, &mut out);
    assert_eq!(wrapped.err(), TcpFrame::parse(frame).err());
    if let Ok(len) = wrapped {
        let original =
            unwrap(&out[..len], EtherType::PATH, &mut again).expect("a wrapped frame unwraps");
        assert_eq!(&again[..original], frame);
    }
    for width in TagWidth::ALL {
        let ethertype = width.ethertype();
        if let Ok(read) = TaggedFrame::parse(frame, width, ethertype) {
            let len = pop_tag(frame, width, ethertype, &mut out).expect("large enough buffer");
            let tagged = push_tag(&out[..len], read.tag(), width, ethertype, &mut again);
            assert_eq!(&again[..tagged.expect("a parsed tag can be pushed")], frame);
        }
        let tag = Tag { queue: 1, up: 48, down: 30 };
        if let Ok(len) = push_tag(frame, tag, width, ethertype, &mut out) {
            let original = pop_tag(&out[..len], width, ethertype, &mut again).expect("a tagged frame parses");
            assert_eq!(&again[..original], frame);
        }
    }
    if let Ok(ethernet) = Ethernet::parse(frame) {
        let _ = Arp::parse(&ethernet);
        if let Ok(Ip::V6(ip)) = Ip::parse(&ethernet) {
            let _ = Neighbor::parse(&ip).map(|message| message.target());
        }
    }
});
