//! The TCP option lists of `vectors.json`, made by a second implementation (`option_vectors.py`).

use serde_json::Value;
use weft_wire::mptcp::{AddAddr, Announcement, Join, Key, Party, Token, Version, add_addr_hmac, join_hmac};
use weft_wire::{TcpOption, TcpOptions};

use crate::json::{each_vector, unhex};
use crate::options::notation::{self, hex, number};

/// The encoded options.
fn options(vector: &Value) -> Vec<u8> {
    unhex(vector["bytes"].as_str().unwrap())
}

#[test]
fn every_form_is_read_and_written() {
    each_vector("option", |name, vector| {
        let bytes = options(vector);
        let options: Vec<_> = TcpOptions::new(&bytes).map(Result::unwrap).collect();
        let [option] = options[..] else { panic!("{name}: {options:?}") };
        assert_eq!(notation::option(&option), vector["option"], "{name}");

        let mut out = [0xa5; TcpOption::MAX_LEN];
        let len = TcpOption::write_all(&[option], &mut out).unwrap();
        assert_eq!((option.len(), &out[..bytes.len()]), (bytes.len(), &bytes[..]), "{name}");
        assert!(out[bytes.len()..len].iter().all(|byte| *byte == 0), "{name}");
        assert!(out[len..].iter().all(|byte| *byte == 0xa5), "{name}: more than {len} bytes were written");
    });
}

#[test]
fn malformed_options_are_found_and_those_around_them_read() {
    each_vector("malformed_option", |name, vector| {
        let found: Vec<_> = TcpOptions::new(&options(vector))
            .map(|option| match option {
                Ok(option) => notation::option(&option),
                Err(wrong) => notation::malformed(&wrong),
            })
            .collect();
        assert_eq!(Value::from(found), vector["found"], "{name}");
    });
}

fn version(vector: &Value) -> Version {
    Version::from_number(vector["version"].as_u64().unwrap() as u8).unwrap()
}

#[test]
fn tokens_and_initial_data_sequence_numbers_follow_from_keys() {
    each_vector("key", |name, vector| {
        let key = Key(number(&vector["key"]));
        assert_eq!(key.token(version(vector)), Token(number(&vector["token"]) as u32), "{name}");
        let number = key.initial_data_sequence(version(vector));
        assert_eq!(number, vector["initial_data_sequence"], "{name}");
    });
}

#[test]
fn joins_are_proved_by_their_hmacs_and_by_no_others() {
    each_vector("join", |name, vector| {
        let version = version(vector);
        let [sender, receiver] = [0, 1].map(|end| Party {
            key: Key(number(&vector["keys"][end])),
            nonce: number(&vector["nonces"][end]) as u32,
        });
        let hmac = join_hmac(version, sender, receiver);
        assert_eq!(hex(&hmac), vector["hmac"], "{name}");

        let mut spoilt = hmac;
        spoilt[7] ^= 1;
        for (hmac, proved) in [(hmac, true), (spoilt, false)] {
            let left = *hmac.first_chunk().unwrap();
            let syn_ack = Join::SynAck { backup: false, address_id: 0, hmac: left, nonce: sender.nonce };
            let ack = Join::Ack { hmac };
            for join in [syn_ack, ack] {
                assert_eq!(join.verify(version, sender, receiver), proved, "{name}");
                assert!(!join.verify(version, receiver, sender), "{name}");
            }
        }
        let token = receiver.key.token(version);
        let syn = Join::Syn { backup: false, address_id: 0, token, nonce: sender.nonce };
        assert!(!syn.verify(version, sender, receiver), "a SYN proves nothing");
    });
}

#[test]
fn announcements_are_proved_by_their_hmacs_and_by_no_others() {
    each_vector("announcement", |name, vector| {
        let [sender, receiver] = [0, 1].map(|end| Key(number(&vector["keys"][end])));
        let address_id = vector["address_id"].as_u64().unwrap() as u8;
        let address = vector["address"].as_str().unwrap().parse().unwrap();
        let port = vector["port"].as_u64().map(|port| port as u16);
        let hmac = add_addr_hmac(sender, receiver, address_id, address, port);
        assert_eq!(hex(&hmac), vector["hmac"], "{name}");

        let signed = AddAddr { address_id, address, port, announcement: Announcement::Signed(hmac) };
        assert!(signed.verify(sender, receiver), "{name}");
        assert!(!signed.verify(receiver, sender), "{name}");
        for other in [
            AddAddr { address_id: address_id + 1, ..signed },
            AddAddr { port: Some(1), ..signed },
            AddAddr { announcement: Announcement::Unsigned, ..signed },
            AddAddr { announcement: Announcement::Echo, ..signed },
        ] {
            assert!(!other.verify(sender, receiver), "{name}: {other:?}");
        }
    });
}
