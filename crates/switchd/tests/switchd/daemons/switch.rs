//! A `weft-switchd` that runs for a test, and `weftctl` to query it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::daemons::traffic::reaches;
use crate::net::{Netns, host};
use crate::wait::{DEADLINE, comes, wait_for};

const SWITCHD: &str = env!("CARGO_BIN_EXE_weft-switchd");
const CTL: &str = env!("CARGO_BIN_EXE_weftctl");

/// The short Hello interval of tests.
const HELLO: &str = "[hello]\ninterval = \"100 ms\"\n";
/// The same, with a hold time that tolerates scheduling delays of seconds.
pub const LONG_HOLD: &str = "[hello]\ninterval = \"100 ms\"\nhold = 100\n";
/// A lifetime of unused flow entries that no test outlasts: by default they last for 10 s.
pub const LONG_CONFIRMED: &str = "[exploration]\nconfirmed = \"10 min\"\n";

/// The directories of a test.
pub struct Places {
    pub run: PathBuf,
    pub pins: PathBuf,
}

impl Places {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("weft-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let run = std::env::temp_dir().join(&name);
        fs::create_dir_all(&run).expect("a temporary directory");
        Self { run, pins: PathBuf::from("/sys/fs/bpf").join(name) }
    }

    /// The control socket of a switch.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.run.join(format!("{name}.sock"))
    }

    /// The answer of a switch to a request such as `GET /metrics`: status and body.
    pub fn http(&self, name: &str, request: &str, body: &str) -> (u16, String) {
        let mut stream = UnixStream::connect(self.socket(name)).expect("the control socket");
        let head = format!("{request} HTTP/1.0\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).expect("a connection");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        (head[9..12].parse().expect("a status"), body.to_owned())
    }

    /// The metrics of a switch.
    pub fn metrics(&self, name: &str) -> String {
        self.http(name, "GET /metrics", "").1
    }

    /// The flags for these directories.
    fn flags(&self) -> [String; 4] {
        let text = |path: &PathBuf| path.display().to_string();
        ["--run-dir".into(), text(&self.run), "--pin-dir".into(), text(&self.pins)]
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.run);
        let _ = fs::remove_dir_all(&self.pins);
    }
}

/// Two hosts on the ports `h1` and `h2` of a switch named `s`.
pub struct TwoHosts {
    pub netns: Netns,
    pub places: Places,
    pub hosts: [Netns; 2],
}

impl TwoHosts {
    pub fn new() -> Self {
        let netns = Netns::new();
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
        Self { netns, places: Places::new(), hosts }
    }

    /// Starts the switch, and waits until both ports are host ports and the hosts reach each other.
    pub fn switch(&self, mode: &str, flags: &[&str]) -> Switch<'_> {
        let config = format!("mode = \"{mode}\"\nports = [\"h1\", \"h2\"]");
        let switch = Switch::start_with(&self.netns, &self.places, "s", &config, flags);
        switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
        assert!(self.reach(), "{mode}, {flags:?}: {}", switch.log());
        switch
    }

    /// Whether the first host reaches the second.
    pub fn reach(&self) -> bool {
        reaches(&self.hosts[0], &self.hosts[1], "10.0.0.2:7")
    }
}

/// A daemon, or the state it left behind.
pub struct Switch<'a> {
    pub netns: &'a Netns,
    pub places: &'a Places,
    pub name: String,
    config: PathBuf,
    flags: Vec<String>,
    /// Environment variables, from the next start on.
    pub environment: Vec<(String, String)>,
    child: Option<Child>,
}

/// Tries something up to three times until it succeeds, and fails if no attempt does. A stalled machine only adds to the
/// time that a switch takes; a switch that is too slow is so each time, if each attempt starts from the same state: where
/// the first time can take longer, each attempt starts a new daemon.
pub fn one_of_three<T>(what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let mut all = Vec::new();
    while all.len() < 3 {
        match attempt() {
            Ok(done) => return done,
            Err(instead) => all.push(instead),
        }
        println!("{what}: {}", all[all.len() - 1]);
    }
    panic!("{what}: {all:#?}")
}

/// Measures a time up to three times until it is below `promised`, and fails if it never is. Each attempt starts from the
/// same state (see [`one_of_three`]).
pub fn within(promised: Duration, what: &str, mut measure: impl FnMut() -> Duration) -> Duration {
    one_of_three(what, || {
        let took = measure();
        println!("{what}: {took:?}, expected less than {promised:?}");
        if took < promised { Ok(took) } else { Err(format!("{took:?}, expected less than {promised:?}")) }
    })
}

/// Starts a daemon that is expected to refuse; returns its output.
pub fn refused(netns: &Netns, places: &Places, config: &str, flags: &[&str]) -> Output {
    let path = places.run.join("refused.toml");
    fs::write(&path, config).expect("a file");
    let mut command = netns.command(SWITCHD);
    command.arg("--config").arg(&path).args(places.flags()).args(flags);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the daemon");
    if !comes(DEADLINE, || child.try_wait().expect("a child").is_some()) {
        child.kill().expect("a child");
    }
    child.wait_with_output().expect("a child")
}

impl<'a> Switch<'a> {
    /// Starts a daemon with `config` and a short Hello interval.
    pub fn start(netns: &'a Netns, places: &'a Places, name: &str, config: &str) -> Self {
        Self::start_with(netns, places, name, config, &[])
    }

    /// The same with more flags.
    pub fn start_with(
        netns: &'a Netns,
        places: &'a Places,
        name: &str,
        config: &str,
        flags: &[&str],
    ) -> Self {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut switch = Self {
            netns,
            places,
            name: name.to_owned(),
            config: places.run.join(format!("{name}.toml")),
            flags,
            environment: Vec::new(),
            child: None,
        };
        switch.write(config);
        switch.begin();
        switch
    }

    /// Writes its configuration file, with a short Hello interval.
    pub fn write(&self, config: &str) {
        let hello = if config.contains("[hello]") { "" } else { HELLO };
        fs::write(&self.config, format!("name = \"{}\"\n{config}\n{hello}", self.name)).expect("a file");
    }

    /// Starts or restarts the daemon.
    pub fn begin(&mut self) {
        assert!(self.child.is_none(), "one at a time");
        let log = fs::File::options().create(true).append(true).open(self.log_path()).expect("a file");
        let mut command = self.netns.command(SWITCHD);
        command.arg("--config").arg(&self.config).args(self.places.flags()).args(&self.flags).stderr(log);
        command.envs(self.environment.iter().cloned());
        let mut child = command.spawn().expect("the daemon");
        wait_for("the control socket answers", || {
            if let Some(status) = child.try_wait().expect("a child") {
                panic!("the daemon ended ({status}): {}", self.log());
            }
            UnixStream::connect(self.places.socket(&self.name)).is_ok()
        });
        self.child = Some(child);
    }

    fn log_path(&self) -> PathBuf {
        self.places.run.join(format!("{}.log", self.name))
    }

    /// The time from `since` to the first later log line with this text, by the log's timestamps: polling would be late on a
    /// busy machine.
    pub fn logged(&self, text: &str, since: SystemTime) -> Option<Duration> {
        const DAY: u64 = 86_400_000_000;
        let (log, since) = (self.log(), since.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970"));
        let after = |line: &str| {
            // 2026-11-22T21:23:04.697622Z
            let number = |from: usize, to: usize| line[from..to].parse::<u64>().expect("digits of a time");
            let seconds = (number(11, 13) * 60 + number(14, 16)) * 60 + number(17, 19);
            (seconds * 1_000_000 + number(20, 26) + DAY - since.as_micros() as u64 % DAY) % DAY
        };
        // An earlier line appears as almost a day later.
        let found = log.lines().filter(|line| line.contains(text)).map(after).find(|after| *after < DAY / 2);
        found.map(Duration::from_micros)
    }

    /// Its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    fn signal(&mut self, signal: i32) {
        // SAFETY: no pointers; the child has not been waited for.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, signal) }, 0);
    }

    /// Kills it, like a crash.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        self.child.take().expect("it ran").wait().expect("a child");
    }

    /// Pauses it, like a hang.
    pub fn pause(&mut self) {
        self.signal(libc::SIGSTOP);
    }

    /// Resumes it.
    pub fn resume(&mut self) {
        self.signal(libc::SIGCONT);
    }

    /// Stops it like a service manager.
    pub fn stop(&mut self) {
        self.signal(libc::SIGTERM);
        let status = self.child.take().expect("it ran").wait().expect("a child");
        assert!(status.success(), "{}", self.log());
    }

    /// Takes it down.
    pub fn take_down(&mut self) {
        let output = self.ctl("down");
        assert!(output.status.success(), "{output:?}");
        self.child.take().expect("it ran").wait().expect("a child");
    }

    /// Runs weftctl with arguments separated by spaces.
    pub fn ctl(&self, arguments: &str) -> Output {
        self.ctl_with(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs weftctl.
    pub fn ctl_with(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(CTL);
        command.arg("--run-dir").arg(&self.places.run).args(["--name", &self.name]);
        command.args(arguments).output().expect("weftctl")
    }

    /// weftctl in the namespace of the switch.
    pub fn ctl_inside(&self) -> Command {
        let mut command = self.netns.command(CTL);
        command.arg("--run-dir").arg(&self.places.run).args(["--name", &self.name]);
        command
    }

    /// The answer to `GET /v1/WHAT`, without the costs of a process.
    pub fn show(&self, what: &str) -> Value {
        let (status, body) = self.places.http(&self.name, &format!("GET /v1/{what}"), "");
        assert_eq!(status, 200, "{what}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// The JSON output of weftctl.
    pub fn ask(&self, arguments: &str) -> Value {
        let output = self.ctl(&format!("--json {arguments}"));
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// A property of a port.
    fn of_port(&self, port: &str, what: &str) -> Value {
        let ports = self.show("ports");
        let found = ports.as_array().expect("a list").iter().find(|row| row["interface"] == port);
        found.unwrap_or_else(|| panic!("no port {port}"))[what].clone()
    }

    /// The role of a port.
    pub fn role(&self, port: &str) -> String {
        self.of_port(port, "role").as_str().expect("a role").to_owned()
    }

    /// The number of frames that a port has received.
    pub fn received(&self, port: &str) -> u64 {
        self.of_port(port, "received_frames").as_u64().expect("a count")
    }

    /// The number of bytes that a port has received.
    pub fn received_bytes(&self, port: &str) -> u64 {
        self.of_port(port, "received_bytes").as_u64().expect("a count")
    }

    /// Whether a port is only used if no other is left.
    pub fn is_last_resort(&self, port: &str) -> bool {
        self.of_port(port, "last_resort").as_bool().expect("a truth value")
    }

    /// The number of bytes that a port has sent.
    pub fn sent_bytes(&self, port: &str) -> u64 {
        self.of_port(port, "sent_bytes").as_u64().expect("a count")
    }

    /// The number of frames that were too long for a port.
    pub fn too_long(&self, port: &str) -> u64 {
        self.of_port(port, "too_long_frames").as_u64().expect("a count")
    }

    /// The number of Hello messages that the switch has tried to send.
    pub fn hellos_sent(&self) -> u64 {
        self.show("counters")["hello"]["sent"].as_u64().expect("a count")
    }

    /// The number of Hello messages that a port could not send.
    pub fn hellos_unsent(&self, port: &str) -> u64 {
        self.of_port(port, "hellos_unsent").as_u64().expect("a count")
    }

    /// The share of the neighbour's Hello messages that were lost.
    pub fn loss(&self, port: &str) -> Option<f64> {
        self.of_port(port, "hello_loss").as_f64()
    }

    /// Whether the neighbour says that it misses many Hello messages of a port.
    pub fn is_missed(&self, port: &str) -> bool {
        self.of_port(port, "neighbour_misses").as_bool().expect("a truth value")
    }

    /// The number of stations whose route over a port is withdrawn.
    pub fn withdrawn(&self, port: &str) -> u64 {
        self.of_port(port, "withdrawn_routes").as_u64().expect("a count")
    }

    /// Waits until ports have these roles.
    pub fn wait_roles(&self, roles: &[(&str, &str)]) {
        for (port, role) in roles {
            wait_for(&format!("{} {port} is {role}", self.name), || self.role(port) == *role);
        }
    }

    /// The number of frames dropped for a reason.
    pub fn dropped(&self, reason: &str) -> u64 {
        self.show("counters")["dropped"][reason].as_u64().unwrap_or(0)
    }
}

impl Drop for Switch<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            println!("--- {}\n{}", self.name, self.log());
        }
    }
}
