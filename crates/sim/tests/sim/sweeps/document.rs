//! The text of `summary.json`.

use std::fs;

use serde_json::Value;
use weft_sim::sweep::Event;

use crate::common::directory::Scratch;
use crate::common::parsed;
use crate::sweeps::sweep::run;

/// Two flows to one host, and a link that fails and recovers.
const TEXT: &str = r#"
name = "document"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "5 us"
[[traffic]]
flow_list = [
  { src = "h0", dst = "h2", bytes = "100 kB", start = "0 s" },
  { src = "h1", dst = "h2", bytes = "100 kB", start = "0 s" },
]
[scheme]
name = "ecmp"
[run]
duration = "3 ms"
[[event]]
at = "1 ms"
fail = "l0-s1"
[[event]]
at = "2 ms"
heal = "l0-s1"
"#;

#[test]
fn every_object_has_its_keys_in_alphabetical_order() {
    // Ports with flow control have counters that others lack.
    for text in [TEXT.to_owned(), TEXT.replacen("delay =", "pfc = {}\ndelay =", 1)] {
        let scenario = parsed(&text);
        let scratch = Scratch::new("document");
        run(&scenario, scratch.path(), 1, &mut |_: &Event<'_>| true).unwrap();
        let path = scratch.join("runs").join(&scenario.points()[0].id).join("summary.json");
        let text = fs::read_to_string(path).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["links"].as_array().unwrap().len(), 16);
        // Objects of `serde_json` are sorted.
        assert_eq!(serde_json::to_string_pretty(&value).unwrap(), text);
    }
}
