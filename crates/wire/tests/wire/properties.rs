//! Properties of all frames: written frames parse to the same, wrapping is undone exactly, no bytes make
//! a parser panic, and a truncated frame parses to the same or an error.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use weft_wire::{
    Arp, Echo, Error, EtherType, Ethernet, Hello, HelloFrame, Ip, Key, Mac, MacRange, Neighbor,
    PATH_HEADER_LEN, PathFrame, PathHeader, PathType, Reach, SwitchId, Tag, TagWidth, TaggedFrame, TcpFrame,
    Tuple, VlanTag, count_hop, pop_tag, push_tag, unwrap, wrap,
};

fn mac() -> impl Strategy<Value = Mac> {
    any::<[u8; 6]>().prop_map(Mac)
}

fn tags() -> impl Strategy<Value = Vec<VlanTag>> {
    let tpid = select(vec![EtherType::VLAN, EtherType::SERVICE_VLAN]);
    vec((tpid, any::<u16>()).prop_map(|(tpid, tci)| VlanTag { tpid, tci }), 0..=Ethernet::MAX_TAGS)
}

fn hello() -> impl Strategy<Value = Hello> {
    any::<(u8, u32, u64, u16, u64, Option<u16>, Option<u8>, bool)>().prop_map(
        |(tier, hold_ms, switch, port, sequence, echo, number, misses)| Hello {
            tier,
            hold_ms,
            switch: SwitchId(switch),
            port,
            sequence,
            echo: echo.map(Echo),
            number,
            misses,
        },
    )
}

/// What a Hello says about the stations that its sender reaches: the ends of the range, and the list.
fn announced() -> impl Strategy<Value = Option<(Mac, Mac, Vec<MacRange>)>> {
    option::of((mac(), mac(), vec(any::<MacRange>(), 0..=Reach::MOST)))
}

/// The header of a Path frame of one of these types.
fn path_header(types: &'static [PathType]) -> impl Strategy<Value = PathHeader> {
    let tuple = (mac(), any::<u16>(), mac(), any::<u16>()).prop_map(
        |(source, source_port, destination, destination_port)| Tuple {
            source,
            source_port,
            destination,
            destination_port,
        },
    );
    (select(types), any::<u8>(), any::<u32>(), tuple).prop_map(|(path_type, hops, id, tuple)| PathHeader {
        path_type,
        hops,
        id,
        tuple,
    })
}

/// The types of Path frames that carry no original frame.
const WITHOUT_ORIGINAL: [PathType; 3] = [PathType::Fail, PathType::RecoveryRequest, PathType::RecoveryReply];

/// IPv6 extension headers by number: options, routing, a fragment header of a whole packet.
const EXTENSIONS: [(u8, [u8; 8]); 4] = [(0, [0; 8]), (60, [0; 8]), (43, [0; 8]), (44, [0; 8])];

/// A frame with a TCP segment: over both IP versions, with tags, options, extension headers, data and
/// padding.
fn tcp_frame() -> impl Strategy<Value = Vec<u8>> {
    let ends = (mac(), mac(), tags());
    let segment = (any::<[u8; 20]>(), 5..16_u8, vec(any::<u8>(), 60 - 20), vec(any::<u8>(), 0..64));
    let v4 = (any::<[u8; 20]>(), 5..16_u8, vec(any::<u8>(), 60 - 20));
    let v6 = (any::<[u8; 40]>(), subsequence(&EXTENSIONS[..], 0..=EXTENSIONS.len()));
    (ends, segment, v4, v6, any::<bool>(), vec(any::<u8>(), 0..20)).prop_map(
        |((destination, source, tags), (mut tcp, offset, tcp_options, data), v4, v6, is_v6, padding)| {
            tcp[12] = offset << 4 | tcp[12] & 0x0f;
            let segment = [&tcp[..], &tcp_options[..usize::from(offset) * 4 - 20], &data].concat();
            let mut frame = [destination.0, source.0].concat();
            tags.iter().for_each(|tag| frame.extend(tag.to_bytes()));
            if is_v6 {
                let (mut header, extensions) = v6;
                let numbers: Vec<u8> = extensions.iter().map(|(number, _)| *number).chain([6]).collect();
                let carried: Vec<u8> = (extensions.iter().zip(&numbers[1..]))
                    .flat_map(|((_, bytes), next)| [&[*next], &bytes[1..]].concat())
                    .chain(segment)
                    .collect();
                header[0] = 0x60 | header[0] & 0x0f;
                header[4..6].copy_from_slice(&(carried.len() as u16).to_be_bytes());
                header[6] = numbers[0];
                frame.extend([0x86, 0xdd].iter().chain(&header).chain(&carried));
            } else {
                let (mut header, words, options) = v4;
                let options = &options[..usize::from(words) * 4 - 20];
                header[0] = 0x40 | words;
                let total = (20 + options.len() + segment.len()) as u16;
                header[2..4].copy_from_slice(&total.to_be_bytes());
                // Maybe "do not fragment", never a fragment.
                (header[6], header[7]) = (header[6] & 0x40, 0);
                header[9] = 6;
                frame.extend([0x08, 0x00].iter().chain(&header).chain(options).chain(&segment));
            }
            frame.extend(padding);
            frame
        },
    )
}

/// A Path frame of any type, with an original frame if the type has one.
fn path_frame() -> impl Strategy<Value = Vec<u8>> {
    (path_header(&PathType::ALL), tags(), tcp_frame()).prop_map(|(header, tags, original)| {
        made(|out| match header.path_type.carries_original() {
            true => wrap(&original, header.path_type, header.id, EtherType::PATH, out),
            false => header.write(&tags, EtherType::PATH, out),
        })
    })
}

/// A Hello, signed or not.
fn hello_frame() -> impl Strategy<Value = Vec<u8>> {
    (hello(), announced(), mac(), any::<Option<[u8; 20]>>()).prop_map(|(hello, announced, source, key)| {
        let key = key.map(|key| Key::new(&key));
        let reach = announced.as_ref().map(|(first, last, unreached)| Reach {
            first: *first,
            last: *last,
            unreached,
        });
        made(|out| hello.write_with(reach.as_ref(), source, EtherType::HELLO, key.as_ref(), out))
    })
}

/// A width, and a tag that fits it.
fn tag() -> impl Strategy<Value = (TagWidth, Tag)> {
    (select(&TagWidth::ALL[..]), 0..=Tag::MAX_QUEUE, any::<u32>(), any::<u32>())
        .prop_map(|(width, queue, up, down)| {
            (width, Tag { queue, up: up & width.max_up(), down: down & width.max_down() })
        })
        .prop_filter("it has a gate", |(_, tag)| (tag.up, tag.down) != (0, 0))
}

/// A tagged frame.
fn tagged_frame() -> impl Strategy<Value = Vec<u8>> {
    (tag(), tcp_frame()).prop_map(|((width, tag), original)| {
        made(|out| push_tag(&original, tag, width, width.ethertype(), out))
    })
}

/// Any frame, or one with a few bytes changed.
fn near_frame() -> impl Strategy<Value = Vec<u8>> {
    let frame =
        prop_oneof![tcp_frame(), path_frame(), hello_frame(), tagged_frame(), vec(any::<u8>(), 0..200)];
    (frame, vec(any::<(Index, u8)>(), 0..4)).prop_map(|(mut frame, changes)| {
        for (at, value) in changes {
            if !frame.is_empty() {
                let at = at.index(frame.len());
                frame[at] = value;
            }
        }
        frame
    })
}

/// The bytes written into a large enough buffer.
fn made(write: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Vec<u8> {
    let mut out = vec![0xa5; 1024];
    let len = write(&mut out).unwrap();
    out.truncate(len);
    out
}

/// The result of each parser for `bytes`, as text, without the frame's end.
fn read_all(bytes: &[u8]) -> [Result<String, Error>; 8] {
    let ethernet = Ethernet::parse(bytes);
    let path = |frame: PathFrame| format!("{:?} {:?}", frame.header(), frame.original().map(|(of, _)| of));
    let hello = |frame: HelloFrame| {
        let verdict = frame.verify(&Key::new(b"key"));
        format!("{:?} {:?} {verdict:?}", frame.hello(), frame.reach())
    };
    let ip = |ip: Ip| format!("{:?} {} {} {}", ip.protocol(), ip.is_fragment(), ip.dscp(), ip.ecn());
    let tcp = |frame: TcpFrame| {
        let tcp = frame.tcp();
        format!("{:?} {:?} {} {}", frame.tuple(), tcp.flags(), tcp.sequence(), tcp.acknowledgement())
    };
    let neighbor = |ip: Ip| match ip {
        Ip::V6(ip) => Neighbor::parse(&ip).map(|message| format!("{message:?} {}", message.target())),
        Ip::V4(ip) => Err(Error::Protocol(ip.protocol())),
    };
    let tagged = |width: TagWidth| {
        TaggedFrame::parse(bytes, width, width.ethertype()).map(|frame| format!("{:?}", frame.tag()))
    };
    [
        tagged(TagWidth::Narrow),
        tagged(TagWidth::Wide),
        HelloFrame::parse(bytes, EtherType::HELLO).map(hello),
        PathFrame::parse(bytes, EtherType::PATH).map(path),
        TcpFrame::parse(bytes).map(tcp),
        ethernet.and_then(|ethernet| Ip::parse(&ethernet)).map(ip),
        ethernet.and_then(|ethernet| Ip::parse(&ethernet)).and_then(neighbor),
        ethernet.and_then(|ethernet| Arp::parse(&ethernet).map(|arp| format!("{arp:?}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_hello_that_is_written_is_read(
        hello in hello(), announced in announced(), source in mac(), ethertype: u16, key: Option<[u8; 20]>
    ) {
        let key = key.map(|key| Key::new(&key));
        // EtherTypes of tags cannot be payloads.
        prop_assume!(!EtherType(ethertype).is_tag());
        let reach = announced.as_ref().map(|(first, last, unreached)| Reach { first: *first, last: *last, unreached });
        let frame = made(|out| hello.write_with(reach.as_ref(), source, EtherType(ethertype), key.as_ref(), out));
        prop_assert!(frame.len() <= Hello::MOST);
        let read = HelloFrame::parse(&frame, EtherType(ethertype)).unwrap();
        prop_assert_eq!((read.hello(), read.reach(), read.ethernet().source()), (hello, reach, source));
        prop_assert_eq!(read.is_authenticated(), key.is_some());
        if let Some(key) = &key {
            prop_assert_eq!(read.verify(key), Ok(()));
        }
    }

    #[test]
    fn a_path_frame_that_is_written_is_read(header in path_header(&WITHOUT_ORIGINAL), tags in tags(), hops: u8) {
        let mut frame = made(|out| header.write(&tags, EtherType::PATH, out));
        let read = PathFrame::parse(&frame, EtherType::PATH).unwrap();
        prop_assert_eq!(read.header(), header);
        prop_assert!(read.ethernet().tags().eq(tags.iter().copied()));
        for _ in 0..hops {
            count_hop(&mut frame, EtherType::PATH).unwrap();
        }
        let counted = PathHeader { hops: header.hops.saturating_add(hops), ..header };
        prop_assert_eq!(frame, made(|out| counted.write(&tags, EtherType::PATH, out)));
    }

    #[test]
    fn unwrapping_undoes_wrapping(original in tcp_frame(), reply: bool, id: u32, hops: u8, small: Index) {
        let path_type = if reply { PathType::Reply } else { PathType::Request };
        let mut path = made(|out| wrap(&original, path_type, id, EtherType::PATH, out));
        prop_assert_eq!(path.len(), original.len() + PATH_HEADER_LEN);
        let header = PathHeader { path_type, hops: 0, id, tuple: TcpFrame::parse(&original).unwrap().tuple() };
        let read = PathFrame::parse(&path, EtherType::PATH).unwrap();
        prop_assert_eq!(read.header(), header);
        prop_assert_eq!(read.ethernet().destination(), header.ethernet_destination());
        prop_assert!(read.ethernet().tags().eq(Ethernet::parse(&original).unwrap().tags()));
        for _ in 0..hops {
            count_hop(&mut path, EtherType::PATH).unwrap();
        }
        prop_assert_eq!(&made(|out| unwrap(&path, EtherType::PATH, out)), &original);

        let have = small.index(original.len());
        let mut buffer = vec![0xa5; have];
        let need = original.len();
        prop_assert_eq!(unwrap(&path, EtherType::PATH, &mut buffer), Err(Error::Buffer { need, have }));
        let refused = wrap(&original, path_type, id, EtherType::PATH, &mut buffer);
        prop_assert_eq!(refused, Err(Error::Buffer { need: path.len(), have }));
        prop_assert!(buffer.iter().all(|byte| *byte == 0xa5));
    }

    #[test]
    fn wrapping_undoes_unwrapping(path in path_frame()) {
        let read = PathFrame::parse(&path, EtherType::PATH).unwrap();
        if let PathHeader { path_type: path_type @ (PathType::Request | PathType::Reply), id, .. } = read.header() {
            let original = made(|out| unwrap(&path, EtherType::PATH, out));
            prop_assert_eq!(made(|out| wrap(&original, path_type, id, EtherType::PATH, out)), path);
        }
    }

    #[test]
    fn popping_undoes_pushing((width, tag) in tag(), original in tcp_frame(), small: Index) {
        let ethertype = width.ethertype();
        let tagged = made(|out| push_tag(&original, tag, width, ethertype, out));
        let read = TaggedFrame::parse(&tagged, width, ethertype).unwrap();
        prop_assert_eq!((read.tag(), read.original()), (tag, &original[12..]));
        prop_assert_eq!(Tag::from_bytes(tag.to_bytes(width).unwrap(), width), Ok(tag));
        prop_assert_eq!(&made(|out| pop_tag(&tagged, width, ethertype, out)), &original);

        let have = small.index(original.len());
        let mut buffer = vec![0xa5; have];
        let refused = pop_tag(&tagged, width, ethertype, &mut buffer);
        prop_assert_eq!(refused, Err(Error::Buffer { need: original.len(), have }));
        let refused = push_tag(&original, tag, width, ethertype, &mut buffer);
        prop_assert_eq!(refused, Err(Error::Buffer { need: tagged.len(), have }));
        prop_assert!(buffer.iter().all(|byte| *byte == 0xa5));
    }

    #[test]
    fn a_tag_that_is_read_says_all_its_bits(bytes: [u8; 6], width in select(&TagWidth::ALL[..])) {
        if let Ok(tag) = Tag::from_bytes(bytes, width) {
            prop_assert_eq!(tag.to_bytes(width), Ok(bytes));
        } else {
            prop_assert_eq!([bytes[0] & 0x1f, bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]], [0; 6]);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(frame in near_frame(), number: u8) {
        let _ = read_all(&frame);
        let mut out = [0; 1024];
        let _ = unwrap(&frame, EtherType::PATH, &mut out);
        let _ = PathType::from_number(number).map(|of| wrap(&frame, of, 0, EtherType::PATH, &mut out));
        let _ = count_hop(&mut frame.clone(), EtherType::PATH);
        for width in TagWidth::ALL {
            let tag = Tag { queue: number, up: number.into(), down: 1 };
            let _ = push_tag(&frame, tag, width, width.ethertype(), &mut out);
            let _ = pop_tag(&frame, width, width.ethertype(), &mut out);
        }
    }

    #[test]
    fn a_frame_cut_short_is_refused_or_says_the_same(frame in near_frame()) {
        let whole = read_all(&frame);
        for len in 0..frame.len() {
            for (cut, whole) in read_all(&frame[..len]).into_iter().zip(&whole) {
                if !matches!(cut, Err(Error::Short { .. })) {
                    prop_assert_eq!(&cut, whole, "{} of {} bytes", len, frame.len());
                }
            }
            let mut out = [0; 1024];
            if let Ok(cut) = unwrap(&frame[..len], EtherType::PATH, &mut out) {
                let original = made(|out| unwrap(&frame, EtherType::PATH, out));
                prop_assert_eq!(&out[..cut], &original[..cut]);
            }
        }
    }
}
