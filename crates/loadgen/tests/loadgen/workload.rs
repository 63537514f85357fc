//! Valid workload files, and the errors of invalid ones.

use proptest::prelude::*;
use serde_json::{Value, json};
use weft_loadgen::Workload;

fn good() -> Value {
    json!({
        "hosts": [
            {"name": "h0", "address": "10.0.0.1", "netns": "/proc/123/ns/net"},
            {"name": "h1", "address": "fd00::2"},
        ],
        "flows": [
            {"flow": 7, "src": "h0", "dst": "h1", "sport": 40000, "dport": 5001, "bytes": 1000, "dscp": 10,
             "class": "mouse", "start_ps": 500},
            {"flow": 3, "src": "h1", "dst": "h0", "sport": 40000, "dport": 5001, "bytes": 9, "start_ps": 2},
        ],
        "congestion": "cubic",
        "start_at_ns": null,
        "limit_ps": 8_000_000_000_000_u64,
    })
}

fn read(value: &Value) -> Result<Workload, String> {
    Workload::read(value.to_string().as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn flows_are_in_order_of_their_start_with_places_for_names() {
    let workload = read(&good()).unwrap();
    let flows: Vec<_> =
        workload.flows.iter().map(|flow| (flow.id, flow.src, flow.dst, flow.start.ps())).collect();
    assert_eq!(flows, [(3, 1, 0, 2), (7, 0, 1, 500)]);
    assert_eq!(workload.source(&workload.flows[1]).to_string(), "10.0.0.1:40000");
    assert_eq!(workload.destination(&workload.flows[1]).to_string(), "[fd00::2]:5001");
    assert_eq!(workload.here(&["h1".to_owned()]).unwrap(), [false, true]);
    assert_eq!(workload.here(&[]).unwrap(), [true, true]);
    assert!(workload.here(&["h2".to_owned()]).unwrap_err().to_string().contains("expected one of h0, h1"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases: &[(&str, Value, &str)] = &[
        ("/flows/1/dst", json!("h9"), "flows[1]: `dst` is `h9`, which is not in `hosts`"),
        ("/flows/1/dst", json!("h1"), "flows[1]: `dst` is `h1`, the source; expected another host"),
        ("/flows/0/bytes", json!(0), "flows[0]: `bytes` is 0; expected at least 1"),
        ("/flows/0/sport", json!(0), "flows[0]: `sport` is 0; expected a port"),
        ("/flows/0/dscp", json!(64), "flows[0]: `dscp` is 64; expected 0 to 63"),
        ("/flows/0/sport", json!(65_536), "invalid value: integer `65536`, expected u16"),
        ("/flows/1/flow", json!(7), "flows[1]: duplicate flow number 7"),
        ("/hosts/1/name", json!("h0"), "hosts[1]: duplicate name `h0`"),
        ("/hosts/0/address", json!("10.0.0"), "invalid IP address"),
        ("/hosts/0/netns", json!(7), "expected path string"),
        ("/congestion", json!(""), "`congestion` is ``"),
        ("/congestion", json!("a name of more than fifteen"), "expected the name of a congestion control"),
        ("/limit_ps", json!(-1), "expected u64"),
        ("/flows", json!(null), "expected a sequence"),
    ];
    for (pointer, value, expected) in cases {
        let mut text = good();
        *text.pointer_mut(pointer).unwrap() = value.clone();
        let error = read(&text).err().unwrap_or_else(|| panic!("{pointer} = {value} was read"));
        assert!(error.contains(expected), "{pointer} = {value}: {error}");
    }
    let mut same = good();
    same["flows"][1] = json!({"flow": 3, "src": "h0", "dst": "h1", "sport": 40000, "dport": 5001, "bytes": 9, "start_ps": 9});
    assert!(
        read(&same)
            .unwrap_err()
            .contains("flow 3 goes from 10.0.0.1:40000 to [fd00::2]:5001, like another flow")
    );
    let mut unknown = good();
    unknown["flows"][0]["port"] = json!(3);
    assert!(read(&unknown).unwrap_err().contains("unknown field `port`"));
    let error = Workload::read(b"{\n  \"hosts\": [,]\n}").unwrap_err().to_string();
    assert!(error.contains("line 2 column 13"), "{error}");
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = Workload::read(&bytes);
    }

    #[test]
    fn nor_does_a_workload_with_a_bite_taken_out(from in 0_usize..600, length in 0_usize..40, put: u8) {
        let mut text = good().to_string().into_bytes();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        text.splice(from..to, [put]);
        let _ = Workload::read(&text);
    }
}
