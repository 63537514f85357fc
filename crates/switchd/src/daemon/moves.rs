//! Logs stations that move, each at most once in ten seconds, and at most four a second in all. One that keeps moving
//! is most likely two hosts with the same address.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use weft_switching::Mac;

use super::shared::Shared;
use crate::clock;
use crate::layout::Move;

/// Polling interval.
const LOOK: Duration = Duration::from_secs(1);
/// Nanoseconds between two lines about one station.
const GAP: u64 = 10_000_000_000;
/// Stations logged per poll: a host that sends from the addresses of a thousand others cannot fill the log.
const MOST: usize = 4;

/// The log line about a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MoveReport {
    address: u64,
    /// Moves since its last log line, or since it appeared.
    times: u64,
    /// The time since then, in seconds.
    seconds: u64,
    last: Move,
}

/// The log entries about a station.
#[derive(Clone, Copy)]
struct Known {
    /// Its moves that have been logged, or that happened under an earlier daemon.
    count: u64,
    /// The station did not move between the last of these moves and this time.
    since: u64,
    /// No log line about it before this time.
    silent_until: u64,
}

/// The state of the log for each station in the kernel's table.
#[derive(Default)]
struct MoveLog {
    stations: HashMap<u64, Known>,
    /// When the table was last read; `None`: never.
    looked: Option<u64>,
}

impl MoveLog {
    /// The new moves in the table at `now`, of at most [`MOST`] stations; the others follow later. Moves left by an
    /// earlier daemon are not new.
    fn news(&mut self, table: &[(u64, Move)], now: u64) -> Vec<MoveReport> {
        let looked = self.looked.replace(now);
        let there: HashSet<u64> = table.iter().map(|(address, _)| *address).collect();
        self.stations.retain(|address, _| there.contains(address));
        let mut new = Vec::new();
        for &(address, last) in table {
            let Some(looked) = looked else {
                self.stations.insert(address, Known { count: last.count, since: now, silent_until: 0 });
                continue;
            };
            let fresh = Known { count: 0, since: looked, silent_until: 0 };
            let known = self.stations.entry(address).or_insert(fresh);
            if last.count < known.count {
                // The kernel had evicted the entry, and counts from 0 again.
                known.count = 0;
            }
            if last.count == known.count {
                known.since = now;
            } else if now >= known.silent_until {
                new.push((known.silent_until, address, last));
            }
        }
        // Stations that have waited longest come first.
        new.sort_unstable_by_key(|(silent_until, address, _)| (*silent_until, *address));
        new.truncate(MOST);
        new.into_iter().map(|(_, address, last)| self.say(address, last, now)).collect()
    }

    /// The log line about a station, recorded as logged.
    fn say(&mut self, address: u64, last: Move, now: u64) -> MoveReport {
        let logged = Known { count: last.count, since: now, silent_until: now + GAP };
        let before = self.stations.insert(address, logged).unwrap_or(Known { count: 0, ..logged });
        let seconds = (now - before.since).div_ceil(1_000_000_000).max(1);
        MoveReport { address, times: last.count - before.count, seconds, last }
    }
}

/// Logs stations that move, until the task is aborted.
pub async fn watch(shared: Shared) {
    let mut log = MoveLog::default();
    loop {
        let tables = shared.lock().plane.tables().clone();
        let found = tokio::task::spawn_blocking(move || {
            let mut table = Vec::new();
            tables.moves(|address, last| table.push((address, last))).map(|()| table)
        });
        match found.await {
            Ok(Ok(table)) => log.news(&table, clock::now()).iter().for_each(|news| say(&shared, news)),
            Ok(Err(error)) => {
                let admitted = shared.lock().log_limit.admit(0, "moves", clock::now());
                if let Some(left_out) = admitted {
                    tracing::error!(%error, left_out, "reading the table of moves failed");
                }
            }
            Err(_) => return,
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn say(shared: &Shared, news: &MoveReport) {
    let name = |number: u16| {
        let switch = shared.lock();
        let port = switch.ports.get(usize::from(number));
        port.map_or_else(|| format!("port {number}"), |port| port.name.clone())
    };
    let (station, from, to) = (Mac::from_bits(news.address), name(news.last.from), name(news.last.to));
    let MoveReport { times, seconds, .. } = *news;
    if times == 1 {
        tracing::info!("{station} moved from {from} to {to}");
    } else {
        tracing::warn!(
            "{station} moved {times} times in {seconds} s between {to} and {from}: do two hosts have this address?"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn moved(count: u64) -> [(u64, Move); 1] {
        [(5, Move { count, last: 0, to: 1, from: 3, reserved: 0 })]
    }

    #[test]
    fn a_station_that_moves_all_the_time_is_named_once_in_ten_seconds_with_all_its_moves() {
        let mut log = MoveLog::default();
        assert_eq!(log.news(&[], SECOND), []);
        let mut reported = Vec::new();
        for second in 2..=31 {
            reported.extend(log.news(&moved(7 * (second - 1)), second * SECOND));
        }
        let reported: Vec<_> = reported.iter().map(|news| (news.times, news.seconds)).collect();
        assert_eq!(reported, [(7, 1), (70, 10), (70, 10)]);
    }

    #[test]
    fn a_thousand_stations_that_move_all_the_time_are_four_lines_a_second_and_each_has_its_turn() {
        let mut log = MoveLog::default();
        log.news(&[], SECOND);
        let (mut lines, mut named) = (0, HashSet::new());
        for second in 2..=301 {
            let table: Vec<_> = (0..1000).map(|station| (station, moved(second - 1)[0].1)).collect();
            let news = log.news(&table, second * SECOND);
            assert!(news.len() <= 4, "{} lines after {second} s", news.len());
            lines += news.len();
            named.extend(news.iter().map(|news| news.address));
        }
        assert_eq!((lines, named.len()), (1200, 1000));
    }

    #[test]
    fn moves_before_the_daemon_started_are_not_news_and_a_single_move_later_is() {
        let mut log = MoveLog::default();
        assert_eq!(log.news(&moved(40), SECOND), []);
        assert_eq!(log.news(&moved(40), 2 * SECOND), []);
        assert_eq!(log.news(&moved(41), 3 * SECOND).len(), 1);
        assert_eq!(log.news(&moved(41), 30 * SECOND), []);
    }
}
