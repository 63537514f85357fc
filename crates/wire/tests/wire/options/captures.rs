//! The connections of `captures.json`, most of them from the kernel: every option is parsed as by the
//! second implementation, and keys, tokens, sequence numbers and HMACs are consistent.

use serde_json::Value;
use weft_wire::mptcp::{
    Announcement, DataSequence, Handshake, Join, Key, Option as Mptcp, Party, Token, Version,
};
use weft_wire::{TcpFrame, TcpOption};

use crate::json::unhex;
use crate::options::notation::{self, hex, number};

/// Calls `check` with each capture.
fn each(mut check: impl FnMut(&Value)) {
    let file: Value = serde_json::from_str(include_str!("../../../captures.json")).unwrap();
    let captures = file["captures"].as_array().unwrap();
    assert!(captures.len() > 20);
    captures.iter().for_each(&mut check);
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The frame and its name in messages.
fn frame(capture: &Value, at: usize) -> (Vec<u8>, String) {
    let bytes = unhex(capture["frames"][at]["frame"].as_str().unwrap());
    (bytes, format!("{}, frame {at}", capture["name"]))
}

#[test]
fn options_are_read_as_the_second_implementation_reads_them() {
    each(|capture| {
        for (at, said) in list(capture, "frames").iter().enumerate() {
            let (bytes, name) = frame(capture, at);
            let tcp = *TcpFrame::parse(&bytes).unwrap().tcp();
            let options: Result<Vec<_>, _> = tcp.options().collect();
            match options {
                Ok(options) => {
                    let read: Vec<_> = options.iter().map(notation::option).collect();
                    assert_eq!(Value::from(read), said["options"], "{name}");
                }
                Err(malformed) => assert_eq!(said["options"], Value::Null, "{name}: {malformed:?}"),
            }
            let handshake = match Handshake::read(&tcp) {
                Ok(None) => Value::Null,
                Ok(Some(Handshake::Capable(_))) => "mp_capable".into(),
                Ok(Some(Handshake::Join(_))) => "mp_join".into(),
                Err(_) => "malformed".into(),
            };
            assert_eq!(handshake, said["handshake"], "{name}");
        }
    });
}

#[test]
fn options_are_written_as_they_were_sent() {
    each(|capture| {
        for at in 0..list(capture, "frames").len() {
            let (bytes, name) = frame(capture, at);
            let tcp = *TcpFrame::parse(&bytes).unwrap().tcp();
            for option in tcp.options().flatten() {
                let mut out = [0xa5; TcpOption::MAX_LEN];
                TcpOption::write_all(&[option], &mut out).unwrap();
                assert!(hex(&bytes).contains(&hex(&out[..option.len()])), "{name}: {option:?}");
            }
        }
    });
}

/// A connection in `captures.json`.
struct Connection {
    version: Version,
    /// The client's key and the server's.
    keys: [Key; 2],
}

impl Connection {
    /// The connection if both ends agreed on it; checks its tokens and initial data sequence numbers
    /// against its keys.
    fn read(said: &Value, name: &Value) -> Option<Self> {
        let version = Version::from_number(said["version"].as_u64().unwrap() as u8).unwrap();
        if said["mptcp"] == false {
            return None;
        }
        let keys = ["client", "server"].map(|end| {
            let key = Key(number(&said[end]["key"]));
            assert_eq!(key.token(version), Token(number(&said[end]["token"]) as u32), "{name} {end}");
            assert_eq!(
                key.initial_data_sequence(version),
                said[end]["initial_data_sequence"],
                "{name} {end}"
            );
            key
        });
        Some(Self { version, keys })
    }

    /// The key of a frame's sender, and that of the receiver.
    fn keys_from(&self, host: &Value) -> (Key, Key) {
        let [client, server] = self.keys;
        if host == "client" { (client, server) } else { (server, client) }
    }

    /// Offset of a data sequence number in the data of the end with `key`.
    fn distance(&self, key: Key, place: DataSequence) -> u64 {
        let initial = key.initial_data_sequence(self.version);
        match place {
            DataSequence::Long(place) => place.wrapping_sub(initial),
            DataSequence::Short(place) => place.wrapping_sub(initial as u32).into(),
        }
    }
}

#[test]
fn what_the_options_of_a_connection_say_follows_from_its_keys() {
    let (mut announcements, mut mappings, mut closes) = (0, 0, 0);
    each(|capture| {
        let connections: Vec<_> = list(capture, "connections")
            .iter()
            .map(|said| Connection::read(said, &capture["name"]))
            .collect();
        for (at, said) in list(capture, "frames").iter().enumerate() {
            let (bytes, name) = frame(capture, at);
            let tcp = *TcpFrame::parse(&bytes).unwrap().tcp();
            let Some(connection) =
                said["connection"].as_u64().and_then(|at| connections[at as usize].as_ref())
            else {
                continue;
            };
            let (sender, receiver) = connection.keys_from(&said["from"]);
            for option in tcp.options().map(Result::unwrap) {
                match option {
                    TcpOption::Mptcp(Mptcp::Capable(capable)) => {
                        assert_eq!(capable.sender_key().unwrap_or(sender), sender, "{name}");
                        assert_eq!(capable.receiver_key().unwrap_or(receiver), receiver, "{name}");
                    }
                    TcpOption::Mptcp(Mptcp::Dss(dss)) => {
                        for (key, place) in [
                            (receiver, dss.acknowledgement),
                            (sender, dss.mapping.map(|mapping| mapping.data_sequence)),
                        ] {
                            let distance = place.map_or(1, |place| connection.distance(key, place));
                            assert!((1..100).contains(&distance), "{name}: {distance} bytes from the start");
                        }
                        mappings += 1;
                    }
                    TcpOption::Mptcp(Mptcp::AddAddr(add)) => {
                        let signed = matches!(add.announcement, Announcement::Signed(_));
                        assert_eq!(add.verify(sender, receiver), signed, "{name}");
                        announcements += usize::from(signed);
                    }
                    TcpOption::Mptcp(Mptcp::FastClose(close)) => {
                        assert_eq!(close.receiver_key, receiver, "{name}");
                        closes += 1;
                    }
                    _ => {}
                }
            }
        }
    });
    assert!(announcements > 5 && mappings > 50 && closes > 2, "{announcements} {mappings} {closes}");
}

#[test]
fn joins_are_proved_by_their_hmacs_unless_they_are_forged() {
    let mut confirmed = 0;
    each(|capture| {
        for said in list(capture, "connections") {
            let Some(connection) = Connection::read(said, &capture["name"]) else { continue };
            for subflow in list(said, "subflows") {
                let name = format!("{} {subflow}", capture["name"]);
                let (sender, receiver) = connection.keys_from(&subflow["by"]);
                assert_eq!(receiver.token(connection.version).to_string(), subflow["token"], "{name}");
                let nonce = |at: usize| number(&subflow["nonces"][at]) as u32;
                let (sender, receiver) =
                    (Party { key: sender, nonce: nonce(0) }, Party { key: receiver, nonce: nonce(1) });
                let mut proofs = [false; 2];
                for at in list(subflow, "frames") {
                    let (bytes, name) = frame(capture, at.as_u64().unwrap() as usize);
                    match Handshake::read(TcpFrame::parse(&bytes).unwrap().tcp()) {
                        Ok(Some(Handshake::Join(Join::Syn { nonce, .. }))) => assert_eq!(nonce, sender.nonce),
                        Ok(Some(Handshake::Join(join @ Join::SynAck { nonce, .. }))) => {
                            assert_eq!(nonce, receiver.nonce, "{name}");
                            proofs[0] = join.verify(connection.version, receiver, sender);
                        }
                        Ok(Some(Handshake::Join(join @ Join::Ack { .. }))) => {
                            proofs[1] = join.verify(connection.version, sender, receiver);
                        }
                        other => assert_eq!(other, Ok(None), "{name}"),
                    }
                }
                assert!(proofs[0], "{name}");
                assert_eq!(proofs[1], subflow["confirmed"], "{name}");
                confirmed += usize::from(proofs[1]);
            }
        }
    });
    assert!(confirmed > 20, "{confirmed}");
}

#[test]
fn a_token_that_is_unknown_is_that_of_no_key() {
    let mut strays = 0;
    each(|capture| {
        for stray in list(capture, "strays") {
            let token = Token(number(&stray["token"]) as u32);
            for said in list(capture, "connections") {
                let connection = Connection::read(said, &capture["name"]).unwrap();
                assert!(connection.keys.iter().all(|key| key.token(connection.version) != token));
            }
            strays += 1;
        }
    });
    assert_eq!(strays, 1);
}
