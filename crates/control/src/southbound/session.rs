//! [`Session`]: a connected switch, the bytes to send to it, and its unconfirmed transactions.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::queue::Queue;
use crate::ids::SwitchId;

/// First OpenFlow transaction id used here; lower ones belong to the caller that keeps the connection.
pub const FIRST_XID: u32 = 1 << 31;

/// Consecutive messages of a transaction, ending with a barrier request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The id of the first message.
    pub first: u32,
    /// The id of the last message.
    pub last: u32,
    /// The core's number.
    pub transaction: u64,
}

/// A connected switch.
#[derive(Debug)]
pub struct Session {
    /// Bytes to send.
    pub out: Vec<u8>,
    /// Rule changes waiting for earlier confirmations.
    pub queue: Queue,
    /// Unconfirmed blocks, sent or waiting, in order.
    pub unanswered: VecDeque<Block>,
    next_xid: u32,
}

impl Default for Session {
    fn default() -> Self {
        Self { out: Vec::new(), queue: Queue::default(), unanswered: VecDeque::new(), next_xid: FIRST_XID }
    }
}

impl Session {
    /// Consecutive ids for `count` messages of a transaction.
    pub fn begin(&mut self, count: u32, transaction: u64) -> Block {
        let next = self.next_xid.checked_add(count);
        let first = if next.is_some() { self.next_xid } else { FIRST_XID };
        self.next_xid = next.unwrap_or(FIRST_XID + count);
        Block { first, last: first + count - 1, transaction }
    }

    /// Marks this switch as having bytes to send; call it before writing them.
    pub fn mark(&self, switch: SwitchId, to_send: &mut Vec<SwitchId>) {
        if self.out.is_empty() {
            to_send.push(switch);
        }
    }

    /// Handles a barrier reply; returns the transactions it confirms, that of the request last. Replies come in order,
    /// so earlier requests without one will not get it.
    pub fn confirmed(&mut self, xid: u32) -> SmallVec<[u64; 4]> {
        let place = self.unanswered.iter().position(|block| block.last == xid);
        let done = place.map(|place| self.unanswered.drain(..=place).map(|block| block.transaction));
        done.map(Iterator::collect).unwrap_or_default()
    }

    /// The transaction of the block that contains this message.
    pub fn block_with(&self, xid: u32) -> Option<u64> {
        let block = self.unanswered.iter().find(|block| (block.first..=block.last).contains(&xid))?;
        Some(block.transaction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_block_follow_one_another_and_begin_again_where_they_would_run_out() {
        let mut session = Session { next_xid: u32::MAX - 4, ..Session::default() };
        let blocks = [3, 3, 2].map(|count| session.begin(count, 7));
        let ids = blocks.map(|block| (block.first, block.last));
        assert_eq!(
            ids,
            [(u32::MAX - 4, u32::MAX - 2), (FIRST_XID, FIRST_XID + 2), (FIRST_XID + 3, FIRST_XID + 4)]
        );
    }

    #[test]
    fn an_answer_is_one_to_all_before_it() {
        let mut session = Session::default();
        for transaction in 1..=3 {
            let block = session.begin(2, transaction);
            session.unanswered.push_back(block);
        }
        assert_eq!(session.block_with(FIRST_XID + 2), Some(2));
        assert!(session.confirmed(FIRST_XID + 2).is_empty());
        assert_eq!(session.confirmed(FIRST_XID + 3)[..], [1, 2]);
        assert!(session.confirmed(FIRST_XID + 1).is_empty() && session.block_with(FIRST_XID).is_none());
        assert_eq!(session.confirmed(FIRST_XID + 5)[..], [3]);
        assert!(session.unanswered.is_empty());
    }
}
