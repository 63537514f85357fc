//! Ends of a loop that receive one another's probes, over a medium that may lose them.

use weft_switching::loop_guard::{End, Finding, HOLD, INTERVAL, LoopGuard, Probe};

const MS: u64 = 1_000_000;
/// The delay of the medium and of the switch that reads a probe.
const DELAY: u64 = MS;
/// When the ends come up.
const UP: u64 = 7_777 * MS;

fn host_port(switch: u64) -> End {
    End { may_be_fabric: false, switch, port: 1 }
}

/// Several ends on one medium.
struct Medium {
    ends: Vec<(End, LoopGuard)>,
    now: u64,
    /// Probes on their way: when they arrive, from which end and to which.
    flying: Vec<(u64, usize, usize, Probe)>,
    /// All findings, with their times and ends.
    found: Vec<(u64, usize, Finding)>,
    sent: Vec<u64>,
}

impl Medium {
    fn new(ends: &[End]) -> Self {
        let up = |end: &End| {
            let mut guard = LoopGuard::default();
            assert_eq!(guard.came_up(UP), None);
            (*end, guard)
        };
        let sent = vec![0; ends.len()];
        Self { ends: ends.iter().map(up).collect(), now: UP, flying: Vec::new(), found: Vec::new(), sent }
    }

    fn say(&mut self, at: usize, passes: impl Fn(usize, usize) -> bool) {
        let (from, guard) = &self.ends[at];
        let probe = Probe { from: *from, blocked: guard.blocked_by().is_some() };
        self.sent[at] += 1;
        for to in 0..self.ends.len() {
            if to != at && passes(at, to) {
                self.flying.push((self.now + DELAY, at, to, probe));
            }
        }
    }

    /// Runs until `end`; probes arrive where `passes` says so.
    fn run(&mut self, end: u64, passes: impl Fn(usize, usize) -> bool) {
        while self.now < end {
            let mut due = Vec::new();
            self.flying.retain(|probe| {
                let arrives = probe.0 <= self.now;
                due.extend(arrives.then_some(*probe));
                !arrives
            });
            for (_, _, to, probe) in due {
                let (own, guard) = &mut self.ends[to];
                let finding = guard.hear(*own, probe, self.now);
                if finding != Finding::Nothing {
                    self.found.push((self.now - UP, to, finding));
                }
                if matches!(finding, Finding::Blocks | Finding::Answer | Finding::Ask) {
                    self.say(to, &passes);
                }
            }
            for at in 0..self.ends.len() {
                self.ends[at].1.expire(self.now);
                if self.ends[at].1.take_due(self.now) {
                    self.say(at, &passes);
                }
            }
            self.now += MS;
        }
    }

    fn blocked(&self) -> Vec<bool> {
        self.ends.iter().map(|(_, guard)| guard.blocked_by().is_some()).collect()
    }

    /// The times at which an end found something.
    fn times(&self, of: usize, what: Finding) -> Vec<u64> {
        self.found
            .iter()
            .filter(|(_, end, found)| *end == of && *found == what)
            .map(|found| found.0)
            .collect()
    }
}

#[test]
fn of_two_host_ports_the_greater_blocks_once_and_at_once() {
    for (low, high) in [(host_port(3), host_port(7)), (host_port(3), End { port: 2, ..host_port(3) })] {
        let mut medium = Medium::new(&[low, high]);
        medium.run(UP + 60_000 * MS, |_, _| true);
        assert_eq!(medium.blocked(), [false, true]);
        assert_eq!(medium.times(1, Finding::Blocks), [DELAY / MS * MS]);
        assert_eq!(medium.times(0, Finding::Spared).len(), 1, "{:?}", medium.found);
        let rate = medium.sent.iter().max().unwrap() / 60;
        assert!(rate <= 17, "{rate} probes a second");
    }
}

#[test]
fn a_port_that_may_become_a_fabric_port_blocks_rather_than_one_for_hosts() {
    let mut medium = Medium::new(&[End { may_be_fabric: true, ..host_port(3) }, host_port(7)]);
    medium.run(UP + 5_000 * MS, |_, _| true);
    assert_eq!(medium.blocked(), [true, false]);
}

#[test]
fn two_ports_that_may_become_fabric_ports_have_time_for_the_first_hello() {
    let ends = [3, 7].map(|switch| End { may_be_fabric: true, ..host_port(switch) });
    let mut medium = Medium::new(&ends);
    medium.run(UP + 5_000 * MS, |_, _| true);
    assert_eq!(medium.blocked(), [false, true]);
    let blocked = medium.times(1, Finding::Blocks)[0];
    assert!((50 * MS..100 * MS).contains(&blocked), "{blocked}");
}

/// A bridge joins two ports that have been up for long and may be fabric ports: it passes no Hello messages.
#[test]
fn a_bridge_that_joins_ports_later_is_found_within_an_interval_and_one_question() {
    for joined in (0..INTERVAL / MS).map(|after| UP + 5_000 * MS + after * MS) {
        let ends = [3, 7].map(|switch| End { may_be_fabric: true, ..host_port(switch) });
        let mut medium = Medium::new(&ends);
        medium.run(joined, |_, _| false);
        medium.run(joined + 2_000 * MS, |_, _| true);
        assert_eq!(medium.blocked(), [false, true]);
        let blocked = medium.times(1, Finding::Blocks)[0] + UP - joined;
        assert!(blocked <= INTERVAL + 4 * DELAY, "{blocked}");
        assert_eq!(medium.times(1, Finding::Ask).len(), 1);
    }
}

#[test]
fn a_single_probe_of_a_fabric_link_whose_hello_is_late_blocks_no_port() {
    let [low, high] = [3, 7].map(|switch| End { may_be_fabric: true, ..host_port(switch) });
    let mut guard = LoopGuard::default();
    guard.came_up(UP);
    let now = UP + 5_000 * MS;
    assert_eq!(guard.hear(high, Probe { from: low, blocked: false }, now), Finding::Ask);
    // The answer is a Hello: the port is a fabric port.
    guard.clear();
    assert_eq!(guard.blocked_by(), None);
}

#[test]
fn of_several_ends_behind_a_hub_the_least_forwards() {
    let mut medium = Medium::new(&[host_port(5), host_port(2), host_port(9), host_port(4)]);
    medium.run(UP + 100 * MS, |_, _| true);
    assert_eq!(medium.blocked(), [true, false, true, true]);
    // The least goes away.
    medium.run(UP + 30_000 * MS, |from, to| from != 1 && to != 1);
    assert_eq!(medium.blocked(), [true, false, true, false]);
}

#[test]
fn the_lesser_end_blocks_if_the_greater_one_hears_nothing_and_is_released_when_it_does() {
    let mut medium = Medium::new(&[host_port(3), host_port(7)]);
    medium.run(UP + 1_000 * MS, |_, to| to == 0);
    assert_eq!(medium.blocked(), [true, false]);
    assert!(medium.times(0, Finding::Blocks)[0] <= 500 * MS + INTERVAL + DELAY);
    medium.run(UP + 3_000 * MS, |_, _| true);
    assert_eq!(medium.blocked(), [false, true]);
    assert_eq!(medium.times(0, Finding::Released).len(), 1);
}

#[test]
fn an_end_whose_own_probes_come_back_blocks() {
    let (own, mut guard) = (host_port(3), LoopGuard::default());
    guard.came_up(UP);
    assert_eq!(guard.hear(own, Probe { from: own, blocked: false }, UP), Finding::Blocks);
}

#[test]
fn a_block_ends_a_hold_time_after_the_last_probe_and_survives_nine_seconds_without() {
    let mut medium = Medium::new(&[host_port(3), host_port(7)]);
    medium.run(UP + 10_000 * MS, |_, _| true);
    // The other daemon hangs.
    medium.run(UP + 19_000 * MS, |_, _| false);
    medium.run(UP + 20_000 * MS, |_, _| true);
    assert_eq!((medium.blocked(), medium.times(1, Finding::Blocks).len()), (vec![false, true], 1));
    let gone = UP + 20_000 * MS;
    medium.run(gone + HOLD - INTERVAL, |_, _| false);
    assert_eq!(medium.blocked(), [false, true]);
    medium.run(gone + HOLD + 2 * DELAY, |_, _| false);
    assert_eq!(medium.blocked(), [false, false]);
}

#[test]
fn a_cable_that_flaps_makes_the_blocked_port_listen_first() {
    let (own, mut guard) = (host_port(7), LoopGuard::default());
    guard.came_up(UP);
    let probe = Probe { from: host_port(3), blocked: false };
    assert_eq!(guard.hear(own, probe, UP), Finding::Blocks);
    for round in 1..10 {
        guard.went_down(UP + round * 100 * MS);
        assert_eq!(guard.blocked_by(), None);
        let up = UP + round * 100 * MS + 50 * MS;
        assert_eq!(guard.came_up(up), Some(up + 1_000 * MS));
        guard.hear(own, probe, up + MS);
    }
    guard.went_down(UP + 1_000 * MS);
    assert_eq!(guard.came_up(UP + 12_000 * MS), None, "a host may have taken the place of the cable");
}

#[test]
fn a_host_that_forges_probes_makes_few_answers_and_findings() {
    let (own, mut guard) = (host_port(5), LoopGuard::default());
    guard.came_up(UP);
    let mut found = Vec::new();
    // 10 000 probes a second from a million ends, all greater and half of them blocked.
    for at in 0..100_000_u64 {
        let from = End { may_be_fabric: at % 3 == 0, switch: 6 + at * 7919 % 1_000_000, port: at as u16 };
        found.push(guard.hear(own, Probe { from, blocked: at % 2 == 0 }, UP + at * MS / 10));
    }
    let count = |what| found.iter().filter(|finding| **finding == what).count();
    assert!(count(Finding::Answer) <= 1000 && count(Finding::Spared) == 1 && count(Finding::Released) <= 6);
}

#[test]
fn a_port_that_receives_many_frames_probes_at_every_look() {
    let mut guard = LoopGuard::default();
    guard.came_up(UP);
    let looks = [1_000_000, 1_000_099, 1_000_199, 1_000_199, 1_100_199].map(|frames| guard.look(frames));
    assert_eq!(looks, [false, false, true, false, true], "frames before the first look do not count");
}

#[test]
fn probes_are_frequent_at_first_and_then_all_ports_send_together() {
    let times = |up: u64| {
        let mut guard = LoopGuard::default();
        guard.came_up(up);
        let due = |at: &u64| guard.take_due(up + at * MS);
        (0..2000).filter(due).collect::<Vec<u64>>()
    };
    let (early, late) = (times(8_000 * MS), times(8_100 * MS));
    assert_eq!(early[..7], [0, 5, 10, 20, 40, 80, 160]);
    assert_eq!(early[7..12], [220, 280, 340, 400, 460]);
    assert_eq!(late[7..12], [180, 240, 300, 360, 420]);
}
