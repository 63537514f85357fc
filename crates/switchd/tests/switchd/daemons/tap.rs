//! Frames that arrive at an interface, with the kernel's receive timestamps, which do not depend on how busy the machine
//! is.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, eth, recv};
use weft_wire::EtherType;

use crate::net::{Netns, make_room};
use crate::wait::wait_for_more;

/// `SIOCGSTAMPNS`: the receive timestamp of the last frame read.
const TIME_OF_LAST: libc::c_ulong = 0x8907;

/// A frame.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrived.
    pub at: SystemTime,
    /// Whether it is a Hello.
    pub is_hello: bool,
}

/// Records all frames that arrive at an interface.
pub struct Tap {
    hellos: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    arrivals: JoinHandle<Vec<Arrival>>,
}

/// The receive timestamp of the last frame read; the first call enables timestamps.
fn time_of_last(socket: &OwnedFd) -> Option<SystemTime> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a time that lives until the call returns.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), TIME_OF_LAST, &raw mut time) };
    (done == 0).then(|| SystemTime::UNIX_EPOCH + Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

impl Tap {
    /// Starts recording at `interface`.
    pub fn start(netns: &Netns, interface: &str) -> Self {
        let socket = netns.packets(interface, Some(eth::ALL));
        make_room(&socket);
        let _ = time_of_last(&socket);
        let stop = Arc::new(AtomicBool::new(false));
        let hellos = Arc::new(AtomicUsize::new(0));
        let (ends, count) = (stop.clone(), hellos.clone());
        let arrivals = std::thread::spawn(move || {
            let mut arrivals = Vec::new();
            loop {
                let is_over = ends.load(Ordering::Relaxed);
                let patience = Timespec { tv_sec: 0, tv_nsec: if is_over { 0 } else { 50_000_000 } };
                let mut polled = [PollFd::new(&socket, PollFlags::IN)];
                match (poll(&mut polled, Some(&patience)).expect("a socket"), is_over) {
                    (0, true) => return arrivals,
                    (0, false) => continue,
                    _ => {}
                }
                let mut frame = [0_u8; 64];
                if recv(&socket, &mut frame, RecvFlags::empty()).is_ok_and(|(length, _)| length >= 14) {
                    let at = time_of_last(&socket).expect("timestamps are enabled");
                    let ethertype = u16::from_be_bytes([frame[12], frame[13]]);
                    let is_hello = ethertype == EtherType::HELLO.0;
                    arrivals.push(Arrival { at, is_hello });
                    count.fetch_add(is_hello.into(), Ordering::Relaxed);
                }
            }
        });
        Self { hellos, stop, arrivals }
    }

    /// Waits until `more` Hello messages have arrived.
    pub fn wait_for_hellos(&self, more: usize) {
        wait_for_more("Hello messages arrive", more, || self.hellos.load(Ordering::Relaxed));
    }

    /// Stops and returns all frames, in order of arrival.
    pub fn end(self) -> Vec<Arrival> {
        self.stop.store(true, Ordering::Relaxed);
        let mut arrivals = self.arrivals.join().expect("the listener");
        // The kernel stamps a frame before it queues it by CPU: a busy machine may hand it over after a later one.
        arrivals.sort_by_key(|arrival| arrival.at);
        arrivals
    }

    /// Stops and returns the arrival times of Hello messages, in order.
    pub fn hellos(self) -> Vec<SystemTime> {
        self.end().into_iter().filter(|arrival| arrival.is_hello).map(|arrival| arrival.at).collect()
    }
}
