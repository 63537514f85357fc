//! Which receive takes which message, by the rule of MPI that LogGOPSim follows: a message goes to the first receive
//! posted that accepts its source and tag, a receive takes the first message that has arrived.
//!
//! A receive from any rank or with any tag makes that depend on the time, except if only one message is left for it, if
//! all are from one rank, which sends them in order, or if all receives that are left accept all messages that are left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::order::Order;
use super::{TraceError, at};
use crate::dependencies::Node;

/// A send or receive that waits for its counterpart.
#[derive(Clone, Copy)]
pub struct Half {
    /// Its flow, or the step at which it is complete.
    pub node: Node,
    /// The bytes of the message, or the most that the receive takes.
    pub bytes: u64,
    /// Its line.
    pub line: u64,
    /// Its index among the operations of its rank.
    pub operation: usize,
    /// The rank that sends; `None` in a receive from any.
    pub src: Option<u32>,
    /// The tag; `None` in a receive with any.
    pub tag: Option<u32>,
}

/// What a rank receives.
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

impl Half {
    fn accepts(&self, (src, tag): Channel) -> bool {
        self.src.is_none_or(|own| own == src) && self.tag.is_none_or(|own| own == tag)
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
    orders: &BTreeMap<u32, Order>,
) -> Result<Vec<Match>, TraceError> {
    let places = orders.iter().filter_map(|(rank, order)| Some((*rank, order.places()?)));
    let places: BTreeMap<u32, Vec<usize>> = places.collect();
    let place = |rank: u32, half: &Half| places.get(&rank).map_or(half.operation, |of| of[half.operation]);
    let mut matches = Vec::new();
    for (rank, Inbox { mut sends, mut receives }) in inboxes {
        sends.sort_by_key(|send| (send.src, place(send.src.unwrap_or_default(), send)));
        receives.sort_by_key(|receive| place(rank, receive));
        for (sends, receives) in groups(&sends, &receives) {
            Group { rank, orders, sends: sends.into(), receives: receives.into() }.resolve(&mut matches)?;
        }
    }
    Ok(matches)
}

/// Messages and receives that can be for each other, apart from all that cannot.
fn groups(sends: &[Half], receives: &[Half]) -> Vec<(Vec<Half>, Vec<Half>)> {
    let channels = sends.iter().chain(receives).filter_map(Half::channel);
    let mut channels: BTreeMap<Channel, usize> = channels.map(|channel| (channel, 0)).collect();
    let mut parents: Vec<usize> = (0..channels.len()).collect();
    channels.values_mut().zip(0..).for_each(|(number, at)| *number = at);
    let root = |parents: &[usize], mut at: usize| {
        while parents[at] != at {
            at = parents[at];
        }
        at
    };
    let open = receives.iter().filter(|receive| receive.channel().is_none());
    let open: BTreeMap<_, &Half> = open.map(|receive| ((receive.src, receive.tag), receive)).collect();
    let mut first_of: BTreeMap<(Option<u32>, Option<u32>), usize> = BTreeMap::new();
    for (pattern, receive) in open {
        let mut accepted = channels.iter().filter(|(channel, _)| receive.accepts(**channel));
        let Some((_, first)) = accepted.next() else { continue };
        first_of.insert(pattern, *first);
        for (_, other) in accepted {
            let (one, other) = (root(&parents, *first), root(&parents, *other));
            parents[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<Option<usize>, (Vec<Half>, Vec<Half>)> = BTreeMap::new();
    let group = |half: &Half| {
        let number = match half.channel() {
            Some(channel) => channels.get(&channel),
            None => first_of.get(&(half.src, half.tag)),
        };
        number.map(|number| root(&parents, *number))
    };
    for send in sends {
        groups.entry(group(send)).or_default().0.push(*send);
    }
    for receive in receives {
        groups.entry(group(receive)).or_default().1.push(*receive);
    }
    groups.into_values().collect()
}

/// Messages and receives that can be for each other, in the order in which they are sent, of each rank, and posted.
struct Group<'a> {
    rank: u32,
    orders: &'a BTreeMap<u32, Order>,
    sends: VecDeque<Half>,
    receives: VecDeque<Half>,
}

impl Group<'_> {
    fn resolve(mut self, matches: &mut Vec<Match>) -> Result<(), TraceError> {
        let is_open = self.receives.iter().any(|receive| receive.channel().is_none());
        if is_open && self.sends.len() > 1 {
            self.check_posting()?;
        }
        let sources: BTreeSet<Option<u32>> = self.sends.iter().map(|send| send.src).collect();
        let mut checked = BTreeSet::new();
        while let Some(receive) = self.receives.pop_front() {
            let accepts = |send: &Half| send.channel().is_some_and(|channel| receive.accepts(channel));
            let Some(first) = self.sends.iter().position(accepts) else {
                let why = format!("nobody sends this message {}", receive.spell(self.rank));
                return Err(at(receive.line, why));
            };
            let of_others = |send: &&Half| accepts(send) && send.src != self.sends[first].src;
            let other = if receive.src.is_none() && sources.len() > 1 {
                self.sends.iter().find(of_others).copied()
            } else {
                None
            };
            if let Some(other) = other {
                self.receives.push_front(receive);
                let first = self.sends[first];
                return self.by_arrival(first, other, matches);
            }
            let src = self.sends[first].src.unwrap_or_default();
            if receive.tag.is_none() && checked.insert(src) {
                self.check_sending(src)?;
            }
            if let Some(send) = self.sends.remove(first) {
                self.fits(&send, &receive)?;
                matches.push(Match::One(send, receive));
            }
        }
        self.sends.front().map_or(Ok(()), |send| Err(self.unreceived(send)))
    }

    /// All that is left matches in the order of arrival, if every receive accepts every message; otherwise it depends
    /// on the time whether the first receive takes `first` or `other`, and what is left for the others.
    fn by_arrival(self, first: Half, other: Half, matches: &mut Vec<Match>) -> Result<(), TraceError> {
        let channels: BTreeSet<Channel> = self.sends.iter().filter_map(Half::channel).collect();
        let takes_all = |receive: &Half| channels.iter().all(|channel| receive.accepts(*channel));
        if let Some(choosy) = self.receives.iter().find(|receive| !takes_all(receive)) {
            let why = format!(
                "whether this receive takes the message of rank {} (line {}) or of rank {} (line {}) depends on the \
                 time, and the receive on line {} does not accept all that are left; give the source or the tag",
                first.src.unwrap_or_default(),
                first.line,
                other.src.unwrap_or_default(),
                other.line,
                choosy.line
            );
            return Err(at(self.receives[0].line, why));
        }
        match self.sends.len().cmp(&self.receives.len()) {
            std::cmp::Ordering::Less => {
                let receive = self.receives[self.sends.len()];
                return Err(at(
                    receive.line,
                    format!("nobody sends this message {}", receive.spell(self.rank)),
                ));
            }
            std::cmp::Ordering::Greater => return Err(self.unreceived(&self.sends[self.receives.len()])),
            std::cmp::Ordering::Equal => {}
        }
        let largest = self.sends.iter().max_by_key(|send| send.bytes);
        let smallest = self.receives.iter().min_by_key(|receive| receive.bytes);
        if let (Some(send), Some(receive)) = (largest, smallest) {
            self.fits(send, receive)?;
        }
        matches.push(Match::Arrival(self.sends.into(), self.receives.into()));
        Ok(())
    }

    /// Receives are posted in one order, whatever the time.
    fn check_posting(&self) -> Result<(), TraceError> {
        let operations: Vec<usize> = self.receives.iter().map(|receive| receive.operation).collect();
        let unordered = self.orders.get(&self.rank).and_then(|order| order.unordered(&operations));
        let line = |operation| {
            self.receives
                .iter()
                .find(|receive| receive.operation == operation)
                .map_or(0, |receive| receive.line)
        };
        unordered.map_or(Ok(()), |(one, other)| {
            let why = format!(
                "whether this receive or the one on line {} is posted first depends on the time, and both accept a \
                 message from any rank or with any tag; let one require the other",
                line(one)
            );
            Err(at(line(other), why))
        })
    }

    /// A rank sends messages with different tags in one order, whatever the time.
    fn check_sending(&self, src: u32) -> Result<(), TraceError> {
        let sends: Vec<&Half> = self.sends.iter().filter(|send| send.src == Some(src)).collect();
        if sends.iter().all(|send| send.tag == sends[0].tag) {
            return Ok(());
        }
        let operations: Vec<usize> = sends.iter().map(|send| send.operation).collect();
        let unordered = self.orders.get(&src).and_then(|order| order.unordered(&operations));
        let line =
            |operation| sends.iter().find(|send| send.operation == operation).map_or(0, |send| send.line);
        unordered.map_or(Ok(()), |(one, other)| {
            let why = format!(
                "whether this message or the one on line {} is sent first depends on the time, and a receive of rank {} \
                 accepts any tag; let one require the other",
                line(one),
                self.rank
            );
            Err(at(line(other), why))
        })
    }

    fn fits(&self, send: &Half, receive: &Half) -> Result<(), TraceError> {
        if send.bytes <= receive.bytes {
            return Ok(());
        }
        let why = format!(
            "this message {} has {} bytes; the receive on line {} takes {}",
            send.spell(self.rank),
            send.bytes,
            receive.line,
            receive.bytes
        );
        Err(at(send.line, why))
    }

    fn unreceived(&self, send: &Half) -> TraceError {
        at(send.line, format!("nobody receives this message {}", send.spell(self.rank)))
    }
}
