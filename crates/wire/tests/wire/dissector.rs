//! The frames of `vectors.json` in tshark with `tools/wireshark/weft.lua`, a third implementation.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::json::unhex;

/// A key of a vector, and its tshark field.
type Named = (&'static str, &'static str);

const HELLO: [Named; 8] = [
    ("tier", "weft.hello.tier"),
    ("hold_ms", "weft.hello.hold"),
    ("switch", "weft.hello.switch"),
    ("port", "weft.hello.port"),
    ("sequence", "weft.hello.sequence"),
    ("echo", "weft.hello.echo"),
    ("first", "weft.hello.first"),
    ("last", "weft.hello.last"),
];
const PROBE: [Named; 4] = [
    ("switch", "weft.hello.switch"),
    ("port", "weft.hello.port"),
    ("blocked", "weft.hello.blocked"),
    ("hosts_only", "weft.hello.hosts_only"),
];
const PATH: [Named; 5] = [
    ("hops", "weft.path.hops"),
    ("id", "weft.path.id"),
    ("destination", "weft.path.destination"),
    ("source_port", "weft.path.source_port"),
    ("destination_port", "weft.path.destination_port"),
];
const TAG: [Named; 3] = [("queue", "weft.tag.qid"), ("up", "weft.tag.up"), ("down", "weft.tag.down")];

/// The fields of each frame in tshark, with the EtherTypes of `decode_as` decoded as those protocols.
fn tshark(name: &str, frames: &[Vec<u8>], decode_as: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"));
    crate::pcap::write_pcap(&path, frames);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/wireshark/weft.lua");
    let mut command = Command::new("tshark");
    command.arg("-X").arg(format!("lua_script:{}", script.display()));
    command.args(["-n", "-T", "fields", "-E", "separator=/t", "-r"]).arg(&path);
    for rule in decode_as {
        command.args(["-d", rule]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("Lua"), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Vec<String>> =
        lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    assert_eq!(lines.len(), frames.len());
    lines
}

/// Checks that tshark shows the values of each vector of `group`, and rejects none.
fn shows(group: &str, frame: &str, protocol: &str, named: &[Named]) {
    let file: Value = serde_json::from_str(include_str!("../../vectors.json")).unwrap();
    let vectors = file[group].as_array().unwrap();
    let frames: Vec<_> = vectors.iter().map(|vector| unhex(vector[frame].as_str().unwrap())).collect();
    let refused = format!("{}.refused", protocol.trim_end_matches(".wide"));
    let fields: Vec<&str> = named.iter().map(|(_, field)| *field).chain([&*refused]).collect();
    // The EtherTypes that vectors have in place of the default.
    let other = ["88b5", "88b6"].map(|other| format!("ethertype==0x{other},{protocol}"));
    let lines = tshark(group, &frames, &other.each_ref().map(|rule| &**rule), &fields);
    for (vector, line) in vectors.iter().zip(&lines) {
        let expected: Vec<String> = named
            .iter()
            .map(|(key, _)| match &vector[key] {
                Value::String(text) if *key == "switch" => format!("0x{text}"),
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                Value::Bool(flag) => u8::from(*flag).to_string(),
                number if *key == "echo" => format!("{:#06x}", number.as_u64().unwrap()),
                number if *key == "id" => format!("{:#010x}", number.as_u64().unwrap()),
                number => number.to_string(),
            })
            .collect();
        assert_eq!(line[..named.len()], expected, "{}", vector["name"]);
        assert_eq!(line[named.len()], "", "{} is rejected", vector["name"]);
    }
}

#[test]
#[ignore = "needs tshark"]
fn hellos_are_shown() {
    shows("hello", "frame", "weft.hello", &HELLO);
}

#[test]
#[ignore = "needs tshark"]
fn probes_are_shown() {
    shows("probe", "frame", "weft.hello", &PROBE);
}

#[test]
#[ignore = "needs tshark"]
fn path_frames_are_shown_with_what_they_carry() {
    shows("path", "frame", "weft.path", &PATH);
    shows("wrap", "path", "weft.path", &[&PATH[..], &[("source_port", "tcp.srcport")]].concat());
}

#[test]
#[ignore = "needs tshark"]
fn tags_are_shown() {
    shows("tag", "tagged", "weft.tag", &TAG);
}

#[test]
#[ignore = "needs tshark"]
fn what_a_switch_refuses_is_marked_with_the_counter_of_the_reason() {
    let file: Value = serde_json::from_str(include_str!("../../vectors.json")).unwrap();
    // Frames of other protocols are shown as such.
    let vectors = file["invalid"].as_array().unwrap().iter().filter(|vector| {
        let read = ["hello", "path", "tag", "wide_tag"].contains(&vector["reader"].as_str().unwrap());
        let frame = vector["frame"].as_str().unwrap();
        read && frame.len() >= 28 && vector["error"]["counter"] != "ethertype"
    });
    let vectors: Vec<_> = vectors.collect();
    let frames: Vec<_> = vectors.iter().map(|vector| unhex(vector["frame"].as_str().unwrap())).collect();
    let lines = tshark("invalid", &frames, &[], &["_ws.expert.message"]);
    for (vector, line) in vectors.iter().zip(&lines) {
        assert_eq!(line[0], vector["error"]["counter"].as_str().unwrap(), "{}", vector["name"]);
    }
    assert!(vectors.len() > 15, "{}", vectors.len());
}
