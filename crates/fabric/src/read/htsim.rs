//! Fat-trees of htsim (`.topo`, `datacenter/fat_tree_topology.cpp` of csg-htsim): counts for each tier, from which the
//! nodes and cables follow.
//!
//! ```text
//! Nodes 1024
//! Tiers 3                     # 2 or 3
//! Podsize 64                  # hosts of a pod
//!
//! Tier 0                      # 0: switches of hosts, 1: above them, 2: cores
//! Downlink_speed_Gbps 100
//! Radix_Down 8
//! Radix_Up 8                  # not in the top tier
//! Downlink_Latency_ns 1000
//! Switch_Latency_ns 0         # optional; also Queue_Up and Queue_Down in bytes, Bundle, Oversubscribed
//! ```
//!
//! As in htsim, what follows a number on its line has no effect, nor has an unknown line before the first `Tier` or what
//! is above the top tier. A number that htsim would cut short (`100.5`, `1e3`) is refused.

use weft_units::{Duration, NodeId, Rate};

use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::builder::check_size;
use crate::nearest::misspelt;
use crate::{FabricBuilder, FabricError, Limit, LinkSpec, QueueSpec, nearest};

/// A number with the byte at which its line starts.
#[derive(Clone, Copy, Default)]
struct Given {
    value: Option<u64>,
    byte: usize,
}

/// The keys of the head.
const HEAD: [&str; 3] = ["Nodes", "Tiers", "Podsize"];
/// The keys of a tier.
const TIER: [&str; 9] = [
    "Downlink_speed_Gbps",
    "Radix_Down",
    "Radix_Up",
    "Downlink_Latency_ns",
    "Switch_Latency_ns",
    "Queue_Up",
    "Queue_Down",
    "Bundle",
    "Oversubscribed",
];

/// A tier of switches.
#[derive(Clone, Copy)]
struct Tier {
    rate: Rate,
    down: u64,
    /// 0 in the top tier.
    up: u64,
    latency: Duration,
    switch_latency: Duration,
    queue_up: Option<u64>,
    queue_down: Option<u64>,
    /// Parallel cables to each switch below.
    bundle: u64,
}

/// The numbers of a file.
struct Text<'a> {
    text: &'a str,
    head: [Given; HEAD.len()],
    tiers: [[Given; TIER.len()]; 3],
    /// The byte of each `Tier` line.
    starts: [Option<usize>; 3],
    notes: Notes,
}

/// The largest latency and size that a file can give.
const MOST: u64 = 1 << 40;

impl<'a> Text<'a> {
    fn read(text: &'a str) -> Result<Self, ReadError> {
        let mut read = Self {
            text,
            head: Default::default(),
            tiers: Default::default(),
            starts: [None; 3],
            notes: Notes::default(),
        };
        let mut tier = None;
        let mut byte = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            if let Some(key) = words.next() {
                tier = if tier.is_none() && read.note_ignored(key, number) {
                    tier
                } else {
                    let why =
                        || ErrorKind::Syntax(format!("expected `{key}` and a whole number up to {MOST}"));
                    let value = words.next().and_then(|word| word.parse::<u64>().ok());
                    let value = value.filter(|value| *value <= MOST);
                    let value = value.ok_or_else(|| read.error(why(), byte))?;
                    if words.next().is_some() {
                        let what = "what follows the number has no effect";
                        read.notes.add_line("number", number, || what.to_owned());
                    }
                    read.line(key, value, tier, byte)?
                };
            }
            byte += line.len();
        }
        Ok(read)
    }

    /// Adds a note if a line before the first `Tier` has no effect; returns whether it has none.
    fn note_ignored(&mut self, key: &str, line: usize) -> bool {
        let known = || HEAD.iter().copied().chain(["Tier"]);
        if known().any(|known| known.eq_ignore_ascii_case(key)) || misspelt(key, known()).is_some() {
            return false;
        }
        self.notes.add_line("key", line, || format!("`{key}` has no effect before the first `Tier`"));
        true
    }

    /// Takes the line `key number`, in the section of `tier` if there was one; returns the section that follows.
    fn line(
        &mut self,
        key: &str,
        number: u64,
        tier: Option<usize>,
        byte: usize,
    ) -> Result<Option<usize>, ReadError> {
        if key.eq_ignore_ascii_case("tier") {
            let started = usize::try_from(number).ok().filter(|tier| *tier < 3);
            let why = || ErrorKind::Syntax(format!("there is no tier {number}; expected 0, 1 or 2"));
            let started = started.ok_or_else(|| self.error(why(), byte))?;
            self.starts[started].get_or_insert(byte);
            return Ok(Some(started));
        }
        let place = |keys: &[&str]| keys.iter().position(|known| known.eq_ignore_ascii_case(key));
        let known = match tier {
            None => place(&HEAD).map(|at| &mut self.head[at]),
            Some(tier) => place(&TIER).map(|at| &mut self.tiers[tier][at]),
        };
        let Some(given) = known else {
            let names: &[&str] = if tier.is_none() { &HEAD } else { &TIER };
            let hint = match nearest::nearest(key, names.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("expected one of {}", names.join(", ")),
            };
            return Err(self.error(ErrorKind::Syntax(format!("unknown key `{key}`: {hint}")), byte));
        };
        if given.value.is_some() {
            return Err(self.error(ErrorKind::Syntax(format!("`{key}` is given twice")), byte));
        }
        *given = Given { value: Some(number), byte };
        Ok(tier)
    }

    fn error(&self, why: ErrorKind, byte: usize) -> ReadError {
        ReadError::from(why).at(self.text, byte)
    }

    /// A number of the head that is needed.
    fn counted(&self, at: usize) -> Result<u64, ReadError> {
        let given = self.head[at];
        match given.value {
            Some(number @ 1..) => Ok(number),
            Some(_) => Err(self
                .error(ErrorKind::Syntax(format!("`{}` is 0; expected at least 1", HEAD[at])), given.byte)),
            None => Err(ErrorKind::Missing(HEAD[at]).into()),
        }
    }

    /// Tier `number` of `count`.
    fn tier(&self, number: usize, count: usize) -> Result<Tier, ReadError> {
        let missing = |name: &'static str| match self.starts[number] {
            Some(byte) => self.error(ErrorKind::Missing(name), byte).of(format!("tier {number}")),
            None => {
                ErrorKind::Syntax(format!("there is no section `Tier {number}`, but there are {count} tiers"))
                    .into()
            }
        };
        let given = |at: usize| self.tiers[number][at];
        let needed = |at: usize| match given(at).value {
            Some(0) => Err(self.error(
                ErrorKind::Syntax(format!("`{}` is 0; expected at least 1", TIER[at])),
                given(at).byte,
            )),
            Some(value) => Ok(value),
            None => Err(missing(TIER[at])),
        };
        let is_top = number + 1 == count;
        if number == 2
            && let Some(at) = [2, 5].into_iter().find(|at| given(*at).value.is_some())
        {
            let why = format!("the top tier has no uplinks; remove `{}`", TIER[at]);
            return Err(self.error(ErrorKind::Syntax(why), given(at).byte));
        }
        Ok(Tier {
            rate: Rate::from_bps(needed(0)?.saturating_mul(1_000_000_000)),
            down: needed(1)?,
            up: if is_top { 0 } else { needed(2)? },
            latency: Duration::from_ps(needed(3)? * 1_000),
            switch_latency: Duration::from_ps(given(4).value.unwrap_or(0) * 1_000),
            queue_up: given(5).value,
            queue_down: given(6).value,
            bundle: if given(7).value.is_some() { needed(7)? } else { 1 },
        })
    }

    /// Notes what a file with two tiers says about a third.
    fn note_above_two(&mut self) {
        if self.starts[2].is_some() {
            self.notes.add("`Tier 2` has no effect: `Tiers` is 2");
        }
        for at in [2, 5].into_iter().filter(|at| self.tiers[1][*at].value.is_some()) {
            self.notes.add(format!("`{}` of tier 1 has no effect: the top tier has no uplinks", TIER[at]));
        }
    }

    /// Refuses a number of a tier that contradicts the others.
    fn expect(&self, tier: usize, key: usize, expected: u64, reason: &str) -> Result<(), ReadError> {
        let given = self.tiers[tier][key];
        match given.value {
            Some(value) if value != expected => {
                let why = format!("`{}` is {value}; expected {expected}: {reason}", TIER[key]);
                Err(self.error(ErrorKind::Syntax(why), given.byte).of(format!("tier {tier}")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a number that `divisor` does not divide.
    fn divide(&self, number: u64, divisor: u64, names: (&str, &str), byte: usize) -> Result<u64, ReadError> {
        if number.is_multiple_of(divisor) {
            return Ok(number / divisor);
        }
        let why = format!("`{}` is {number}, which is not a multiple of `{}`, {divisor}", names.0, names.1);
        Err(self.error(ErrorKind::Syntax(why), byte))
    }

    /// Refuses an oversubscription that contradicts radices and rates.
    fn check_oversubscription(&self, number: usize, tier: &Tier, above: &Tier) -> Result<(), ReadError> {
        let given = self.tiers[number][8];
        let Some(ratio) = given.value else { return Ok(()) };
        let capacity = |ports: u64, rate: Rate| u128::from(ports) * u128::from(rate.bps());
        let (down, up) = (capacity(tier.down, tier.rate), capacity(tier.up, above.rate));
        if u128::from(ratio) * up == down {
            return Ok(());
        }
        let why = format!(
            "`Oversubscribed` is {ratio}, but radices and speeds give {:.4}",
            down as f64 / up as f64
        );
        Err(self.error(ErrorKind::Syntax(why), given.byte).of(format!("tier {number}")))
    }
}

/// The fabric of a file, ready to be built. Names, numbers and cables are those of [`crate::build::fat_tree`] with three
/// tiers and of [`crate::build::spine_leaf`] with two. A switch's latency is added to the delay of the links to it.
pub(super) fn builder(
    text: &str,
    name: &str,
    defaults: &LinkSpec,
) -> Result<(FabricBuilder, Notes), ReadError> {
    let mut read = Text::read(text)?;
    let (hosts, per_pod) = (read.counted(0)?, read.counted(2)?);
    let count = match read.counted(1)? {
        2 => 2,
        3 => 3,
        other => {
            let why = format!("`Tiers` is {other}; expected 2 or 3");
            return Err(read.error(ErrorKind::Syntax(why), read.head[1].byte));
        }
    };
    if count == 2 {
        read.note_above_two();
    }
    let tiers: Vec<Tier> = (0..count).map(|number| read.tier(number, count)).collect::<Result<_, _>>()?;
    for (number, pair) in tiers.windows(2).enumerate() {
        read.check_oversubscription(number, &pair[0], &pair[1])?;
    }
    let pods = read.divide(hosts, per_pod, ("Nodes", "Podsize"), read.head[0].byte)?;
    if count == 2 && pods != 1 {
        let why = format!("`Podsize` is {per_pod}; with two tiers, all {hosts} hosts are in one pod");
        return Err(read.error(ErrorKind::Syntax(why), read.head[2].byte));
    }
    if tiers[0].bundle != 1 {
        let why = "`Bundle` of tier 0 must be 1: a host has one link".to_owned();
        return Err(read.error(ErrorKind::Syntax(why), read.tiers[0][7].byte));
    }
    let lowest_per_pod =
        read.divide(per_pod, tiers[0].down, ("Podsize", "Radix_Down` of `Tier 0"), read.head[2].byte)?;
    let up_byte = |tier: usize| read.tiers[tier][2].byte;
    let bundles = ("Radix_Up", "Bundle` of the tier above, `Bundle");
    let middle_per_pod = read.divide(tiers[0].up, tiers[1].bundle, bundles, up_byte(0))?;
    let reason = format!("{lowest_per_pod} switches below, with `Bundle` {}", tiers[1].bundle);
    read.expect(1, 1, lowest_per_pod.saturating_mul(tiers[1].bundle), &reason)?;
    let cores_each = match tiers.get(2) {
        None => 0,
        Some(top) => {
            let reason = format!("{pods} pods, with `Bundle` {}", top.bundle);
            read.expect(2, 1, pods.saturating_mul(top.bundle), &reason)?;
            read.divide(tiers[1].up, top.bundle, bundles, up_byte(1))?
        }
    };
    let plan = Plan { pods, per_pod, lowest_per_pod, middle_per_pod, cores_each, tiers: &tiers, defaults };
    Ok((plan.build(name)?, read.notes))
}

/// The numbers of nodes that follow from a file.
struct Plan<'a> {
    pods: u64,
    /// Hosts, switches of the lowest and of the middle tier in each pod.
    per_pod: u64,
    lowest_per_pod: u64,
    middle_per_pod: u64,
    /// Cores of each switch of the middle tier.
    cores_each: u64,
    tiers: &'a [Tier],
    defaults: &'a LinkSpec,
}

impl Plan<'_> {
    fn build(&self, name: &str) -> Result<FabricBuilder, FabricError> {
        let product =
            |factors: &[u64]| factors.iter().try_fold(1_u64, |all, factor| all.checked_mul(*factor));
        let [pods, lowest, middle] = [self.pods, self.lowest_per_pod, self.middle_per_pod];
        let cores = product(&[middle, self.cores_each]);
        let counts =
            [product(&[pods, self.per_pod]), product(&[pods, lowest]), product(&[pods, middle]), cores];
        let top_bundle = self.tiers.get(2).map_or(0, |tier| tier.bundle);
        let cables = [
            counts[0],
            product(&[pods, lowest, middle, self.tiers[1].bundle]),
            product(&[pods, middle, self.cores_each, top_bundle]),
        ];
        let sum = |numbers: &[Option<u64>]| {
            numbers.iter().try_fold(0_u64, |all, number| all.checked_add((*number)?)).unwrap_or(u64::MAX)
        };
        check_size(sum(&counts), sum(&cables))?;
        let mut builder = FabricBuilder::new(name);
        let (names, in_pods) =
            if self.tiers.len() == 3 { (['e', 'a', 'c'], true) } else { (['l', 's', 's'], false) };
        let pod = |number: u64, each: u64| in_pods.then(|| (number / each) as u32);
        let mut hosts = Vec::new();
        for number in 0..counts[0].unwrap_or(0) {
            hosts.push(builder.add_host(format!("h{number}"), 0, pod(number, self.per_pod))?);
        }
        let mut levels: [Vec<NodeId>; 3] = Default::default();
        for (level, nodes) in levels.iter_mut().enumerate() {
            let each = [lowest, middle, 1][level];
            for number in 0..counts[level + 1].unwrap_or(0) {
                let pod = if level == 2 { None } else { pod(number, each) };
                nodes.push(builder.add_switch(format!("{}{number}", names[level]), level as u8 + 1, pod)?);
            }
        }
        let [edges, aggregations, cores] = &levels;
        for (number, &host) in hosts.iter().enumerate() {
            let edge = edges[number / self.tiers[0].down as usize];
            self.connect(&mut builder, host, edge, 0)?;
        }
        let (lowest, middle) = (lowest as usize, middle as usize);
        for (edges, aggregations) in edges.chunks(lowest).zip(aggregations.chunks(middle)) {
            for &edge in edges {
                for &aggregation in aggregations {
                    self.connect(&mut builder, edge, aggregation, 1)?;
                }
            }
        }
        for (number, &aggregation) in aggregations.iter().enumerate() {
            for core in 0..self.cores_each as usize {
                self.connect(&mut builder, aggregation, cores[number % middle + middle * core], 2)?;
            }
        }
        Ok(builder)
    }

    /// Connects `below` and `above`, a switch of `tier`.
    fn connect(
        &self,
        builder: &mut FabricBuilder,
        below: NodeId,
        above: NodeId,
        tier: usize,
    ) -> Result<(), FabricError> {
        let here = &self.tiers[tier];
        let way = |queue: Option<u64>, to: Duration| {
            let own = &self.defaults.queue;
            let queue =
                queue.map_or(own.clone(), |bytes| QueueSpec { limit: Limit::Bytes(bytes), ..own.clone() });
            LinkSpec { rate: here.rate, delay: here.latency + to, queue, overhead: self.defaults.overhead }
        };
        let under = tier.checked_sub(1).map(|under| &self.tiers[under]);
        let forth = way(under.and_then(|under| under.queue_up), here.switch_latency);
        let back = way(here.queue_down, under.map_or(Duration::ZERO, |under| under.switch_latency));
        for _ in 0..here.bundle {
            builder.connect_asymmetric(below, above, &forth, &back)?;
        }
        Ok(())
    }
}
