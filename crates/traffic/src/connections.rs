//! [`Connections`]: which flows are messages on one connection that stays open.

use std::collections::HashMap;

use weft_units::words;

use crate::flow::Flow;

words! {
    /// How the messages of a collective use connections.
    pub enum Reuse {
        /// Each message has a connection of its own.
        PerMessage = "per-message",
        /// All messages from one rank to another share a connection that stays open.
        Persistent = "persistent",
    }
}

/// The connections that several flows share. Their flows, called messages, have the same ends and ports and follow each other
/// in order of id. A connection is named by its last message: once both ends of that flow are done, nothing follows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Connections {
    /// The last message of each flow's connection, plus one; 0: the flow shares none. Empty if no flow does.
    last: Vec<u32>,
    /// The next message on the connection; of the last message, the first.
    next: Vec<u32>,
}

impl Connections {
    /// The connections of `groups` of flows, each a list of ids. Gives all messages of a connection the ports of the first.
    pub(crate) fn new(flows: &mut [Flow], groups: Vec<Vec<u32>>) -> Self {
        if groups.is_empty() {
            return Self::default();
        }
        let mut this = Self { last: vec![0; flows.len()], next: vec![0; flows.len()] };
        for mut ids in groups {
            ids.sort_unstable();
            // The first and the latest message so far, by the number of the connection; that by source and destination.
            let (mut numbers, mut ends) = (HashMap::new(), Vec::new());
            for &id in &ids {
                let Flow { src, dst, .. } = flows[id as usize];
                let number = *numbers.entry((src, dst)).or_insert_with(|| {
                    ends.push((id, id));
                    ends.len() - 1
                });
                let (first, latest) = ends[number];
                let Flow { sport, dport, .. } = flows[first as usize];
                (flows[id as usize].sport, flows[id as usize].dport) = (sport, dport);
                this.next[latest as usize] = id;
                this.next[id as usize] = first;
                // Until the last message is known, the number of the connection.
                this.last[id as usize] = number as u32;
                ends[number].1 = id;
            }
            for id in ids {
                let last = &mut this.last[id as usize];
                *last = ends[*last as usize].1 + 1;
            }
        }
        this
    }

    /// The last message of the connection that a flow shares.
    #[inline]
    pub fn last(&self, flow: u32) -> Option<u32> {
        self.last.get(flow as usize)?.checked_sub(1)
    }

    /// The flow that names the connection of a flow: the last message, or the flow itself if it has a connection of its own.
    #[inline]
    pub fn owner(&self, flow: u32) -> u32 {
        self.last(flow).unwrap_or(flow)
    }

    /// The first message of the connection whose last one is `last`.
    pub fn first(&self, last: u32) -> u32 {
        self.next[last as usize]
    }

    /// The message after `flow` on its connection.
    pub fn after(&self, flow: u32) -> Option<u32> {
        self.last(flow).filter(|last| *last != flow).map(|_| self.next[flow as usize])
    }

    /// Whether a flow reuses a connection that an earlier message has opened.
    pub fn continues(&self, flow: u32) -> bool {
        self.last(flow).is_some_and(|last| self.first(last) != flow)
    }

    /// The first messages of all connections.
    pub fn firsts(&self) -> impl Iterator<Item = u32> {
        let lasts = (0..).zip(&self.last).filter(|(flow, last)| *flow + 1 == **last);
        lasts.map(|(last, _)| self.first(last))
    }

    /// The messages of a connection from `flow` on, in order.
    pub fn messages(&self, flow: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(flow), |flow| self.after(*flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Lane;
    use weft_units::{FlowId, HostId, Time};

    fn flow(id: u32, src: u32, dst: u32) -> Flow {
        let (sport, dport) = (100 + id as u16, 5001);
        let (id, src, dst, bytes) = (FlowId(id), HostId(src), HostId(dst), 10 + u64::from(id));
        Flow { id, src, dst, sport, dport, class: 0, dscp: 0, lane: Lane::Any, bytes, start: Time::ZERO }
    }

    #[test]
    fn messages_between_two_hosts_follow_each_other_with_the_ports_of_the_first() {
        // Both ways between two hosts are two connections; flow 2 belongs to no group.
        let ends = [(0, 1), (1, 0), (0, 1), (0, 1), (1, 0), (0, 1)];
        let mut flows: Vec<Flow> = (0..).zip(ends).map(|(id, (src, dst))| flow(id, src, dst)).collect();
        let all = Connections::new(&mut flows, vec![vec![5, 4, 3, 1, 0]]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|flow| all.owner(flow)), [5, 4, 2, 5, 4, 5]);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|flow| all.after(flow)),
            [Some(3), Some(4), None, Some(5), None, None]
        );
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|flow| all.continues(flow)),
            [false, false, false, true, true, true]
        );
        assert_eq!((all.first(5), all.first(4)), (0, 1));
        assert_eq!(flows.iter().map(|flow| flow.sport).collect::<Vec<_>>(), [100, 101, 102, 100, 101, 100]);
        assert_eq!(all.firsts().collect::<Vec<_>>(), [1, 0]);
        assert_eq!(all.messages(0).collect::<Vec<_>>(), [0, 3, 5]);
    }

    #[test]
    fn two_groups_share_no_connection() {
        let mut flows: Vec<Flow> = (0..4).map(|id| flow(id, 0, 1)).collect();
        let all = Connections::new(&mut flows, vec![vec![0, 2], vec![1, 3]]);
        assert_eq!([0, 1, 2, 3].map(|flow| all.last(flow)), [Some(2), Some(3), Some(2), Some(3)]);
        assert_eq!(Connections::default().last(3), None);
    }
}
