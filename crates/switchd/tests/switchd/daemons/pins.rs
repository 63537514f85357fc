//! Pins removed and programs detached by others while the daemon runs.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weft_switchd::attach::other_owner;
use weft_switchd::layout::Settings;
use weft_switchd::pins::{Hook, Pins};
use weft_switchd::{Mode, Plane};
use weft_switching::exploration::Exploration;

use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::{Connection, Load, Outcome, Stream, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::wait_for;

/// Two switches with a host each, with this mode and these flags.
fn pair(mode: &str, flags: &[&str], check: impl FnOnce(&Places, &mut [Switch<'_>; 2], &[Netns; 2])) {
    let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
    // The names of interfaces must differ across namespaces: filters are identified by them.
    cable((&left, "right"), (&right, "left"));
    let hosts = [host(1, &left, "h1"), host(2, &right, "h2")];
    let ends = [("l", &left, ["h1", "right"]), ("r", &right, ["h2", "left"])];
    let mut switches = ends.map(|(name, netns, [host, fabric])| {
        let config = format!("mode = \"{mode}\"\nports = [\"{host}\", \"{fabric}\"]");
        Switch::start_with(netns, &places, name, &config, flags)
    });
    for (switch, (_, _, [host, fabric])) in switches.iter().zip(ends) {
        switch.wait_roles(&[(host, "host"), (fabric, "fabric")]);
    }
    check(&places, &mut switches, &hosts);
}

/// All pins of a switch.
fn pinned(places: &Places, name: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![places.pins.join(name)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
#[ignore = "needs root and BPF"]
fn pins_that_are_removed_are_there_again_and_a_connection_does_not_notice() {
    for (mode, flags) in [("tcp-path", &["--attach", "tcx"]), ("arp-path", &["--attach", "clsact"])] {
        pair(mode, flags, |places, switches, hosts| {
            let began = Instant::now();
            let before = pinned(places, "l");
            assert!(before.len() > 4, "{before:?}");
            let load = Load::start(Connection::open(&hosts[0], &hosts[1], "10.0.0.2:80"));
            let stream = Stream::start(&hosts[0], &hosts[1], "10.0.0.2:9", Duration::from_millis(1));
            for what in ["the directory", "the files"] {
                load.goes_on();
                match what {
                    "the files" => {
                        before.iter().for_each(|path| std::fs::remove_file(path).expect("it is there"));
                    }
                    // Pins may be restored before all are removed.
                    _ => wait_for("the pins are removed", || {
                        std::fs::remove_dir_all(places.pins.join("l")).is_ok()
                    }),
                }
                wait_for("all pins are restored", || pinned(places, "l") == before);
                load.goes_on();
            }
            load.end();
            let Outcome { sent, received } = stream.end();
            assert_eq!(received, sent, "{mode}: frames lost");
            let log = switches[0].log();
            let said = log.lines().filter(|line| line.contains("pins of this switch were removed")).count();
            // Once in ten seconds.
            assert!((1..=1 + began.elapsed().as_secs() / 10).contains(&(said as u64)), "{log}");
            // They pin the same objects: a new daemon adopts them.
            switches[0].kill();
            switches[0].begin();
            assert_eq!(switches[0].show("status")["adopted"], true);
            Connection::open(&hosts[1], &hosts[0], "10.0.0.1:80").send(100_000);
            assert!(switches[0].ctl("down").status.success());
            switches[0].stop();
            assert_eq!(pinned(places, "l"), Vec::<PathBuf>::new(), "pins must not be restored after down");
        });
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_program_that_is_detached_is_attached_again_and_connections_go_on() {
    for (mode, attach) in [("tcp-path", "tcx"), ("arp-path", "clsact")] {
        pair(mode, &["--attach", attach], |places, switches, hosts| {
            let load = Load::start(Connection::open(&hosts[0], &hosts[1], "10.0.0.2:80"));
            load.goes_on();
            match attach {
                "tcx" => links(places).iter().for_each(|pin| detach(pin)),
                _ => {
                    switches[0].netns.output("tc filter del dev h1 ingress pref 1");
                    switches[0].netns.output("tc qdisc del dev right clsact");
                }
            }
            let is_again = || switches[0].log().matches("has been reattached").count() == 2;
            wait_for("it is reattached", is_again);
            let metrics = places.metrics("l");
            assert!(metrics.contains("\nweft_switchd_programs_reattached_total 2\n"), "{metrics}");
            load.goes_on();
            load.end();
            Connection::open(&hosts[1], &hosts[0], "10.0.0.1:80").send(100_000);
            assert!(
                !switches[0].log().contains("pins of this switch were removed"),
                "{attach}: {}",
                switches[0].log()
            );
        });
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_program_that_cannot_be_attached_again_at_once_is_as_soon_as_that_can_be_done() {
    pair("arp-path", &["--attach", "tcx"], |places, switches, hosts| {
        let pid = switches[0].pid() as libc::pid_t;
        let limit_files = |most: libc::rlim_t| {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: 1024 };
            // SAFETY: the pointer is to a limit that lives until the call returns; null skips the old limit.
            let done =
                unsafe { libc::prlimit(pid, libc::RLIMIT_NOFILE, &raw const limit, std::ptr::null_mut()) };
            assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        };
        limit_files(3);
        links(places).iter().for_each(|pin| detach(pin));
        wait_for("it cannot be reattached", || switches[0].log().contains("cannot be reattached"));
        limit_files(1024);
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"));
        assert!(!switches[0].log().contains("pins of this switch were removed"), "{}", switches[0].log());
        let metrics = places.metrics("l");
        assert!(!metrics.contains("\nweft_switchd_restore_failures_total 0\n"), "{metrics}");
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn a_program_that_cannot_be_pinned_is_not_attached() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let pins = Pins::open(&places.pins, &"s".parse().expect("a name")).expect("needs root");
    let config = Exploration::default();
    let mut plane = Plane::load(Mode::Ecmp, &config, Settings::new(&config), &pins).expect("needs root");
    for (hook, folder) in [(Hook::Clsact, "filters"), (Hook::Tcx, "links")] {
        // A file system of pins takes no file where a folder is missing.
        let _ = std::fs::remove_dir(pins.path().join(folder));
        let (own, before) = (pins.clone(), plane);
        plane = netns.run(move || {
            let mut plane = before;
            assert!(plane.attach(&own, hook, 0, "h1").is_err(), "{hook:?}: there is no folder for the pin");
            plane
        });
        let filters = netns.output("tc filter show dev h1 ingress");
        assert_eq!(filters.trim(), "", "{hook:?}");
        let own = "other".parse().expect("a name");
        let root = places.pins.clone();
        let owner = netns.run(move || other_owner(&root, &own, "h1").expect("an interface"));
        assert_eq!(owner, None, "{hook:?}");
    }
}

/// The pins of the tcx links of the switch `l`.
fn links(places: &Places) -> Vec<PathBuf> {
    pinned(places, "l")
        .into_iter()
        .filter(|path| path.parent().is_some_and(|folder| folder.ends_with("links")))
        .collect()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_filter_of_somebody_elses_stays_though_its_program_is_called_like_ours() {
    pair("ecmp", &["--attach", "clsact"], |places, switches, _hosts| {
        let filters = || switches[0].netns.output("tc filter show dev h1 ingress");
        assert!(filters().contains("weft_ecmp"), "expected the program's name in the list: {}", filters());
        // The same program attached by someone else, with the same name; and another program at our priority,
        // which is listed after ours.
        for (pin, priority, handle) in [("l/filters/0:h1", 7, 7), ("r/filters/0:h2", 1, 8)] {
            let pin = places.pins.join(pin);
            switches[0].netns.run(move || {
                use aya::programs::tc::{NlOptions, TcAttachOptions, TcHandle};
                let mut other = aya::programs::SchedClassifier::from_pin(&pin).expect("a program");
                let options = NlOptions { priority, handle: TcHandle::new(0, handle), classid: None };
                let ingress = aya::programs::TcAttachType::Ingress;
                let id = other
                    .attach_with_options("h1", ingress, TcAttachOptions::Netlink(options))
                    .expect("a filter");
                std::mem::forget(other.take_link(id).expect("a link"));
            });
        }
        switches[0].netns.output("tc filter del dev h1 ingress pref 1 handle 0x1 bpf");
        wait_for("ours is reattached", || switches[0].log().contains("has been reattached"));
        let has = |handles: [&str; 3]| handles.map(|handle| filters().contains(&format!("handle {handle} ")));
        assert_eq!(has(["0x1", "0x8", "0x7"]), [true; 3], "{}", filters());
        assert!(switches[0].ctl("down").status.success());
        assert_eq!(has(["0x1", "0x8", "0x7"]), [false, true, true], "{}", filters());
    });
}

/// Like `bpftool link detach`.
fn detach(pin: &Path) {
    const BPF_OBJ_GET: libc::c_long = 7;
    const BPF_LINK_DETACH: libc::c_long = 34;
    let bpf = |command: libc::c_long, attributes: &mut [u64; 2]| {
        // SAFETY: the attributes, and the path that they point to, live until the call returns.
        let done =
            unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_mut_ptr(), size_of::<[u64; 2]>()) };
        assert!(done >= 0, "{}: {}", pin.display(), std::io::Error::last_os_error());
        done
    };
    let path = CString::new(pin.as_os_str().as_encoded_bytes()).expect("a path");
    let fd = bpf(BPF_OBJ_GET, &mut [path.as_ptr() as u64, 0]);
    // SAFETY: the descriptor is new and not owned elsewhere.
    let link = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    bpf(BPF_LINK_DETACH, &mut [link.as_raw_fd() as u64, 0]);
}
