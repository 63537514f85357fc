//! Transactions: rules to each of their switches, a barrier request behind them, and what follows from the answers.

use smallvec::SmallVec;
use weft_units::Time;
use weft_wire::openflow::Message;

use super::open::{Done, Failure};
use super::session::Block;
use super::{Southbound, Trouble, encode};
use crate::command::Transaction;
use crate::ids::{PortNo, SwitchId};

impl Southbound {
    /// A switch has done what stood before a barrier request.
    pub(super) fn confirmed(&mut self, now: Time, switch: SwitchId, xid: u32) {
        let Some(session) = self.sessions.get_mut(&switch) else { return };
        let Some(transaction) = session.confirmed(xid) else { return };
        if let Some(done) = self.open.confirmed(transaction, switch) {
            self.installed(now, transaction, &done);
        }
    }

    pub(super) fn install(&mut self, now: Time, Transaction { id, rules, release }: Transaction) {
        // Each switch with the messages that it is sent, and its block of them.
        let mut blocks: SmallVec<[(SwitchId, u32, Block); 8]> = SmallVec::new();
        for (switch, _) in &rules {
            match blocks.iter_mut().find(|(known, ..)| known == switch) {
                Some((_, count, _)) => *count += 1,
                None => blocks.push((*switch, 1 + u32::from(id > 0), Block::default())),
            }
        }
        let mut missing = None;
        for (switch, count, block) in &mut blocks {
            match self.sessions.get_mut(switch) {
                Some(session) => *block = session.begin(*count, id),
                None => missing = missing.or(Some(*switch)),
            }
        }
        blocks.retain(|(_, _, block)| *block != Block::default());
        for (switch, change) in &rules {
            let block = blocks.iter_mut().find(|(known, ..)| known == switch);
            let (Some((_, left, block)), Some(session)) = (block, self.sessions.get_mut(switch)) else {
                continue;
            };
            session.mark(*switch, &mut self.to_send);
            encode::rule(&mut session.out, block.last + 1 - *left, change);
            *left -= 1;
            self.counts.flow_mods += 1;
        }
        if id > 0 {
            let waiting = blocks.iter().map(|(switch, ..)| *switch);
            self.open.begin(id, release, now, self.limits.install_deadline, waiting);
            blocks.iter().for_each(|(switch, _, block)| self.request_barrier(*switch, *block));
            if let Some(failure) = missing.and_then(|switch| self.open.fail(id, switch)) {
                self.counts.transactions_switch_gone += 1;
                self.failed(now, failure, "the switch is gone");
            } else if let Some(done) = self.open.done(id) {
                // It has no rules, so there is nothing to wait for.
                self.installed(now, id, &done);
            }
        }
    }

    fn request_barrier(&mut self, switch: SwitchId, block: Block) {
        if let Some(session) = self.sessions.get_mut(&switch) {
            encode::message(&mut session.out, block.last, &Message::BarrierRequest);
            session.unanswered.push_back(block);
            if session.unanswered.len() > self.limits.backlog {
                self.troubles.push(Trouble::Backlog(switch));
            }
        }
    }

    /// All switches have confirmed: frames that waited go on their way.
    fn installed(&mut self, now: Time, transaction: u64, done: &Done) {
        self.counts.transactions_installed += 1;
        if !done.release.is_empty() {
            self.set_ups.push(now.saturating_since(done.since));
        }
        for (at, frame) in &done.release {
            self.release(at.switch, Some(at.port), &[PortNo::TABLE], *frame);
        }
        self.tell(now, |core, now, out| core.installed(now, transaction, out));
    }

    pub(super) fn failed(&mut self, now: Time, Failure { transaction, switch }: Failure, reason: &str) {
        self.tell(now, |core, now, out| core.failed(now, transaction, switch, reason, out));
    }
}
