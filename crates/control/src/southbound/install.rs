//! Transactions: rules for each of their switches, followed by a barrier request, and the handling of the answers.

use smallvec::SmallVec;
use weft_wire::openflow::Message;

use super::encode;
use super::open::{Done, Failure};
use super::queue::Batch;
use super::session::Block;
use super::state::{Southbound, Trouble};
use crate::clock::Time;
use crate::command::Transaction;
use crate::ids::{PortNo, SwitchId};

impl Southbound {
    /// A switch answered a barrier request.
    pub(super) fn confirmed(&mut self, now: Time, switch: SwitchId, xid: u32) {
        let Some(session) = self.sessions.get_mut(&switch) else { return };
        session.queue.answered(now, xid);
        let done = session.confirmed(xid);
        self.pump(now, switch);
        for &transaction in &done {
            self.core.settled(now, switch, transaction);
        }
        if let Some(&transaction) = done.last()
            && let Some(done) = self.open.confirmed(transaction, switch)
        {
            self.installed(now, transaction, &done);
        }
    }

    pub(super) fn install(&mut self, now: Time, Transaction { id, rules, release }: Transaction) {
        let mut batches: SmallVec<[(SwitchId, Batch, Block); 8]> = SmallVec::new();
        for (switch, _) in &rules {
            match batches.iter_mut().find(|(known, ..)| known == switch) {
                // The number of messages to send, until they have ids.
                Some((.., block)) => block.last += 1,
                None => {
                    let batch = Batch { bytes: Vec::new(), cookies: SmallVec::new(), barrier: None };
                    batches.push((*switch, batch, Block { last: 1 + u32::from(id > 0), ..Block::default() }));
                }
            }
        }
        let mut missing = None;
        batches.retain(|(switch, _, block)| match self.sessions.get_mut(switch) {
            Some(session) => {
                *block = session.begin(block.last, id);
                true
            }
            None => {
                missing = missing.or(Some(*switch));
                false
            }
        });
        for (switch, change) in &rules {
            if let Some((_, batch, block)) = batches.iter_mut().find(|(known, ..)| known == switch) {
                encode::rule(&mut batch.bytes, block.first + batch.cookies.len() as u32, change);
                batch.cookies.push(change.cookie());
            }
        }
        if id > 0 {
            let waiting = batches.iter().map(|(switch, ..)| *switch);
            self.open.begin(id, release, now, self.limits.install_deadline, waiting);
        }
        for (switch, mut batch, block) in batches {
            let Some(session) = self.sessions.get_mut(&switch) else { continue };
            if id > 0 {
                encode::message(&mut batch.bytes, block.last, &Message::BarrierRequest);
                batch.barrier = Some(block.last);
                session.unanswered.push_back(block);
                if session.unanswered.len() > self.limits.backlog {
                    self.troubles.push(Trouble::Backlog(switch));
                }
            }
            session.queue.push(batch);
            self.pump(now, switch);
        }
        if id > 0 {
            if let Some(failure) = missing.and_then(|switch| self.open.fail(id, switch)) {
                self.counts.transactions_switch_gone += 1;
                self.failed(now, failure, "switch not connected");
            } else if let Some(done) = self.open.done(id) {
                // It has no rules, so there is nothing to wait for.
                self.installed(now, id, &done);
            }
        }
    }

    /// Sends a switch as many waiting batches as its window allows.
    fn pump(&mut self, now: Time, switch: SwitchId) {
        let Some(session) = self.sessions.get_mut(&switch) else { return };
        while let Some(batch) = session.queue.pop(now) {
            session.mark(switch, &mut self.to_send);
            session.out.extend_from_slice(&batch.bytes);
            self.counts.flow_mods += batch.cookies.len() as u64;
            if session.queue.wants_barrier() {
                let xid = session.begin(1, 0).first;
                session.queue.add_barrier(now, xid);
                encode::message(&mut session.out, xid, &Message::BarrierRequest);
            }
        }
    }

    /// All switches have confirmed: sends the waiting frames.
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
