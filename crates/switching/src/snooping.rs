//! [`Snooping`]: which ports want the frames of which groups, from the reports and queries of IGMP and MLD.
//!
//! Once a querier asks for reports, a frame to a known group leaves only the host ports with members or routers, and a
//! report of one group only those with routers: a host that hears another's report does not send its own. Between switches
//! all groups are flooded, so that every switch knows every group. Unknown groups are flooded, and so are those that hosts
//! need not report: link-local ones of IPv4, all nodes and solicited nodes of IPv6.

use weft_units::{Duration, PortId, Time};
use weft_wire::Mac;

use crate::exploration::{Exploration, Snoop};
use crate::soft_table::SoftTable;

/// How long members of a group that a router asks about have to answer.
pub const ANSWER: Duration = Duration::from_secs(2);

/// A version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Family {
    /// IPv4, with IGMP.
    V4,
    /// IPv6, with MLD.
    V6,
}

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Membership {
    /// The sender is a member of this group.
    Member(Mac),
    /// A router asks for members of all groups.
    Query(Family),
    /// A router asks for members of this group.
    QueryOf(Family, Mac),
    /// The sender is a router, or wants the frames of more groups than a switch reads from a message.
    All(Family),
}

/// The ports of members or routers, by bits. Those heard last replace earlier ones after a lifetime.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Members {
    /// Ports heard since `turn_at` less a lifetime.
    pub fresh: u64,
    /// Ports heard before.
    pub old: u64,
    /// When the fresh ones become old.
    pub turn_at: Time,
    /// When the old ones expire.
    pub old_until: Time,
}

impl Members {
    /// A member or router was heard on a port; `until` is when the fresh ones expire.
    fn hear(&mut self, bit: u64, until: Time, now: Time, life: Duration) {
        if until <= now {
            *self = Self { turn_at: now + life, ..Self::default() };
        } else if self.turn_at <= now {
            *self = Self { fresh: 0, old: self.fresh, turn_at: now + life, old_until: until };
        }
        self.fresh |= bit;
    }

    /// The ports at `now`, unless the entry has expired.
    fn ports(&self, now: Time) -> u64 {
        self.fresh | if self.old_until > now { self.old } else { 0 }
    }

    /// Each member is asked for an answer.
    fn ask(&mut self, now: Time) {
        *self = Self { fresh: 0, old: self.ports(now), old_until: now + ANSWER, ..*self };
    }
}

/// The routers of a version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Routers {
    /// Their ports.
    pub ports: Members,
    /// When they expire.
    pub until: Time,
    /// Until when a router counts as querier.
    pub asked_until: Time,
}

/// Members and routers of all groups.
pub struct Snooping {
    members: SoftTable<Mac, Members>,
    routers: [Routers; 2],
    life: Duration,
    is_on: bool,
}

/// The version of IP of a group that hosts report.
fn family(group: Mac) -> Option<Family> {
    match group.0 {
        [1, 0, 0x5e, 0, 0, _] => None,
        [1, 0, 0x5e, a, ..] if a < 0x80 => Some(Family::V4),
        [0x33, 0x33, 0, 0, 0, 1] | [0x33, 0x33, 0xff, ..] => None,
        [0x33, 0x33, ..] => Some(Family::V6),
        _ => None,
    }
}

/// The bit of a port; ports beyond have none, and receive all groups.
fn bit(port: PortId) -> u64 {
    1_u64.checked_shl(port.0.into()).unwrap_or(0)
}

impl Snooping {
    pub(crate) fn new(config: &Exploration, secret: u64) -> Self {
        let safeguards = &config.safeguards;
        Self {
            members: SoftTable::new(safeguards.groups, &[safeguards.membership], secret),
            routers: [Routers::default(); 2],
            life: safeguards.membership,
            is_on: safeguards.snooping == Snoop::On,
        }
    }

    /// A message arrived on `port`.
    pub fn hear(&mut self, port: PortId, message: Membership, now: Time) {
        if !self.is_on {
            return;
        }
        match message {
            Membership::Member(group) if family(group).is_some() => {
                let mut members = self.members.get(&group, now).copied().unwrap_or_default();
                let until = self.members.expiry(&group, now).unwrap_or(Time::ZERO);
                members.hear(bit(port), until, now, self.life);
                self.members.insert(group, members, 0, now);
            }
            Membership::Member(_) => {}
            Membership::Query(family) => self.hear_router(family, port, true, now),
            Membership::QueryOf(family, group) => {
                self.hear_router(family, port, true, now);
                if let Some(members) = self.members.get_mut(&group, now) {
                    members.ask(now);
                }
            }
            Membership::All(family) => self.hear_router(family, port, false, now),
        }
    }

    fn hear_router(&mut self, family: Family, port: PortId, asks: bool, now: Time) {
        let routers = &mut self.routers[family as usize];
        routers.ports.hear(bit(port), routers.until, now, self.life);
        routers.until = now + self.life;
        if asks {
            routers.asked_until = routers.until;
        }
    }

    /// The host ports that want a frame to `group`, by bits; `None` if all of them may. `is_report`: it reports one group.
    pub(crate) fn listeners(&self, group: Mac, is_report: bool, now: Time) -> Option<u64> {
        let routers = family(group).map(|family| &self.routers[family as usize])?;
        if !self.is_on || routers.asked_until <= now {
            return None;
        }
        let members =
            if is_report { Some(0) } else { self.members.get(&group, now).map(|members| members.ports(now)) };
        Some(members? | routers.ports.ports(now))
    }

    /// The known groups, their members and when each expires.
    pub fn groups(&self, now: Time) -> impl Iterator<Item = (Mac, Members, Time)> {
        self.members.entries(now).map(|(group, members, _, expiry)| (*group, *members, expiry))
    }

    /// The routers of a version of IP.
    pub fn routers(&self, family: Family) -> Routers {
        self.routers[family as usize]
    }

    pub(crate) fn sweep(&mut self, now: Time) {
        self.members.sweep(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Mac = Mac([1, 0, 0x5e, 1, 2, 3]);
    const OTHER: Mac = Mac([1, 0, 0x5e, 1, 2, 4]);
    const V6: Mac = Mac([0x33, 0x33, 0, 5, 0, 1]);

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    /// A querier on port 0, and members of `GROUP` on ports 1 and 2.
    fn snooping() -> Snooping {
        let mut snooping = Snooping::new(&Exploration::default(), 1);
        snooping.hear(PortId(0), Membership::Query(Family::V4), at(0));
        snooping.hear(PortId(1), Membership::Member(GROUP), at(0));
        snooping.hear(PortId(2), Membership::Member(GROUP), at(10));
        snooping
    }

    #[test]
    fn a_known_group_goes_to_members_and_routers_and_an_unknown_one_to_all() {
        let snooping = snooping();
        assert_eq!(snooping.listeners(GROUP, false, at(20)), Some(0b111));
        assert_eq!(snooping.listeners(GROUP, true, at(20)), Some(0b001), "a report goes to routers");
        assert_eq!(snooping.listeners(OTHER, false, at(20)), None);
        assert_eq!(snooping.listeners(OTHER, true, at(20)), Some(0b001));
    }

    #[test]
    fn without_a_querier_of_its_version_of_ip_every_group_goes_to_all() {
        let mut snooping = snooping();
        snooping.hear(PortId(3), Membership::Member(V6), at(20));
        assert_eq!(snooping.listeners(V6, false, at(20)), None);
        snooping.hear(PortId(4), Membership::All(Family::V6), at(20));
        assert_eq!(snooping.listeners(V6, false, at(20)), None, "a router that does not ask");
        snooping.hear(PortId(5), Membership::Query(Family::V6), at(20));
        assert_eq!(snooping.listeners(V6, false, at(20)), Some(0b11_1000));
        assert_eq!(snooping.listeners(GROUP, false, at(261)), None, "the querier is gone");
    }

    #[test]
    fn groups_that_hosts_need_not_report_go_to_all() {
        let mut snooping = snooping();
        snooping.hear(PortId(0), Membership::Query(Family::V6), at(0));
        for group in [
            [1, 0, 0x5e, 0, 0, 0xfb],
            [0x33, 0x33, 0, 0, 0, 1],
            [0x33, 0x33, 0xff, 1, 2, 3],
            [0xff; 6],
            [3, 0xbf, 0, 0, 0, 1],
        ] {
            snooping.hear(PortId(1), Membership::Member(Mac(group)), at(0));
            assert_eq!(snooping.listeners(Mac(group), false, at(1)), None, "{group:02x?}");
        }
    }

    #[test]
    fn a_member_that_answers_no_query_is_left_out_after_one_to_two_lifetimes() {
        let mut snooping = snooping();
        let mut heard_until = [0; 3];
        for seconds in (100..1_000).step_by(100) {
            snooping.hear(PortId(0), Membership::Query(Family::V4), at(seconds));
            snooping.hear(PortId(2), Membership::Member(GROUP), at(seconds));
            let listeners = snooping.listeners(GROUP, false, at(seconds)).expect("a known group");
            (0..3).filter(|port| listeners >> port & 1 == 1).for_each(|port| heard_until[port] = seconds);
        }
        assert!((260..=520).contains(&heard_until[1]), "{heard_until:?}");
        assert_eq!([heard_until[0], heard_until[2]], [900, 900]);
    }

    #[test]
    fn a_member_that_does_not_answer_for_a_group_is_left_out_2_s_later() {
        let mut snooping = snooping();
        snooping.hear(PortId(0), Membership::QueryOf(Family::V4, GROUP), at(20));
        assert_eq!(snooping.listeners(GROUP, false, at(21)), Some(0b111));
        snooping.hear(PortId(2), Membership::Member(GROUP), at(21));
        assert_eq!(snooping.listeners(GROUP, false, at(22)), Some(0b101));
        snooping.hear(PortId(0), Membership::QueryOf(Family::V4, GROUP), at(30));
        assert_eq!(snooping.listeners(GROUP, false, at(32)), Some(0b001), "known, without members");
    }

    #[test]
    fn switched_off_it_knows_nothing() {
        let safeguards = crate::exploration::Safeguards { snooping: Snoop::Off, ..Default::default() };
        let mut snooping = Snooping::new(&Exploration { safeguards, ..Exploration::default() }, 1);
        snooping.hear(PortId(0), Membership::Query(Family::V4), at(0));
        snooping.hear(PortId(1), Membership::Member(GROUP), at(0));
        assert_eq!(snooping.listeners(GROUP, false, at(1)), None);
    }
}
