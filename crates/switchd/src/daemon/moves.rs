//! Stations that move: of each a line in the log, at most once in ten seconds. One that moves again and again is
//! most likely two hosts with one address.

use std::collections::HashMap;
use std::time::Duration;

use weft_switching::Mac;

use super::Shared;
use crate::clock;
use crate::layout::Move;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Nanoseconds between two lines about one station.
const GAP: u64 = 10_000_000_000;

/// What is to be said of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct News {
    address: u64,
    /// Moves since it was spoken of last, or appeared.
    times: u64,
    /// How long that is, in seconds.
    seconds: u64,
    last: Move,
}

/// What was said: of each station until how many moves, and when, if anything was. It has no more stations than the kernel's table.
#[derive(Default)]
struct Said {
    until: HashMap<u64, (u64, Option<u64>)>,
    /// When the table was looked at last; `None`: never.
    looked: Option<u64>,
}

impl Said {
    /// What is new in the table at `now`. What another daemon has left in it is not.
    fn news(&mut self, table: &[(u64, Move)], now: u64) -> Vec<News> {
        let looked = self.looked.replace(now);
        self.until.retain(|address, _| table.iter().any(|(other, _)| other == address));
        let mut news = Vec::new();
        for &(address, last) in table {
            let Some(looked) = looked else {
                self.until.insert(address, (last.count, None));
                continue;
            };
            let known = self.until.get(&address).copied().filter(|(count, _)| *count <= last.count);
            let (count, said) = known.unwrap_or((0, None));
            if last.count == count || said.is_some_and(|said| now < said + GAP) {
                continue;
            }
            self.until.insert(address, (last.count, Some(now)));
            let seconds = (now - said.unwrap_or(looked)).div_ceil(1_000_000_000).max(1);
            news.push(News { address, times: last.count - count, seconds, last });
        }
        news
    }
}

/// Tells of stations that move, again and again.
pub async fn watch(shared: Shared) {
    let mut said = Said::default();
    loop {
        let tables = shared.lock().tables.clone();
        let found = tokio::task::spawn_blocking(move || {
            let mut table = Vec::new();
            tables.moves(|address, last| table.push((address, last))).map(|()| table)
        });
        match found.await {
            Ok(Ok(table)) => said.news(&table, clock::now()).iter().for_each(|news| say(&shared, news)),
            Ok(Err(error)) => {
                let may_say = shared.lock().quiet.may_say(0, "moves", clock::now());
                if let Some(left_out) = may_say {
                    tracing::error!(%error, left_out, "reading which stations have moved");
                }
            }
            Err(_) => return,
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn say(shared: &Shared, news: &News) {
    let name = |number: u16| {
        let switch = shared.lock();
        let port = switch.ports.get(usize::from(number));
        port.map_or_else(|| format!("port {number}"), |port| port.name.clone())
    };
    let [_, _, bytes @ ..] = news.address.to_be_bytes();
    let (station, from, to) = (Mac(bytes), name(news.last.from), name(news.last.to));
    let News { times, seconds, .. } = *news;
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
        let mut said = Said::default();
        assert_eq!(said.news(&[], SECOND), []);
        let mut told = Vec::new();
        for second in 2..=31 {
            told.extend(said.news(&moved(7 * (second - 1)), second * SECOND));
        }
        let told: Vec<_> = told.iter().map(|news| (news.times, news.seconds)).collect();
        assert_eq!(told, [(7, 1), (70, 10), (70, 10)]);
    }

    #[test]
    fn moves_before_the_daemon_started_are_not_news_and_a_single_move_later_is() {
        let mut said = Said::default();
        assert_eq!(said.news(&moved(40), SECOND), []);
        assert_eq!(said.news(&moved(40), 2 * SECOND), []);
        assert_eq!(said.news(&moved(41), 3 * SECOND).len(), 1);
        assert_eq!(said.news(&moved(41), 30 * SECOND), []);
    }
}
