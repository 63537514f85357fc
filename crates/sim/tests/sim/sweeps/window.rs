//! The measurement window in a result.

use serde_json::{Value, json};
use weft_sim::sweep::Event;

use crate::common::directory::{Scratch, json_in};
use crate::common::parsed;
use crate::sweeps::sweep::run;

/// A 1 MB flow from l0 to l1 in the window, and a 0.1 MB flow before it.
const TEXT: &str = r#"
name = "window"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "5 us"
[[traffic]]
flow_list = [
  { class = "early", src = "h0", dst = "h2", bytes = "100 kB", start = "0 s" },
  { class = "counted", src = "h0", dst = "h2", bytes = "1 MB", start = "20 ms" },
]
[scheme]
name = "single_path"
[run]
duration = "100 ms"
[measure]
window = ["10 ms", "60 ms"]
"#;

/// Starts long after the window.
const STRAGGLER: &str = r#"
[[traffic]]
flow_list = [{ class = "late", src = "h1", dst = "h3", bytes = "100 kB", start = "5 s" }]
"#;

fn summary(text: &str, name: &str) -> Value {
    let scenario = parsed(text);
    let scratch = Scratch::new(name);
    run(&scenario, scratch.path(), 1, &mut |_: &Event<'_>| true).unwrap();
    json_in(&scratch.join("runs").join(&scenario.points()[0].id).join("summary.json"))
}

#[test]
fn a_links_utilisation_is_of_the_window_whenever_the_run_ends() {
    let found = summary(TEXT, "window");
    let late = summary(&format!("{TEXT}{STRAGGLER}"), "window-late");
    assert!(late["simulated_ps"].as_u64().unwrap() > 5_000_000_000_000);
    assert_eq!(found["window_ps"], json!([10_000_000_000_u64, 60_000_000_000_u64]));
    let host = |summary: &Value| -> Value {
        let links = summary["links"].as_array().unwrap();
        links.iter().find(|link| link["from"] == "h0").unwrap().clone()
    };
    let (link, same) = (host(&found), host(&late));
    let (bytes, within) = (link["bytes"].as_u64().unwrap(), link["window_bytes"].as_u64().unwrap());
    assert!(within > 1_000_000 && bytes - within > 100_000, "{link}");
    let share = within as f64 * 8.0 / 1e9 / 0.05;
    assert!((link["utilisation"].as_f64().unwrap() - share).abs() < 1e-12, "{share} and {link}");
    assert_eq!((&link["utilisation"], &link["bytes"]), (&same["utilisation"], &same["bytes"]));
    assert_eq!(found["path_evenness"], late["path_evenness"]);
}

#[test]
fn a_window_ends_with_the_run_at_the_latest() {
    let text = TEXT.replace("\"60 ms\"", "\"1 h\"").replace("[measure]", "limit = \"2 s\"\n[measure]");
    assert_eq!(
        summary(&text, "window-limit")["window_ps"],
        json!([10_000_000_000_u64, 2_000_000_000_000_u64])
    );
}

/// The copies of a Hello message that is due with a sample leave a picosecond apart, the later ones after the sample: no
/// link may seem to have sent less than before.
#[test]
fn a_sample_is_taken_while_switches_send_hello_messages() {
    let text = TEXT
        .replace("spines = 2", "spines = 4")
        .replace("1 Gbps", "10 Mbps")
        .replace("\"single_path\"", "\"tcp_path\"\nhello = \"100 ms\"")
        .replace("[measure]", "[measure]\ninterval = \"50 ms\"")
        .replace("1 MB", "100 kB");
    assert!(summary(&text, "window-hello")["simulated_ps"].as_u64().unwrap() > 150_000_000_000);
}
