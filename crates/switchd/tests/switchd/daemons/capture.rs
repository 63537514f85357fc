//! `weftctl capture` at real ports, read back by tshark with Weft's dissector.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{Switch, TwoHosts};
use crate::wait::wait_for;

/// A capture that runs.
struct Capture {
    child: Child,
    file: PathBuf,
}

impl Capture {
    /// Starts a capture in the namespace of the switch, and waits until its file has its interfaces.
    fn start(switch: &Switch<'_>, folder: &Path, arguments: &[&str]) -> Self {
        let file = folder.join("capture.pcapng");
        let mut command = switch.ctl_inside();
        command.arg("capture").args(arguments).arg("-o").arg(&file).stderr(Stdio::piped());
        let child = command.spawn().expect("weftctl");
        wait_for("the file", || file.metadata().is_ok_and(|data| data.len() > 0));
        Self { child, file }
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: no pointers; the child has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Ends it with Ctrl-C; returns its messages.
    fn end(self) -> (String, PathBuf) {
        self.signal(libc::SIGINT);
        // It may be stopped.
        self.signal(libc::SIGCONT);
        let output = self.child.wait_with_output().expect("weftctl");
        let messages = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{messages}");
        (messages, self.file)
    }
}

/// The fields of the frames in a capture that match `filter`.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/wireshark/weft.lua");
    let mut command = Command::new("tshark");
    command.arg("-X").arg(format!("lua_script:{}", script.display()));
    command.args(["-n", "-T", "fields", "-E", "separator=/t", "-Y", filter, "-r"]).arg(file);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("text");
    lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
#[ignore = "needs root, BPF and tshark"]
fn a_capture_has_each_frame_as_it_arrives_and_as_it_leaves() {
    for (mode, hook) in [("tcp-path", "tcx"), ("ecmp", "clsact")] {
        let two = TwoHosts::new();
        let switch = two.switch(mode, &["--attach", hook]);
        let capture = Capture::start(&switch, &two.places.run, &[]);
        assert!(two.reach());
        let (messages, file) = capture.end();
        assert!(messages.contains("capturing on h1, h2"), "{messages}");
        assert!(!messages.contains("lost"), "{messages}");
        let there = "udp.dstport == 7";
        let fields = ["frame.interface_name", "frame.packet_flags_direction", "udp.length"];
        let frames = tshark(&file, there, &fields);
        for (interface, direction) in [("h1", "1"), ("h2", "2")] {
            let is_it = |frame: &&Vec<String>| frame[0] == interface && frame[1].ends_with(direction);
            assert!(frames.iter().any(|frame| is_it(&frame)), "{mode}, {hook}, {interface}: {frames:?}");
        }
        assert!(frames.iter().all(|frame| frame[2] == "14"), "{frames:?}");
        assert!(tshark(&file, "_ws.malformed", &["frame.number"]).is_empty());
    }
}

#[test]
#[ignore = "needs root, BPF and tshark"]
fn tags_and_hello_messages_between_switches_are_shown() {
    let pair = Pair::for_tags();
    let [left, _right] = pair.start("mode = \"tag-forward\"");
    pair.set_gates();
    pair.set_rules();
    let capture = Capture::start(&left, &pair.places.run, &["a"]);
    assert!(pair.reach(17));
    wait_for("a Hello in each direction", || {
        let hellos = tshark(&capture.file, "weft.hello", &["frame.packet_flags_direction"]);
        hellos.iter().any(|hello| *hello != hellos[0])
    });
    let (_, file) = capture.end();
    let tags = tshark(&file, "udp.dstport == 17 && weft.tag", &["weft.tag.down", "frame.interface_name"]);
    assert!(!tags.is_empty() && tags.iter().all(|tag| *tag == ["4", "a"]), "{tags:?}");
    assert!(tshark(&file, "udp.dstport == 17 && !weft.tag", &["frame.number"]).is_empty());
    assert!(tshark(&file, "weft.tag.refused || weft.hello.refused", &["frame.number"]).is_empty());
}

#[test]
#[ignore = "needs root, BPF and tshark"]
fn a_capture_ends_at_its_limits() {
    let two = TwoHosts::new();
    let switch = two.switch("tcp-path", &[]);
    for (at, (limit, expected)) in
        [(["--count", "3"], 3), (["--bytes", "1 kB"], 12), (["--duration", "300 ms"], 1000)]
            .into_iter()
            .enumerate()
    {
        let folder = two.places.run.join(at.to_string());
        std::fs::create_dir(&folder).expect("a directory");
        let mut capture = Capture::start(&switch, &folder, &["h1", "--snaplen", "42", limit[0], limit[1]]);
        wait_for("the limit", || {
            let _ = two.reach();
            capture.child.try_wait().expect("a child").is_some()
        });
        let frames = tshark(&capture.file, "frame", &["frame.cap_len", "frame.interface_name"]);
        assert!((1..=expected).contains(&frames.len()), "{limit:?}: {}", frames.len());
        assert!(frames.iter().all(|frame| frame[1] == "h1"));
        assert!(frames.iter().all(|frame| frame[0].parse::<u32>().is_ok_and(|length| length <= 46)));
    }
    // More than one frame a second is counted, not stored.
    let folder = two.places.run.join("rate");
    std::fs::create_dir(&folder).expect("a directory");
    let capture = Capture::start(&switch, &folder, &["--rate", "1"]);
    assert!(two.reach());
    let (messages, _) = capture.end();
    assert!(messages.contains("left out beyond --rate 1"), "{messages}");
}

#[test]
#[ignore = "needs root, BPF and tshark"]
fn frames_that_wait_when_a_capture_ends_are_stored() {
    let two = TwoHosts::new();
    let switch = two.switch("ecmp", &[]);
    let capture = Capture::start(&switch, &two.places.run, &["--direction", "in"]);
    // It cannot read while it is stopped: when it goes on, it finds the frames and the signal together.
    capture.signal(libc::SIGSTOP);
    assert!(two.reach());
    let (messages, file) = capture.end();
    let frames = tshark(&file, "udp.dstport == 7", &["frame.interface_name"]);
    assert!(frames.contains(&vec!["h1".to_owned()]), "{messages}");
}

#[test]
#[ignore = "needs root and BPF"]
fn what_cannot_be_captured_is_said() {
    let two = TwoHosts::new();
    let switch = two.switch("tcp-path", &[]);
    let file = two.places.run.join("there");
    std::fs::write(&file, "mine").expect("a file");
    let file = file.display().to_string();
    for (arguments, message) in [
        (["h3", "-o", "-"], "switch `s` has no port `h3`: did you mean `h1`?"),
        (["nonsense", "-o", "-"], "switch `s` has no port `nonsense`: expected one of h1, h2"),
        (["0", "-o", &file], "there exists: choose another file, or remove it"),
        (["h1", "-o", "/nowhere/x"], "cannot write /nowhere/x: No such file or directory"),
    ] {
        let mut command = switch.ctl_inside();
        let output = command.arg("capture").args(arguments).output().expect("weftctl");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(message), "{arguments:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
    // In another network namespace than the daemon.
    let output = switch.ctl_with(&["capture", "h1", "-o", "-"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let status: Value = switch.show("status");
    assert!(error.contains(&format!("nsenter -n -t {} weftctl", status["pid"])), "{error}");
}
