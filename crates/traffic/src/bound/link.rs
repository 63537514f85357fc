//! [`Link`]: the links of a host that count together in one direction, and the time that they need for some messages.

use std::collections::BinaryHeap;

use weft_units::{Duration, HostId, Rate, Time};

use crate::listed::ListedFlow;
use crate::places::{Course, Places};

/// Which links of a host count together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// All of those into the network.
    Network,
    /// One of these.
    Interface(u32),
    /// That into its scale-up domain.
    ScaleUp,
    /// This one and those into the network, for messages that change between them.
    Either,
}

/// Links of a host in one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Link {
    host: HostId,
    kind: Kind,
    receives: bool,
}

impl Link {
    /// The links of a flow's source on which it may be sent.
    pub(super) fn of_source(flow: &ListedFlow, places: &Places) -> Self {
        Self { host: flow.src, kind: Self::kind(flow, 0, places), receives: false }
    }

    /// The links of a flow's destination on which it may be received.
    pub(super) fn of_destination(flow: &ListedFlow, places: &Places) -> Self {
        Self { host: flow.dst, kind: Self::kind(flow, 1, places), receives: true }
    }

    fn kind(flow: &ListedFlow, end: usize, places: &Places) -> Kind {
        match places.course(flow) {
            Course::Domain => Kind::ScaleUp,
            Course::Either => Kind::Either,
            Course::Network => {
                places.known_interfaces(flow).map_or(Kind::Network, |both| Kind::Interface(both[end]))
            }
        }
    }

    /// Whether it is at a destination.
    pub(super) const fn receives(self) -> bool {
        self.receives
    }

    /// Its number among the links of all hosts.
    pub(super) fn number(self, places: &Places) -> usize {
        let number = match self.kind {
            Kind::Network => self.host.index(),
            Kind::ScaleUp => places.len() + self.host.index(),
            Kind::Either => 2 * places.len() + self.host.index(),
            Kind::Interface(number) => 3 * places.len() + places.interface_index(self.host, number),
        };
        2 * number + usize::from(self.receives)
    }

    /// How many numbers there are.
    pub(super) fn count(places: &Places) -> usize {
        2 * (3 * places.len() + places.interface_count())
    }

    pub(super) fn rate(self, places: &Places) -> Rate {
        let through = [places.rate(self.host), places.rate_in(self.host)];
        let end = usize::from(self.receives);
        match self.kind {
            Kind::Network => through[end],
            Kind::Interface(number) => places.interface_rates(self.host, number)[end],
            Kind::ScaleUp => places.domain_rates(self.host)[end],
            Kind::Either => Course::Either.rate(places.domain_rates(self.host)[end], through[end]),
        }
    }

    /// Such as `h3 sends into the network`.
    pub(super) fn words(self, places: &Places) -> String {
        let words = match (self.kind, self.receives) {
            (Kind::Network, false) => "sends into the network".to_owned(),
            (Kind::Network, true) => "receives from the network".to_owned(),
            (Kind::ScaleUp, false) => "sends into its scale-up domain".to_owned(),
            (Kind::ScaleUp, true) => "receives from its scale-up domain".to_owned(),
            (Kind::Either, false) => "sends on all links".to_owned(),
            (Kind::Either, true) => "receives on all links".to_owned(),
            (Kind::Interface(number), false) => format!("sends on interface {number}"),
            (Kind::Interface(number), true) => format!("receives on interface {number}"),
        };
        format!("{} {words}", places.name(self.host))
    }
}

/// The transfer of a message over a link.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    /// When it can start.
    pub(super) start: Time,
    /// The time for its bytes.
    pub(super) takes: Duration,
    /// The least time from its end to the end of all.
    pub(super) tail: Duration,
}

/// A lower bound of the end of all, if `transfers` share a link: for each of their subsets, the first start, the time for all
/// bytes, and the least tail. The largest of these is the end of a schedule that always carries the startable message with the
/// longest tail (Carlier, European Journal of Operational Research 11, 1982).
pub(super) fn end_of(transfers: &mut [Transfer]) -> Time {
    transfers.sort_unstable_by_key(|transfer| transfer.start);
    let (mut now, mut end) = (Time::ZERO, Time::ZERO);
    // Started, by tail, with the time that is left.
    let mut started: BinaryHeap<(Duration, Duration)> = BinaryHeap::new();
    for transfer in transfers.iter() {
        while let Some((tail, left)) = started.pop() {
            let until = transfer.start.saturating_since(now);
            if left > until {
                started.push((tail, left - until));
                break;
            }
            now += left;
            end = end.max(now + tail);
        }
        now = now.max(transfer.start);
        started.push((transfer.tail, transfer.takes));
    }
    while let Some((tail, left)) = started.pop() {
        now += left;
        end = end.max(now + tail);
    }
    end
}

/// The last of the [ends](end_of) of the links that several transfers share. Sorts these by link.
pub(super) fn end_of_each(transfers: &mut [(Link, Transfer)]) -> Time {
    if transfers.len() < 2 {
        return Time::ZERO;
    }
    transfers.sort_unstable_by_key(|(link, _)| *link);
    let links = transfers.chunk_by(|(a, _), (b, _)| a == b).filter(|link| link.len() > 1);
    let ends = links.map(|link| end_of(&mut link.iter().map(|(_, transfer)| *transfer).collect::<Vec<_>>()));
    ends.max().unwrap_or(Time::ZERO)
}

/// Leaves each flow once, with its shortest delay: a node may wait for another several times.
pub(super) fn once_each(flows: &mut Vec<(u32, Duration)>) {
    flows.sort_unstable();
    flows.dedup_by_key(|(flow, _)| *flow);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(transfers: &[(u64, u64, u64)]) -> u64 {
        let us = |us| Duration::from_us(us);
        let each = transfers.iter().map(|(start, takes, tail)| Transfer {
            start: Time::ZERO + us(*start),
            takes: us(*takes),
            tail: us(*tail),
        });
        end_of(&mut each.collect::<Vec<_>>()).saturating_since(Time::ZERO).ps() / 1_000_000
    }

    /// The same by its definition.
    fn by_subsets(transfers: &[(u64, u64, u64)]) -> u64 {
        let subsets = (1..1 << transfers.len()).map(|set: u32| {
            let of =
                || transfers.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, of)| of);
            let takes: u64 = of().map(|of| of.1).sum();
            of().map(|of| of.0).min().unwrap() + takes + of().map(|of| of.2).min().unwrap()
        });
        subsets.max().unwrap()
    }

    #[test]
    fn it_is_the_largest_over_all_subsets() {
        assert_eq!(end(&[(3, 4, 5)]), 12);
        assert_eq!(end(&[(0, 4, 9), (0, 4, 1)]), 13, "the first goes first");
        assert_eq!(end(&[(0, 10, 0), (2, 3, 20)]), 25, "a late one interrupts");
        assert_eq!(end(&[(0, 1, 0), (100, 1, 0)]), 101, "with a pause");
        let mut seed = 1_u64;
        let mut next = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for _ in 0..300 {
            let transfers: Vec<_> = (0..7).map(|_| (next(20), 1 + next(9), next(20))).collect();
            assert_eq!(end(&transfers), by_subsets(&transfers), "{transfers:?}");
        }
    }
}
