//! Workloads on loopback addresses unique to a test, and their records.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weft_loadgen::{Generator, Lateness, Outcome, Style, Workload};

/// Waits until `is` returns true, and fails if it never does.
pub fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Two loopback addresses unique to this test: all of 127.0.0.0/8 is local.
pub fn addresses() -> [String; 2] {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., a, b] = std::process::id().to_be_bytes();
    [(); 2].map(|()| format!("127.{}.{b}.{}", 16 + a % 200, NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// The text of a workload with two hosts.
pub fn text(addresses: &[String; 2], flows: &[Value], more: Value) -> Value {
    let hosts: Vec<Value> =
        addresses.iter().enumerate().map(|(n, a)| json!({"name": format!("h{n}"), "address": a})).collect();
    let mut text = json!({"hosts": hosts, "flows": flows, "limit_ps": 10_000_000_000_000_u64});
    text.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    text
}

/// A workload with two hosts.
pub fn workload(addresses: &[String; 2], flows: &[Value], more: Value) -> Workload {
    read(&text(addresses, flows, more))
}

/// The workload of a text.
pub fn read(text: &Value) -> Workload {
    Workload::read(text.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The files of a run of `weft-loadgen`, which are removed when this is dropped.
pub struct Files(PathBuf);

impl Files {
    /// With the text of a workload.
    pub fn new(text: &Value) -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let name = format!("weft-loadgen-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let files = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&files.0).unwrap();
        std::fs::write(files.0.join("workload.json"), text.to_string()).unwrap();
        files
    }

    /// The file of records.
    pub fn records(&self) -> PathBuf {
        self.0.join("records.jsonl")
    }

    /// The command.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft-loadgen"));
        command.arg(self.0.join("workload.json")).arg("--records").arg(self.records());
        command
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A flow from h0 to h1.
pub fn flow(number: u32, sport: u16, dport: u16, bytes: u64, start_ms: u64) -> Value {
    json!({
        "flow": number, "src": "h0", "dst": "h1", "sport": sport, "dport": dport, "bytes": bytes,
        "class": if bytes < 10_000 { "mouse" } else { "rabbit" }, "start_ps": start_ms * 1_000_000_000,
    })
}

/// Sends a workload from the named hosts, or from all if none are named.
pub fn send(workload: &Workload, hosts: &[&str]) -> (Outcome, Vec<Value>) {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut records = Vec::new();
    let generator = Generator::open(workload, workload.here(&hosts).unwrap(), &mut records, Style::Quiet);
    let outcome = generator.and_then(Generator::run).unwrap_or_else(|error| panic!("{error}"));
    (outcome, lines(&records))
}

/// The records, ordered by flow number.
pub fn lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut lines: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    lines.sort_by_key(|line| line["flow"].as_u64());
    lines
}

/// How late the records say that the flows started.
pub fn lateness(records: &[Value], flows: &[Value]) -> Lateness {
    let start = |of: &Value| of["start_ps"].as_u64().unwrap();
    Lateness::of(records.iter().zip(flows).map(|(record, flow)| start(record) - start(flow)).collect())
}
