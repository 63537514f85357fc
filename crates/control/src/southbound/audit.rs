//! [`Audits`]: now and then switches are asked for a part of the rules that stay until they are removed. Who took some
//! out, by hand or by a fault of the switch, does so for a few seconds only.

use std::collections::{BTreeMap, VecDeque};

use crate::clock::Time;
use weft_wire::Error;
use weft_wire::openflow::{FlowMod, FlowStatsRequest, Match, Message, MultipartRequest, PortNumber};

use super::{Southbound, Stop, Trouble, decode, encode};
use crate::cookie::{LASTING_SLICES, lasting_slice};
use crate::ids::SwitchId;
use crate::rule::Rule;

/// The rules of one answer at most: a switch that tells more is not believed.
const MOST: usize = 100_000;

/// What a switch was asked for, and what it has told of that.
#[derive(Debug, Default)]
struct Audit {
    /// How many questions were answered.
    turn: u32,
    /// The transaction id of the question that is open, 0 for none.
    xid: u32,
    told: Vec<Rule>,
    answers: usize,
}

/// The audits of all switches.
#[derive(Debug, Default)]
pub struct Audits {
    by_switch: BTreeMap<SwitchId, Audit>,
    /// All have the same interval: the first is due first. Some may have ended.
    due: VecDeque<(Time, SwitchId)>,
}

impl Audits {
    /// A switch is to be asked for the first time then.
    pub fn begin(&mut self, first: Time, switch: SwitchId) {
        self.end(switch);
        self.by_switch.insert(switch, Audit::default());
        self.due.push_back((first, switch));
    }

    /// A switch cannot be asked any more.
    pub fn end(&mut self, switch: SwitchId) {
        self.by_switch.remove(&switch);
        self.due.retain(|(_, other)| *other != switch);
    }

    /// A switch does not answer the question with this transaction id.
    pub fn refused(&mut self, switch: SwitchId, xid: u32) {
        if let Some(audit) = self.by_switch.get_mut(&switch).filter(|audit| audit.xid == xid) {
            audit.forget();
        }
    }

    /// When the next is due; [`Time::MAX`] if there is none.
    pub fn next_deadline(&self) -> Time {
        self.due.front().map_or(Time::MAX, |(due, _)| *due)
    }
}

impl Southbound {
    /// Asks switches whose turn it is. One that has not answered is not asked again.
    pub(super) fn audit(&mut self, now: Time) {
        let Some(interval) = self.limits.audit else { return };
        while let Some((_, switch)) = self.audits.due.front().copied().filter(|(due, _)| *due <= now) {
            self.audits.due.pop_front();
            self.audits.due.push_back((now + interval, switch));
            let (Some(audit), Some(session)) =
                (self.audits.by_switch.get_mut(&switch), self.sessions.get_mut(&switch))
            else {
                continue;
            };
            if audit.xid != 0 {
                continue;
            }
            let (cookie, cookie_mask) = audit.slice();
            let request = FlowStatsRequest {
                table: 0,
                out_port: PortNumber::ANY,
                out_group: FlowMod::ANY_GROUP,
                cookie,
                cookie_mask,
                matching: Match::default(),
            };
            session.mark(switch, &mut self.to_send);
            audit.xid = session.begin(1, 0).first;
            let request = Message::MultipartRequest(MultipartRequest::Flows(request));
            encode::message(&mut session.out, audit.xid, &request);
        }
    }

    /// A switch tells rules that it was asked for.
    pub(super) fn rules_told<'a>(
        &mut self,
        now: Time,
        switch: SwitchId,
        xid: u32,
        message: &[u8],
    ) -> Option<Stop<'a>> {
        let audit = self.audits.by_switch.get_mut(&switch).filter(|audit| audit.xid == xid)?;
        let rules = match decode::rules(message) {
            Ok((own, _)) => own,
            Err(error) => {
                audit.forget();
                return Some(Stop::Malformed(error));
            }
        };
        audit.told.extend(rules);
        audit.answers += 1;
        if audit.told.len().max(audit.answers) > MOST {
            audit.forget();
            return Some(Stop::Malformed(Error::Unsupported {
                field: "rules of one answer",
                value: u16::MAX,
            }));
        }
        let is_last = message.get(11).is_some_and(|flags| flags & 1 == 0);
        if !is_last {
            return None;
        }
        let (slice, rules) = (audit.slice(), std::mem::take(&mut audit.told));
        audit.forget();
        audit.turn = audit.turn.wrapping_add(1);
        let mut missing = 0;
        self.tell(now, |core, now, out| missing = core.rules_read(now, switch, slice, &rules, out));
        if missing > 0 {
            self.troubles.push(Trouble::Repaired(switch, missing));
        }
        None
    }
}

impl Audit {
    /// What is asked for next: every other time what is few and all else stands on, LLDP's rule among it, and in between
    /// the rest by turns.
    fn slice(&self) -> (u64, u64) {
        let turn = self.turn / 2 % (LASTING_SLICES - 1);
        lasting_slice(if self.turn.is_multiple_of(2) { 0 } else { 1 + turn })
    }

    fn forget(&mut self) {
        (self.xid, self.answers) = (0, 0);
        self.told.clear();
    }
}
