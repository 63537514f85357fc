//! Hello messages leave on time whatever the daemon has to load.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use weft_wire::EtherType;

use crate::net::{Netns, cable};
use crate::or_skip;
use crate::switch::{Places, Switch};
use crate::tags::{http, rule};

/// Rules, and routes: as many as a table of routes has room for.
const MANY: u32 = 65_000;
/// Of a Hello, as it is unless somebody sets it.
const INTERVAL: Duration = Duration::from_secs(1);

/// The Hello messages that come in on an interface.
struct Heard {
    stop: Arc<AtomicBool>,
    times: JoinHandle<Vec<Instant>>,
}

impl Heard {
    fn listen(netns: &Netns) -> Self {
        let protocol = i32::from(EtherType::HELLO.0.to_be());
        let socket = netns.run(move || {
            // SAFETY: no pointers.
            let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) };
            assert!(fd >= 0, "{}", std::io::Error::last_os_error());
            // SAFETY: the descriptor is new and nobody else's.
            unsafe { OwnedFd::from_raw_fd(fd) }
        });
        let stop = Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let times = std::thread::spawn(move || {
            let mut times = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: the pointer is to one such structure.
                if unsafe { libc::poll(&raw mut poll, 1, 100) } < 1 {
                    continue;
                }
                let mut frame = [0_u8; 256];
                // SAFETY: the pointer is to memory of the length that is given.
                unsafe { libc::recv(socket.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len(), 0) };
                times.push(Instant::now());
            }
            times
        });
        Self { stop, times }
    }

    /// The longest time between two.
    fn longest(self) -> Duration {
        // One more comes after what was loaded.
        std::thread::sleep(2 * INTERVAL);
        self.stop.store(true, Ordering::Relaxed);
        let times = self.times.join().expect("the listener");
        assert!(times.len() > 2, "{}", times.len());
        times.windows(2).map(|pair| pair[1] - pair[0]).max().expect("two at least")
    }
}

/// A switch with one neighbour that says nothing.
fn with_switch(places: &Places, config: &str, check: impl FnOnce(&Switch<'_>, &Netns)) {
    let (left, right) = (Netns::new(), Netns::new());
    cable((&left, "a"), (&right, "a"));
    let config = format!("{config}\nports = [\"a\"]\n[hello]\ninterval = \"1 s\"\n");
    let switch = Switch::start(&left, places, "s", &config);
    check(&switch, &right);
}

fn is_on_time(heard: Heard) {
    let longest = heard.longest();
    println!("longest time between two Hello messages: {longest:?}");
    assert!(longest < 2 * INTERVAL, "{longest:?}");
}

#[test]
fn hellos_leave_on_time_while_65_000_rules_are_set_and_taken_back() {
    or_skip!();
    let places = Places::new();
    with_switch(&places, "mode = \"tag-forward\"", |_, right| {
        let address = |number: u32| std::net::Ipv4Addr::from_bits(0x0a01_0000 + number);
        let rules: Vec<_> =
            (0..MANY).map(|number| rule(&format!("{}/32", address(number)), 4, 100)).collect();
        let rules = json!({"priority": 1000, "rules": rules}).to_string();
        let heard = Heard::listen(right);
        for body in [rules.as_str(), rules.as_str(), "{\"priority\": 1000, \"rules\": []}"] {
            let began = Instant::now();
            let (status, answer) = http(&places.run, "s", "PUT", "/v1/flows", body);
            assert_eq!(status, 200, "{answer}");
            println!("rules are as wanted after {:?}", began.elapsed());
        }
        is_on_time(heard);
    });
}

#[test]
fn hellos_leave_on_time_while_65_000_routes_are_read_and_replaced() {
    or_skip!();
    let places = Places::new();
    let file = places.run.join("routes.toml");
    let write = |first: u32| {
        let route = |number: u32| {
            let [a, b, c, d] = number.to_be_bytes();
            format!("[[route]]\nstation = \"02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}\"\nports = [\"a\"]\n")
        };
        let text: String = (first..first + MANY).map(route).collect();
        std::fs::write(&file, text).expect("a file");
    };
    write(0);
    with_switch(&places, "mode = \"ecmp\"\nroutes_file = \"routes.toml\"", |switch, right| {
        let heard = Heard::listen(right);
        for first in [1, 100] {
            write(first);
            let began = Instant::now();
            let answer = switch.ctl("reload");
            assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
            println!("routes are read and set after {:?}", began.elapsed());
        }
        is_on_time(heard);
    });
}
