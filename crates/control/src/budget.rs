//! [`Budget`]: limits the unconfirmed rules that each port's hosts cause at a switch.
//!
//! A switch that installs rules as fast as they arrive has few unconfirmed ones and never reaches the limit.
//! When it falls behind, each port's share shrinks with the switch's remaining capacity, so the first rules
//! of one port never wait behind everything another port has requested.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::pace::Pace;

/// Rules that one transaction requested from one switch.
#[derive(Clone, Copy, Debug)]
struct Charge {
    switch: u32,
    port: u32,
    rules: u32,
    since: Time,
}

/// Unconfirmed rules, by the ports whose hosts caused them.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    /// Limit per switch, over all its ports.
    most: u32,
    charges: FxHashMap<u64, SmallVec<[Charge; 4]>>,
    /// Unconfirmed rules per switch, and the switch's current limit.
    switches: Vec<(u32, Pace)>,
    by_port: FxHashMap<(u32, u32), u32>,
}

/// A switch that takes longer than this to confirm has too many unconfirmed rules.
const SLOW: Duration = Duration::from_ms(250);

/// New flows of one port may take 1/`FLOWS` of a switch's remaining capacity.
pub(crate) const FLOWS: u32 = 4;
/// The share of rules that replace flow rules: larger, so that they still fit where flows do not.
pub(crate) const ROUTES: u32 = 2;
/// The share of neighbour discovery rules. The controller also answers without them, and others can trigger a host's
/// requests, so they must leave most of the host's share free.
pub(crate) const NEIGHBOURS: u32 = 16;

impl Budget {
    /// Creates a budget of at most `most` unconfirmed rules per switch, fewer for slow switches.
    pub fn new(most: u32) -> Self {
        Self { most, charges: FxHashMap::default(), switches: Vec::new(), by_port: FxHashMap::default() }
    }

    /// Whether a port may request more rules from a switch; `part` is [`FLOWS`], [`ROUTES`] or [`NEIGHBOURS`].
    pub fn has_room(&self, switch: u32, port: u32, part: u32) -> bool {
        let (total, limit) =
            self.switches.get(switch as usize).map_or((0, self.most), |(total, pace)| (*total, pace.limit()));
        let own = self.by_port.get(&(switch, port)).copied().unwrap_or(0);
        // One rule at least, so that small limits work.
        own < (limit.saturating_sub(total) / part).max(1)
    }

    /// A transaction requests one rule from a switch on behalf of a port.
    pub fn charge(&mut self, now: Time, transaction: u64, switch: u32, port: u32) {
        if self.switches.len() <= switch as usize {
            self.switches.resize(switch as usize + 1, (0, Pace::new(self.most, SLOW)));
        }
        self.switches[switch as usize].0 += 1;
        *self.by_port.entry((switch, port)).or_default() += 1;
        let charges = self.charges.entry(transaction).or_default();
        match charges.iter_mut().find(|charge| charge.switch == switch) {
            Some(charge) => charge.rules += 1,
            None => charges.push(Charge { switch, port, rules: 1, since: now }),
        }
    }

    /// A switch has confirmed a transaction's rules, possibly late.
    pub fn settle(&mut self, now: Time, transaction: u64, switch: u32) {
        let Some(charges) = self.charges.get_mut(&transaction) else { return };
        let Some(place) = charges.iter().position(|charge| charge.switch == switch) else { return };
        let charge = charges.swap_remove(place);
        if charges.is_empty() {
            self.charges.remove(&transaction);
        }
        self.release(charge);
        self.switches[switch as usize].1.answered(now, charge.since, charge.rules);
    }

    /// Releases a transaction's rules at all switches, which have confirmed them.
    pub fn settle_all(&mut self, now: Time, transaction: u64) {
        for charge in self.charges.remove(&transaction).into_iter().flatten() {
            self.release(charge);
            self.switches[charge.switch as usize].1.answered(now, charge.since, charge.rules);
        }
    }

    /// Drops a disconnected switch's unconfirmed rules.
    pub fn forget(&mut self, switch: u32) {
        let mut gone: SmallVec<[Charge; 8]> = SmallVec::new();
        self.charges.retain(|_, charges| {
            gone.extend(charges.iter().copied().filter(|charge| charge.switch == switch));
            charges.retain(|charge| charge.switch != switch);
            !charges.is_empty()
        });
        gone.into_iter().for_each(|charge| self.release(charge));
        if let Some(entry) = self.switches.get_mut(switch as usize) {
            entry.1 = Pace::new(self.most, SLOW);
        }
    }

    /// Unconfirmed rules at all switches.
    pub fn len(&self) -> u64 {
        self.switches.iter().map(|(total, _)| u64::from(*total)).sum()
    }

    fn release(&mut self, Charge { switch, port, rules, .. }: Charge) {
        self.switches[switch as usize].0 -= rules;
        if let Some(own) = self.by_port.get_mut(&(switch, port)) {
            *own -= rules;
            if *own == 0 {
                self.by_port.remove(&(switch, port));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Charges as many rules as the port's limit allows; returns how many that was.
    fn fill(budget: &mut Budget, transactions: std::ops::Range<u64>, port: u32) -> usize {
        let before = budget.len();
        for transaction in transactions {
            if budget.has_room(0, port, FLOWS) {
                budget.charge(Time::ZERO, transaction, 0, port);
            }
        }
        (budget.len() - before) as usize
    }

    #[test]
    fn every_port_has_a_share_of_what_is_left_and_confirmation_gives_it_back() {
        let mut budget = Budget::new(1000);
        let shares: Vec<usize> = (0..5)
            .map(|port| fill(&mut budget, u64::from(port) * 1000..u64::from(port) * 1000 + 1000, port))
            .collect();
        assert_eq!(shares[0], 200, "a quarter of the remaining capacity");
        assert!(shares.windows(2).all(|pair| pair[1] <= pair[0] && pair[1] > 0), "{shares:?}");
        assert!(budget.len() < 700);
        assert!(budget.has_room(1, 0, FLOWS), "another switch");
        assert!(budget.has_room(0, 0, ROUTES) || budget.len() > 600);
        for transaction in 0..1000 {
            budget.settle(Time::ZERO, transaction, 0);
            budget.settle(Time::ZERO, transaction, 0);
        }
        assert!(budget.has_room(0, 0, FLOWS));
        budget.forget(0);
        assert_eq!((budget.len(), budget.charges.len(), budget.by_port.len()), (0, 0, 0));
    }

    #[test]
    fn a_slow_switch_may_have_less_to_confirm_until_it_is_quick_again_or_comes_back() {
        let mut budget = Budget::new(1600);
        let late = Time::ZERO + Duration::from_ms(300);
        let fresh = fill(&mut budget, 0..1000, 0);
        (0..1000).for_each(|transaction| budget.settle(late, transaction, 0));
        let slow = fill(&mut budget, 1000..2000, 0);
        assert_eq!((fresh, slow), (320, 160));
        budget.forget(0);
        assert_eq!(fill(&mut budget, 2000..3000, 0), 320);
    }

    #[test]
    fn a_transaction_is_settled_switch_by_switch_or_at_once() {
        let mut budget = Budget::new(8);
        for switch in 0..3 {
            budget.charge(Time::ZERO, 5, switch, 9);
            budget.charge(Time::ZERO, 5, switch, 9);
        }
        budget.settle(Time::ZERO, 5, 1);
        assert_eq!(budget.len(), 4);
        budget.settle_all(Time::ZERO, 5);
        budget.settle_all(Time::ZERO, 5);
        assert_eq!(budget.len(), 0);
        assert!(budget.has_room(0, 9, FLOWS));
    }
}
