//! The frames of `vectors.json`, made by a second implementation (`vectors.py`), are parsed and written
//! exactly.

use std::fmt::Debug;

use serde_json::Value;
use weft_wire::{
    Arp, ArpOperation, Echo, Error, EtherType, Ethernet, Hello, HelloFrame, Ip, Ipv6, Key, Mac, MacRange,
    Neighbor, NeighborOperation, PathFrame, PathHeader, PathType, Probe, ProbeFrame, Reach, SwitchId,
    TAG_LEN, Tag, TagWidth, TaggedFrame, TcpFrame, Tuple, Udp, VlanTag, pop_tag, push_tag, unwrap, wrap,
};

use crate::json::{each_vector, unhex};

/// A vector of the file.
#[derive(Clone, Copy)]
struct Vector<'a>(&'a Value);

impl Vector<'_> {
    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_else(|| panic!("{} has no {key}", self.0["name"]))
    }

    fn bytes(&self, key: &str) -> Vec<u8> {
        unhex(self.text(key))
    }

    fn number<T: TryFrom<u64, Error: Debug>>(&self, key: &str) -> T {
        self.0[key].as_u64().unwrap_or_else(|| panic!("{} has no {key}", self.0["name"])).try_into().unwrap()
    }

    fn address(&self, key: &str) -> Mac {
        Mac(unhex(&self.text(key).replace(':', "")).try_into().unwrap())
    }

    fn ethertype(&self) -> EtherType {
        EtherType(u16::from_str_radix(self.text("ethertype"), 16).unwrap())
    }

    fn key(&self) -> Option<Key> {
        self.0["key"].as_str().map(|key| Key::new(&unhex(key)))
    }

    fn as_sent(&self) -> bool {
        self.0["as_sent"].as_bool().unwrap()
    }

    fn tags(&self) -> Vec<VlanTag> {
        let tag = |tag: &Value| VlanTag {
            tpid: EtherType(u16::from_str_radix(tag["tpid"].as_str().unwrap(), 16).unwrap()),
            tci: Vector(tag).number("tci"),
        };
        self.0["tags"].as_array().unwrap().iter().map(tag).collect()
    }

    fn tuple(&self) -> Tuple {
        Tuple {
            source: self.address("source"),
            source_port: self.number("source_port"),
            destination: self.address("destination"),
            destination_port: self.number("destination_port"),
        }
    }

    fn hello(&self) -> Hello {
        Hello {
            tier: self.number("tier"),
            hold_ms: self.number("hold_ms"),
            switch: SwitchId(u64::from_str_radix(self.text("switch"), 16).unwrap()),
            port: self.number("port"),
            sequence: self.number("sequence"),
            echo: self.0.get("echo").map(|_| Echo(self.number("echo"))),
            number: self.0.get("number").map(|_| self.number("number")),
            misses: self.0.get("misses").is_some(),
        }
    }

    /// The ranges of an announcement; `None` if there is none.
    fn unreached(&self) -> Option<Vec<MacRange>> {
        let address = |text: &Value| text.as_str().unwrap().parse::<Mac>().unwrap().0;
        let ends = |ends: &Value| [0, 1].map(|end| address(&ends[end]));
        self.0.get("unreached").map(|list| list.as_array().unwrap().iter().map(ends).collect())
    }

    fn path_header(&self) -> PathHeader {
        let path_type = match self.text("type") {
            "request" => PathType::Request,
            "reply" => PathType::Reply,
            "fail" => PathType::Fail,
            "recovery_request" => PathType::RecoveryRequest,
            "recovery_reply" => PathType::RecoveryReply,
            other => panic!("unknown type {other}"),
        };
        PathHeader { path_type, hops: self.number("hops"), id: self.number("id"), tuple: self.tuple() }
    }
}

/// Calls `check` with the name and content of each vector of a group.
fn each(group: &str, check: impl Fn(&str, Vector)) {
    each_vector(group, |name, vector| check(name, Vector(vector)));
}

/// The bytes that `write` writes into a nonzero buffer.
fn written(write: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Result<Vec<u8>, Error> {
    let mut out = vec![0xa5; 2048];
    let len = write(&mut out)?;
    assert!(out[len..].iter().all(|byte| *byte == 0xa5), "more than {len} bytes were written");
    out.truncate(len);
    Ok(out)
}

#[test]
fn hellos_are_read_and_written() {
    each("hello", |name, vector| {
        let (frame, hello, key) = (vector.bytes("frame"), vector.hello(), vector.key());
        let read = HelloFrame::parse(&frame, vector.ethertype()).unwrap();
        assert_eq!((read.hello(), read.ethernet().source()), (hello, vector.address("source")), "{name}");
        assert_eq!(read.is_authenticated(), key.is_some(), "{name}");
        if let Some(key) = &key {
            assert_eq!(read.verify(key), Ok(()), "{name}");
        }
        let unreached = vector.unreached();
        let reach = unreached.as_ref().map(|unreached| Reach {
            first: vector.address("first"),
            last: vector.address("last"),
            unreached,
        });
        assert_eq!(read.reach(), reach, "{name}");
        let (source, ethertype) = (vector.address("source"), vector.ethertype());
        let sent = written(|out| hello.write_with(reach.as_ref(), source, ethertype, key.as_ref(), out));
        assert_eq!(sent.unwrap() == frame, vector.as_sent(), "{name}");
    });
}

#[test]
fn probes_are_read_and_written() {
    each("probe", |name, vector| {
        let (frame, key, source) = (vector.bytes("frame"), vector.key(), vector.address("source"));
        let flag = |name: &str| vector.0[name].as_bool().unwrap();
        let switch = SwitchId(u64::from_str_radix(vector.text("switch"), 16).unwrap());
        let probe = Probe {
            switch,
            port: vector.number("port"),
            blocked: flag("blocked"),
            hosts_only: flag("hosts_only"),
        };
        let read = ProbeFrame::parse(&frame, EtherType::HELLO).unwrap().expect("it is a probe");
        assert_eq!(read.probe(), probe, "{name}");
        let verdict = key.as_ref().map_or(Ok(()), |key| read.verify(key));
        assert_eq!(verdict, Ok(()), "{name}");
        let sent = written(|out| probe.write(source, EtherType::HELLO, key.as_ref(), out));
        assert_eq!(sent.unwrap(), frame, "{name}");
    });
}

#[test]
fn path_frames_without_original_are_read_and_written() {
    each("path", |name, vector| {
        let (frame, header) = (vector.bytes("frame"), vector.path_header());
        let read = PathFrame::parse(&frame, vector.ethertype()).unwrap();
        assert_eq!((read.header(), read.original()), (header, None), "{name}");
        assert!(read.ethernet().tags().eq(vector.tags()), "{name}");
        assert_eq!(read.ethernet().destination(), header.ethernet_destination(), "{name}");
        let sent = written(|out| header.write(&vector.tags(), vector.ethertype(), out));
        assert_eq!(sent.unwrap() == frame, vector.as_sent(), "{name}");
    });
}

#[test]
fn frames_are_wrapped_and_unwrapped() {
    each("wrap", |name, vector| {
        let (original, path, header) = (vector.bytes("original"), vector.bytes("path"), vector.path_header());
        let wrapped = written(|out| wrap(&original, header.path_type, header.id, vector.ethertype(), out));
        assert_eq!(wrapped.unwrap(), path, "{name}");
        assert_eq!(written(|out| unwrap(&path, vector.ethertype(), out)).unwrap(), original, "{name}");
        let read = PathFrame::parse(&path, vector.ethertype()).unwrap();
        assert_eq!(read.header(), header, "{name}");
        let (ethertype, payload) = read.original().unwrap();
        assert_eq!(format!("{:04x}", ethertype.0), vector.text("original_ethertype"), "{name}");
        assert!(original.ends_with(payload), "{name}");
    });
}

#[test]
fn tags_are_pushed_and_popped() {
    each("tag", |name, vector| {
        let (original, tagged) = (vector.bytes("original"), vector.bytes("tagged"));
        let (width, ethertype): (TagWidth, _) = (vector.text("width").parse().unwrap(), vector.ethertype());
        let tag = Tag { queue: vector.number("queue"), up: vector.number("up"), down: vector.number("down") };
        let pushed = written(|out| push_tag(&original, tag, width, ethertype, out));
        assert_eq!(pushed.unwrap(), tagged, "{name}");
        assert_eq!(tagged.len(), original.len() + TAG_LEN, "{name}");
        assert_eq!(written(|out| pop_tag(&tagged, width, ethertype, out)).unwrap(), original, "{name}");
        let read = TaggedFrame::parse(&tagged, width, ethertype).unwrap();
        assert_eq!((read.tag(), read.original()), (tag, &original[12..]), "{name}");
    });
}

#[test]
fn tcp_segments_are_read() {
    each("tcp", |name, vector| {
        let bytes = vector.bytes("frame");
        let frame = TcpFrame::parse(&bytes).unwrap();
        let tcp = frame.tcp();
        assert_eq!(frame.tuple(), vector.tuple(), "{name}");
        assert!(frame.ethernet().tags().eq(vector.tags()), "{name}");
        let (source, destination) = match frame.ip() {
            Ip::V4(ip) => (ip.source().to_string(), ip.destination().to_string()),
            Ip::V6(ip) => (ip.source().to_string(), ip.destination().to_string()),
        };
        assert_eq!(
            (&*source, &*destination),
            (vector.text("ip_source"), vector.text("ip_destination")),
            "{name}"
        );
        assert_eq!(
            (frame.ip().dscp(), frame.ip().ecn()),
            (vector.number("dscp"), vector.number("ecn")),
            "{name}"
        );
        assert_eq!(
            (tcp.sequence(), tcp.flags().0),
            (vector.number("sequence"), vector.number("flags")),
            "{name}"
        );
        assert_eq!(tcp.acknowledgement(), vector.number::<u32>("acknowledgement"), "{name}");
        assert_eq!(tcp.payload(), vector.bytes("data"), "{name}");
    });
}

/// The UDP datagram in a frame.
fn udp(frame: &[u8]) -> Result<Udp<'_>, Error> {
    Udp::parse(Ip::parse(&Ethernet::parse(frame)?)?.payload())
}

#[test]
fn udp_datagrams_are_read() {
    each("udp", |name, vector| {
        let frame = vector.bytes("frame");
        let udp = udp(&frame).unwrap();
        let ports = (vector.number("source_port"), vector.number("destination_port"));
        assert_eq!((udp.source_port(), udp.destination_port()), ports, "{name}");
        assert_eq!(udp.payload(), vector.bytes("data"), "{name}");
    });
}

#[test]
fn arp_packets_are_read() {
    each("arp", |name, vector| {
        let bytes = vector.bytes("frame");
        let ethernet = Ethernet::parse(&bytes).unwrap();
        let arp = Arp::parse(&ethernet).unwrap();
        let operation =
            if vector.text("operation") == "request" { ArpOperation::Request } else { ArpOperation::Reply };
        assert_eq!(arp.operation(), operation, "{name}");
        assert_eq!(
            (arp.sender(), arp.target()),
            (vector.address("sender"), vector.address("target")),
            "{name}"
        );
        assert_eq!(arp.sender_ip().to_string(), vector.text("sender_ip"), "{name}");
        assert_eq!(arp.target_ip().to_string(), vector.text("target_ip"), "{name}");
    });
}

#[test]
fn neighbour_discovery_is_read() {
    each("neighbor", |name, vector| {
        let bytes = vector.bytes("frame");
        let ethernet = Ethernet::parse(&bytes).unwrap();
        let ip = Ipv6::parse(ethernet.payload()).unwrap();
        let message = Neighbor::parse(&ip).unwrap();
        let operation = match vector.text("operation") {
            "solicitation" => NeighborOperation::Solicitation,
            _ => NeighborOperation::Advertisement,
        };
        assert_eq!(
            (message.operation(), &*message.target().to_string()),
            (operation, vector.text("target")),
            "{name}"
        );
    });
}

#[test]
fn messages_are_signed_and_verified() {
    each("signature", |name, vector| {
        let (key, message) = (Key::new(&vector.bytes("key")), vector.bytes("message"));
        let signature = key.sign(&message);
        assert_eq!(signature.to_vec(), vector.bytes("signature"), "{name}");
        assert!(key.verify(&message, &signature) && !key.verify(b"another message", &signature), "{name}");
    });
}

/// The values of an error.
fn values(error: &Error) -> Vec<usize> {
    match *error {
        Error::Short { need, have } | Error::Buffer { need, have } => vec![need, have],
        Error::HeaderLength { least, given } => vec![least, given],
        Error::EtherType(ethertype) => vec![ethertype.0.into()],
        Error::Version(number) | Error::Type(number) => vec![number.into()],
        Error::OptionLength { given, .. } => vec![given],
        Error::Unwritable { kind } => vec![kind.into()],
        Error::Protocol(protocol) => vec![protocol.0.into()],
        Error::Unsupported { value, .. } => vec![value.into()],
        Error::Range { value, most, .. } => vec![value as usize, most as usize],
        Error::Tags(count) => vec![count],
        Error::NoOriginal(path_type) | Error::NeedsOriginal(path_type) => vec![path_type as usize],
        Error::Missing { .. }
        | Error::Repeated { .. }
        | Error::Destination(_)
        | Error::Misplaced { .. }
        | Error::Fragment
        | Error::Extensions
        | Error::Unsigned
        | Error::Signature => vec![],
    }
}

#[test]
fn invalid_frames_are_refused_for_their_reason() {
    each("invalid", |name, vector| {
        let frame = &vector.bytes("frame")[..];
        let refused = match vector.text("reader") {
            "hello" => HelloFrame::parse(frame, EtherType::HELLO).err(),
            "verify" => {
                let hello = HelloFrame::parse(frame, EtherType::HELLO).unwrap();
                hello.verify(&vector.key().unwrap()).err()
            }
            "path" => PathFrame::parse(frame, EtherType::PATH).err(),
            "wrap" => written(|out| wrap(frame, PathType::Request, 1, EtherType::PATH, out)).err(),
            "unwrap" => written(|out| unwrap(frame, EtherType::PATH, out)).err(),
            "tag" => TaggedFrame::parse(frame, TagWidth::Narrow, EtherType::TAG).err(),
            "wide_tag" => TaggedFrame::parse(frame, TagWidth::Wide, EtherType::WIDE_TAG).err(),
            "push" => {
                let tag = Tag { queue: 0, up: 0, down: 2 };
                written(|out| push_tag(frame, tag, TagWidth::Narrow, EtherType::TAG, out)).err()
            }
            "tcp" => TcpFrame::parse(frame).err(),
            "udp" => udp(frame).err(),
            "arp" => Ethernet::parse(frame).and_then(|ethernet| Arp::parse(&ethernet).map(|_| ())).err(),
            "neighbor" => Ethernet::parse(frame)
                .and_then(|ethernet| Ipv6::parse(ethernet.payload()))
                .and_then(|ip| Neighbor::parse(&ip).map(|_| ()))
                .err(),
            other => panic!("unknown reader {other}"),
        };
        let error = refused.unwrap_or_else(|| panic!("{name} was accepted"));
        let expected = &vector.0["error"];
        assert_eq!(error.counter(), expected["counter"], "{name}");
        assert_eq!(Value::from(values(&error)), expected["values"], "{name}");
        assert!(!error.to_string().is_empty());
    });
}
