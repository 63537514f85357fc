//! Scale-up domains: the `xpu`s that switches of their own join, within a device or between instances.

use std::collections::{BTreeMap, BTreeSet};

use weft_units::{Duration, Rate};

use super::devices::Inner;
use super::document::Kind;
use super::links::Link;

/// A link into a domain: rate and delay as far as the file gives them.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Uplink {
    pub rate: Option<Rate>,
    pub delay: Option<Duration>,
}

impl Uplink {
    /// Two links together: one transfer uses both.
    pub fn and(self, other: Self) -> Self {
        let sum = |a: Rate, b: Rate| Rate::from_bps(a.bps().saturating_add(b.bps()));
        Self {
            rate: self.rate.map_or(other.rate, |rate| Some(other.rate.map_or(rate, |more| sum(rate, more)))),
            delay: self.delay.max(other.delay),
        }
    }

    pub fn of(link: &Link<'_>) -> Self {
        Self { rate: link.rate, delay: link.delay }
    }
}

/// The `xpu`s that one switch, or several, join.
#[derive(Debug)]
pub(super) struct Domain<'y> {
    /// The first of its switches; none if the `xpu`s are linked to each other.
    pub switch: Option<u32>,
    pub members: BTreeMap<u32, Uplink>,
    /// The first of its links.
    pub link: &'y Link<'y>,
}

/// The domains of a device, and the links that join them.
pub(super) struct Domains<'y> {
    pub domains: Vec<Domain<'y>>,
    links: BTreeSet<*const Link<'y>>,
}

impl<'y> Domains<'y> {
    /// The domains of a device with components of these kinds and these edges; an error names two `xpu`s.
    ///
    /// A link joins domains if all of its edges lead from `xpu`s to `xpu`s or to components that may be switches
    /// (`switch`, `custom`), and these are next to no `cpu`, `nic`, `port` or `memory`, as those of PCI Express are.
    pub fn of(kinds: &[Kind], edges: &[Inner<'y>]) -> Result<Self, [u32; 2]> {
        let links = scale_up_links(kinds, edges);
        let mut groups = Groups::new(kinds.len());
        let inside = || edges.iter().filter(|edge| links.contains(&std::ptr::from_ref(edge.link)));
        inside().for_each(|edge| groups.join(edge.ends));
        let mut found: BTreeMap<u32, Domain<'y>> = BTreeMap::new();
        let mut direct = BTreeSet::new();
        for edge in inside() {
            let of = groups.of(edge.ends[0]);
            let domain = found.entry(of);
            let domain =
                domain.or_insert_with(|| Domain { switch: None, members: BTreeMap::new(), link: edge.link });
            let [a, b] = edge.ends.map(|end| kinds[end as usize] == Kind::Xpu);
            if a && b {
                direct.insert((edge.ends[0].min(edge.ends[1]), edge.ends[0].max(edge.ends[1])));
            }
            for (end, is_xpu) in edge.ends.into_iter().zip([a, b]) {
                if is_xpu {
                    let member = domain.members.entry(end).or_default();
                    *member = member.and(Uplink::of(edge.link));
                } else {
                    domain.switch = Some(domain.switch.map_or(end, |first| first.min(end)));
                }
            }
        }
        let domains: Vec<Domain<'y>> =
            found.into_values().filter(|domain| domain.members.len() > 1).collect();
        // Without a switch, nobody forwards: each must be linked to each.
        let mut to_switch = BTreeSet::new();
        for edge in inside() {
            let [a, b] = edge.ends;
            match [a, b].map(|end| kinds[end as usize] == Kind::Xpu) {
                [true, false] => _ = to_switch.insert(a),
                [false, true] => _ = to_switch.insert(b),
                _ => {}
            }
        }
        for domain in &domains {
            let members: Vec<u32> = domain.members.keys().copied().collect();
            let lonely: Vec<u32> = members.iter().copied().filter(|xpu| !to_switch.contains(xpu)).collect();
            for &a in &lonely {
                let apart = |b: &&u32| **b != a && !direct.contains(&(a.min(**b), a.max(**b)));
                if let Some(&b) = members.iter().find(apart) {
                    return Err([a.min(b), a.max(b)]);
                }
            }
        }
        Ok(Self { domains, links })
    }

    /// Whether an edge belongs to a domain.
    pub fn has(&self, edge: &Inner<'y>) -> bool {
        self.links.contains(&std::ptr::from_ref(edge.link))
    }
}

/// The links that join domains.
fn scale_up_links<'y>(kinds: &[Kind], edges: &[Inner<'y>]) -> BTreeSet<*const Link<'y>> {
    let kind = |end: u32| kinds[end as usize];
    let may_switch = |kind: Kind| matches!(kind, Kind::Switch | Kind::Custom);
    // Components next to one that is neither `xpu` nor a switch.
    let mut beside = BTreeSet::new();
    for Inner { ends: [a, b], .. } in edges {
        for (end, other) in [(*a, *b), (*b, *a)] {
            if matches!(kind(other), Kind::Cpu | Kind::Nic | Kind::Port | Kind::Memory) {
                beside.insert(end);
            }
        }
    }
    let mut found: BTreeMap<*const Link<'y>, (bool, bool)> = BTreeMap::new();
    for edge in edges {
        let (is_only, has_xpu) = found.entry(std::ptr::from_ref(edge.link)).or_insert((true, false));
        let fits = |end: u32| kind(end) == Kind::Xpu || may_switch(kind(end)) && !beside.contains(&end);
        *is_only &= edge.ends.into_iter().all(fits) && !edge.link.is_in_transfers;
        *has_xpu |= edge.ends.into_iter().any(|end| kind(end) == Kind::Xpu);
    }
    found.into_iter().filter(|(_, (is_only, has_xpu))| *is_only && *has_xpu).map(|(link, _)| link).collect()
}

/// Sets of numbers that are joined pair by pair.
pub(super) struct Groups {
    above: Vec<u32>,
}

impl Groups {
    /// Each of `count` numbers alone.
    pub fn new(count: usize) -> Self {
        Self { above: (0..count as u32).collect() }
    }

    /// The smallest number of the set of `of`.
    pub fn of(&mut self, mut of: u32) -> u32 {
        while self.above[of as usize] != of {
            self.above[of as usize] = self.above[self.above[of as usize] as usize];
            of = self.above[of as usize];
        }
        of
    }

    /// Joins the sets of two numbers.
    pub fn join(&mut self, ends: [u32; 2]) {
        let [a, b] = ends.map(|end| self.of(end));
        self.above[a.max(b) as usize] = a.min(b);
    }
}
