//! Switches are periodically asked for a part of their lasting rules, so that rules removed by hand or by a fault are
//! restored within seconds.

use weft_wire::Error;
use weft_wire::openflow::{FlowMod, FlowStatsRequest, Match, Message, MultipartRequest, PortNumber};

use super::state::{Southbound, Stop, Trouble};
use super::{decode, encode};
use crate::clock::Time;
use crate::cookie::CookieSlice;
use crate::ids::SwitchId;

/// Maximum number of rules in one reply; a longer reply is rejected.
const MOST: usize = 100_000;

impl Southbound {
    /// Sends due audit requests. A switch with an open request is skipped.
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
            let CookieSlice { value: cookie, mask: cookie_mask } = audit.slice();
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

    /// Handles a switch's reply to an audit request.
    pub(super) fn rules_reported<'a>(
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
        audit.reported.extend(rules);
        audit.answers += 1;
        if audit.reported.len().max(audit.answers) > MOST {
            audit.forget();
            return Some(Stop::Malformed(Error::Unsupported {
                field: "rules in one reply",
                value: u16::MAX,
            }));
        }
        let is_last = message.get(11).is_some_and(|flags| flags & 1 == 0);
        if !is_last {
            return None;
        }
        let (slice, rules) = (audit.slice(), std::mem::take(&mut audit.reported));
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
