//! Polls carriers in addition to the kernel's events. The kernel reports virtual links at once, but all other
//! interfaces of the machine at most once a second, so a lost carrier would be noticed a second late.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::ethtool;
use super::links::Interface;
use super::rates;
use super::shared::Shared;
use super::switch::Task;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(20);
/// Polls until the list of interfaces is refreshed, drivers are queried that need no query at each poll, interfaces
/// are tried again that could not be taken, and rates are read.
const SELDOM: u32 = 50;

/// How a carrier change is noticed.
enum Way {
    /// The kernel reports it at once.
    Notified,
    /// The kernel's count of changes is read, without a lock.
    Counted(File, Option<u64>),
    /// The driver is queried at each poll, which takes the lock of all interfaces (RTNL).
    Asked,
}

/// A polled interface.
struct Watched {
    interface: Interface,
    way: Way,
    /// The driver's last answer.
    carrier: Option<bool>,
}

impl Watched {
    fn new(interface: Interface) -> Self {
        let way = match (interface.notifies_at_once, counter(&interface)) {
            (true, _) => Way::Notified,
            (false, Some(file)) => Way::Counted(file, None),
            (false, None) => Way::Asked,
        };
        Self { interface, way, carrier: None }
    }

    /// Whether the interface's state must be read again: the kernel's count has changed, or driver and kernel disagree for the
    /// first time.
    fn look(&mut self, seldom: bool) -> bool {
        let asks = match &mut self.way {
            Way::Notified => seldom,
            Way::Asked => true,
            Way::Counted(file, count) => {
                let now = read(file);
                let changed = count.is_some() && now != *count;
                *count = now;
                if changed {
                    return true;
                }
                seldom
            }
        };
        // A disagreement of driver and kernel is reported once, not at every poll.
        asks && ethtool::carrier(&self.interface.name).is_ok_and(|has| {
            let before = self.carrier.replace(has);
            before != Some(has) && has != self.interface.up
        })
    }
}

fn read(file: &File) -> Option<u64> {
    let mut text = [0; 24];
    let length = file.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.trim().parse().ok()
}

/// The kernel's count of an interface's carrier changes, if /sys shows this network namespace.
fn counter(interface: &Interface) -> Option<File> {
    let folder = Path::new("/sys/class/net").join(&interface.name);
    let says = |file: &str| fs::read_to_string(folder.join(file)).ok().map(|text| text.trim().to_owned());
    let same =
        says("ifindex")? == interface.index.to_string() && says("address")? == interface.mac.to_string();
    same.then(|| File::open(folder.join("carrier_changes")).ok()).flatten()
}

/// Polls the carriers of ports, on a thread of its own.
pub fn watch(shared: &Shared) {
    let shared = shared.clone();
    // Querying a driver waits for the RTNL lock, and Hello messages must not wait for that.
    std::thread::spawn(move || {
        let (mut watched, mut known, mut looks) = (Vec::<Watched>::new(), Vec::new(), 0_u32);
        loop {
            let seldom = looks.is_multiple_of(SELDOM);
            if seldom {
                renew(&shared, &mut watched);
                rates::renew(&shared, &mut known);
                // Another switch may have released the interface.
                shared.hand(untaken(&shared));
            }
            looks = looks.wrapping_add(1);
            // No short circuit: each one records its state.
            if watched.iter_mut().filter_map(|one| one.look(seldom).then_some(())).count() > 0 {
                shared.hand(vec![Task::LookAgain]);
            }
            sleep(LOOK);
        }
    });
}

/// The ports whose interface exists but could not be taken.
fn untaken(shared: &Shared) -> Vec<Task> {
    let switch = shared.lock();
    let ports = (0..).zip(&switch.ports).filter(|(_, port)| port.is_untaken());
    ports.map(|(number, _)| Task::Appeared(number)).collect()
}

/// Refreshes the list of polled interfaces from the ports.
fn renew(shared: &Shared, watched: &mut Vec<Watched>) {
    let now: Vec<Interface> = shared.lock().ports.iter().filter_map(|port| port.interface.clone()).collect();
    watched.retain_mut(|one| {
        let same = now.iter().find(|other| {
            (other.index, &other.name, other.mac)
                == (one.interface.index, &one.interface.name, one.interface.mac)
        });
        same.is_some_and(|same| {
            one.interface.up = same.up;
            true
        })
    });
    for interface in now {
        if !watched.iter().any(|one| one.interface.index == interface.index) {
            watched.push(Watched::new(interface));
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_wire::Mac;

    use super::*;

    fn loopback() -> Interface {
        Interface {
            index: 1,
            name: "lo".to_owned(),
            mac: Mac::default(),
            mtu: 65536,
            up: true,
            promiscuous: false,
            ethernet: false,
            bridge: false,
            controller: None,
            notifies_at_once: false,
        }
    }

    #[test]
    #[ignore = "needs /sys/class/net"]
    fn the_count_of_an_interface_is_read_only_where_it_is_the_one_of_this_namespace() {
        let file = counter(&loopback()).expect("every namespace has a loopback interface");
        assert!(read(&file).is_some());
        assert!(counter(&Interface { index: 7, ..loopback() }).is_none());
        assert!(counter(&Interface { mac: Mac([2; 6]), ..loopback() }).is_none());
        assert!(counter(&Interface { name: "../lo".to_owned(), index: 9, ..loopback() }).is_none());
    }
}
