//! Which receive takes which message, by the rule of MPI that LogGOPSim follows: a message goes to the first receive
//! posted that accepts its source and tag, a receive takes the first message that has arrived.
//!
//! A receive from any rank or with any tag makes that depend on the time, except if only one message is left for it, if
//! all are from one rank, which sends them in order, or if all receives that are left accept all messages that are
//! left.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use weft_units::plural;

use super::order::{Before, Order};
use crate::dependencies::Node;
use crate::trace::error::{Place, TraceError};

/// A send or receive that waits for its counterpart.
#[derive(Clone, Copy)]
pub struct Half {
    /// Its flow, or the step at which it is complete.
    pub node: Node,
    /// The bytes of the message, or the most that the receive takes.
    pub bytes: u64,
    /// Its place in the file.
    pub place: Place,
    /// Its index among the operations of its rank.
    pub operation: usize,
    /// The rank that sends; `None` in a receive from any.
    pub src: Option<u32>,
    /// The tag; `None` in a receive with any.
    pub tag: Option<u32>,
}

/// The messages and receives of a rank.
#[derive(Default)]
pub struct Inbox {
    /// The messages sent to it: those of each rank together, as in the file.
    pub sends: Vec<Half>,
    /// Its receives, as in the file.
    pub receives: Vec<Half>,
}

/// Messages and the receives that take them.
pub enum Match {
    /// The receive takes this message.
    One(Half, Half),
    /// The first receive takes the first of the messages that arrives, the second the next one.
    Arrival(Vec<Half>, Vec<Half>),
}

/// Source and tag of a message.
type Channel = (u32, u32);

/// The messages that a receive accepts: a source and a tag, or any.
type Pattern = (Option<u32>, Option<u32>);

impl Half {
    fn pattern(&self) -> Pattern {
        (self.src, self.tag)
    }

    /// The patterns that accept this message.
    fn patterns(&self) -> [Pattern; 4] {
        [(None, None), (self.src, None), (None, self.tag), (self.src, self.tag)]
    }

    fn channel(&self) -> Option<Channel> {
        Some((self.src?, self.tag?))
    }

    /// Source, destination and tag, for messages.
    fn spell(&self, rank: u32) -> String {
        let src = self.src.map_or_else(|| "any rank".to_owned(), |src| format!("rank {src}"));
        let tag = self.tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}"));
        format!("from {src} to rank {rank} with {tag}")
    }
}

/// The messages and receives of each rank, matched; `orders` has the order of each rank's operations.
///
/// # Errors
/// A message that nobody receives or sends, that is larger than its receive, or whose receive depends on the time.
pub fn matches(
    inboxes: BTreeMap<u32, Inbox>,
    orders: &BTreeMap<u32, &Order>,
) -> Result<Vec<Match>, TraceError> {
    let places = orders.iter().filter_map(|(rank, order)| Some((*rank, order.places()?)));
    let places: BTreeMap<u32, Vec<usize>> = places.collect();
    let place = |rank: u32, half: &Half| places.get(&rank).map_or(half.operation, |of| of[half.operation]);
    let (mut matches, mut before) = (Vec::new(), BTreeMap::new());
    for (rank, Inbox { mut sends, mut receives }) in inboxes {
        sends.sort_by_key(|send| (send.src, place(send.src.unwrap_or_default(), send)));
        receives.sort_by_key(|receive| place(rank, receive));
        for (sends, receives) in groups(&sends, &receives) {
            Group { rank, sends, receives, taken: 0 }.resolve(orders, &mut before, &mut matches)?;
        }
    }
    Ok(matches)
}

/// Messages and receives that can be for each other, apart from all that cannot.
fn groups(sends: &[Half], receives: &[Half]) -> Vec<(Vec<Half>, Vec<Half>)> {
    let channels = sends.iter().chain(receives).filter_map(Half::channel);
    let channels: BTreeSet<Channel> = channels.collect();
    let channels: BTreeMap<Channel, usize> = channels.into_iter().zip(0..).collect();
    let mut by_tag: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    channels.iter().for_each(|((_, tag), number)| by_tag.entry(*tag).or_default().push(*number));
    let mut parents: Vec<usize> = (0..channels.len()).collect();
    let open = receives.iter().filter(|receive| receive.channel().is_none());
    let open: BTreeSet<Pattern> = open.map(Half::pattern).collect();
    let mut first_of: BTreeMap<Pattern, usize> = BTreeMap::new();
    for pattern in open {
        let accepted: Vec<usize> = match pattern {
            (Some(src), _) => channels.range((src, 0)..=(src, u32::MAX)).map(|(_, number)| *number).collect(),
            (None, Some(tag)) => by_tag.get(&tag).cloned().unwrap_or_default(),
            (None, None) => (0..channels.len()).collect(),
        };
        let Some((first, others)) = accepted.split_first() else { continue };
        first_of.insert(pattern, *first);
        for other in others {
            let (one, other) = (root(&mut parents, *first), root(&mut parents, *other));
            parents[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<Option<usize>, (Vec<Half>, Vec<Half>)> = BTreeMap::new();
    let mut group = |half: &Half| {
        let number = match half.channel() {
            Some(channel) => channels.get(&channel),
            None => first_of.get(&half.pattern()),
        };
        number.map(|number| root(&mut parents, *number))
    };
    for send in sends {
        groups.entry(group(send)).or_default().0.push(*send);
    }
    for receive in receives {
        groups.entry(group(receive)).or_default().1.push(*receive);
    }
    groups.into_values().collect()
}

/// The first of the channels that are in one group with this one. The way there is half as long the next time.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

/// Messages and receives that can be for each other, in the order in which they are sent, of each rank, and posted.
struct Group {
    rank: u32,
    sends: Vec<Half>,
    receives: Vec<Half>,
    /// How many of the receives have taken a message.
    taken: usize,
}

/// The orders of ranks, prepared when a question about them comes up.
type Prepared<'a> = BTreeMap<u32, Before<'a>>;

/// The first two neighbours of the operations of a rank of which it depends on the time which starts first.
fn unordered<'a>(
    rank: u32,
    operations: &[usize],
    orders: &BTreeMap<u32, &'a Order>,
    before: &mut Prepared<'a>,
) -> Option<(usize, usize)> {
    let order = orders.get(&rank)?;
    before.entry(rank).or_insert_with(|| Before::of(order)).unordered(operations)
}

/// The place of an operation among these.
fn place_of<'a>(operation: usize, halves: impl IntoIterator<Item = &'a Half>) -> Place {
    let mut halves = halves.into_iter();
    halves.find(|half| half.operation == operation).map_or(Place::File, |half| half.place)
}

impl Group {
    fn resolve<'a>(
        mut self,
        orders: &BTreeMap<u32, &'a Order>,
        before: &mut Prepared<'a>,
        matches: &mut Vec<Match>,
    ) -> Result<(), TraceError> {
        let is_open = self.receives.iter().any(|receive| receive.channel().is_none());
        if is_open && self.sends.len() > 1 {
            self.check_posting(orders, before)?;
        }
        // The messages left that each receive accepts, by their index.
        let mut left: BTreeMap<Pattern, BTreeSet<usize>> =
            self.receives.iter().map(|receive| (receive.pattern(), BTreeSet::new())).collect();
        let mut is_left = vec![true; self.sends.len()];
        for (index, send) in self.sends.iter().enumerate() {
            for pattern in send.patterns() {
                if let Some(left) = left.get_mut(&pattern) {
                    left.insert(index);
                }
            }
        }
        let mut checked = BTreeSet::new();
        while let Some(receive) = self.receives.get(self.taken).copied() {
            let accepted = &left[&receive.pattern()];
            let Some(&first) = accepted.first() else {
                return Err(self.unsent(&receive));
            };
            let src = self.sends[first].src;
            // Messages are in the order of their sources.
            let of_src = self.sends.partition_point(|send| send.src < src)
                ..self.sends.partition_point(|send| send.src <= src);
            if let Some(&other) = accepted.range((Bound::Included(of_src.end), Bound::Unbounded)).next() {
                let (first, other) = (self.sends[first], self.sends[other]);
                self.sends = self.remaining(&is_left).copied().collect();
                return self.by_arrival(first, other, matches);
            }
            if receive.tag.is_none() && checked.insert(src) {
                let sends: Vec<&Half> = of_src.filter(|at| is_left[*at]).map(|at| &self.sends[at]).collect();
                self.check_sending(&sends, orders, before)?;
            }
            let send = self.sends[first];
            is_left[first] = false;
            for pattern in send.patterns() {
                if let Some(left) = left.get_mut(&pattern) {
                    left.remove(&first);
                }
            }
            self.taken += 1;
            self.fits(&send, &receive)?;
            matches.push(Match::One(send, receive));
        }
        self.remaining(&is_left).next().map_or(Ok(()), |send| Err(self.unreceived(send)))
    }

    /// The messages that are left.
    fn remaining(&self, is_left: &[bool]) -> impl Iterator<Item = &Half> {
        self.sends.iter().zip(is_left).filter_map(|(send, is_left)| is_left.then_some(send))
    }

    /// All that is left matches in the order of arrival, if every receive accepts every message; otherwise it depends
    /// on the time whether the first receive takes `first` or `other`, and which are left for the others.
    fn by_arrival(self, first: Half, other: Half, matches: &mut Vec<Match>) -> Result<(), TraceError> {
        let receives = &self.receives[self.taken..];
        let sources: BTreeSet<Option<u32>> = self.sends.iter().map(|send| send.src).collect();
        let tags: BTreeSet<Option<u32>> = self.sends.iter().map(|send| send.tag).collect();
        let is_all = |all: &BTreeSet<Option<u32>>, own: Option<u32>| {
            own.is_none() || (all.len() == 1 && all.contains(&own))
        };
        let takes_all = |receive: &Half| is_all(&sources, receive.src) && is_all(&tags, receive.tag);
        if let Some(choosy) = receives.iter().find(|receive| !takes_all(receive)) {
            let why = format!(
                "whether this receive takes the message of rank {} ({}) or of rank {} ({}) depends on the time, and the \
                 receive {} does not accept all that are left; give the source or the tag",
                first.src.unwrap_or_default(),
                first.place.name(),
                other.src.unwrap_or_default(),
                other.place.name(),
                choosy.place.on()
            );
            return Err(TraceError { place: receives[0].place, why });
        }
        if let Some(receive) = receives.get(self.sends.len()) {
            return Err(self.unsent(receive));
        }
        if let Some(send) = self.sends.get(receives.len()) {
            return Err(self.unreceived(send));
        }
        let largest = self.sends.iter().max_by_key(|send| send.bytes);
        let smallest = receives.iter().min_by_key(|receive| receive.bytes);
        if let (Some(send), Some(receive)) = (largest, smallest) {
            self.fits(send, receive)?;
        }
        let receives = receives.to_vec();
        matches.push(Match::Arrival(self.sends, receives));
        Ok(())
    }

    /// Receives are posted in one order, whatever the time.
    fn check_posting<'a>(
        &self,
        orders: &BTreeMap<u32, &'a Order>,
        before: &mut Prepared<'a>,
    ) -> Result<(), TraceError> {
        let operations: Vec<usize> = self.receives.iter().map(|receive| receive.operation).collect();
        unordered(self.rank, &operations, orders, before).map_or(Ok(()), |(one, other)| {
            let why = format!(
                "whether this receive or the one {} is posted first depends on the time, and both accept a message from \
                 any rank or with any tag; let one require the other",
                place_of(one, &self.receives).on()
            );
            Err(TraceError { place: place_of(other, &self.receives), why })
        })
    }

    /// A rank sends these messages, all that are left of it, in one order if their tags differ, whatever the time.
    fn check_sending<'a>(
        &self,
        sends: &[&Half],
        orders: &BTreeMap<u32, &'a Order>,
        before: &mut Prepared<'a>,
    ) -> Result<(), TraceError> {
        if sends.iter().all(|send| send.tag == sends[0].tag) {
            return Ok(());
        }
        let operations: Vec<usize> = sends.iter().map(|send| send.operation).collect();
        let src = sends[0].src.unwrap_or_default();
        unordered(src, &operations, orders, before).map_or(Ok(()), |(one, other)| {
            let why = format!(
                "whether this message or the one {} is sent first depends on the time, and a receive of rank {} accepts any \
                 tag; let one require the other",
                place_of(one, sends.iter().copied()).on(),
                self.rank
            );
            Err(TraceError { place: place_of(other, sends.iter().copied()), why })
        })
    }

    fn fits(&self, send: &Half, receive: &Half) -> Result<(), TraceError> {
        if send.bytes <= receive.bytes {
            return Ok(());
        }
        let why = format!(
            "this message {} has {}; the receive {} takes {}",
            send.spell(self.rank),
            plural(send.bytes, "byte"),
            receive.place.on(),
            receive.bytes
        );
        Err(TraceError { place: send.place, why })
    }

    fn unreceived(&self, send: &Half) -> TraceError {
        let why = format!("nobody receives this message {}", send.spell(self.rank));
        TraceError { place: send.place, why }
    }

    fn unsent(&self, receive: &Half) -> TraceError {
        let why = format!("nobody sends this message {}", receive.spell(self.rank));
        TraceError { place: receive.place, why }
    }
}
