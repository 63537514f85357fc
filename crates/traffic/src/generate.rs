//! [`generate`]: turns groups of flows into the flow list of a run.

use std::collections::{BTreeMap, HashSet};

use rand_core::RngCore;
use thiserror::Error;
use weft_units::{Bytes, Duration, FlowId, HostId, Time};

use crate::arrivals::Arrivals;
use crate::classes::{Names, Thresholds};
use crate::collective::Collective;
use crate::dependencies::{Dependencies, Need, Node, Step};
use crate::flow::{Flow, GroupSummary, LoadOf, Traffic};
use crate::jobs::{Job, Jobs};
use crate::offer::{self, Offer};
use crate::pairs::{Pairs, PairsError};
use crate::placement::Ranks;
use crate::places::Places;
use crate::ports::Ports;
use crate::program::Program;
use crate::random::unit;
use crate::schedule::{Schedule, Streams};
use crate::sizes::Sizes;

/// Maximum number of flows of a run: they take 2 GB.
pub const MAX_FLOWS: u64 = 50_000_000;

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The class that its flows are reported in; by size if `None`.
    pub class: Option<String>,
    /// The DSCP of its flows' packets, 0 to [`MAX_DSCP`](crate::MAX_DSCP).
    pub dscp: u8,
    /// The first and the last source port of flows above the elephant threshold; `None` to treat them like
    /// all flows.
    pub elephant_ports: Option<(u16, u16)>,
    /// The flows.
    pub flows: Flows,
}

/// The source of a group's flows.
#[derive(Clone, PartialEq, Debug)]
pub enum Flows {
    /// Drawn from distributions.
    Drawn(Drawn),
    /// Given individually.
    Listed(Vec<ListedFlow>),
    /// Given individually with the order between them, at hosts or, if `Some`, at ranks.
    Ordered(Program, Option<Ranks>),
    /// A collective operation of these ranks.
    Collective(Collective, Ranks),
}

/// How flows are drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// Their sizes.
    pub sizes: Sizes,
    /// Their start times.
    pub arrivals: Arrivals,
    /// Their arrival rate; `None` if only their number is given.
    pub intensity: Option<Intensity>,
    /// Their number: a maximum if an intensity is given too, otherwise exact.
    pub count: Option<u64>,
    /// Their sources and destinations.
    pub pairs: Pairs,
    /// The earliest start.
    pub start: Duration,
    /// Each start is delayed by a random time below this.
    pub jitter: Duration,
}

/// The arrival rate of flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Intensity {
    /// The rate at which flows offer a load of `share` on the links of `of`.
    Load {
        /// Fraction of the capacity, payload only.
        share: f64,
        /// Which links.
        of: LoadOf,
    },
    /// Flows per second.
    FlowsPerSecond(f64),
}

/// A flow given in a scenario or a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedFlow {
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// Its size.
    pub bytes: u64,
    /// When it starts.
    pub start: Time,
    /// Its class; the group's if `None`.
    pub class: Option<String>,
    /// Its DSCP; the group's if `None`.
    pub dscp: Option<u8>,
    /// Source and destination port; assigned if `None`.
    pub ports: Option<(u16, u16)>,
}

/// Why flows cannot be generated. `group` counts from 0.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum TrafficError {
    /// The pairs do not fit the hosts.
    #[error("{error}")]
    Pairs {
        /// The group.
        group: usize,
        /// What is wrong.
        error: PairsError,
    },
    /// A load or rate that is not a positive number.
    #[error("{what} is {value}; expected a number above 0")]
    Intensity {
        /// The group.
        group: usize,
        /// Load or flow rate.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A load on links that do not exist.
    #[error("a load on the {of} is undefined here: {why}")]
    NoCapacity {
        /// The group.
        group: usize,
        /// Which links.
        of: &'static str,
        /// Why there is no capacity.
        why: &'static str,
    },
    /// Neither a number of flows nor an intensity.
    #[error("the number of flows is not given; expected a load, an arrival rate or a number of flows")]
    Unbounded {
        /// The group.
        group: usize,
    },
    /// Flows that start all at once have no arrival rate.
    #[error("flows that all start at once cannot have a {what}; expected a number of flows")]
    AtOnce {
        /// The group.
        group: usize,
        /// Load or flow rate.
        what: &'static str,
    },
    /// More flows than a run can have.
    #[error("this results in about {flows:.0} flows; a run can have at most {MAX_FLOWS}")]
    TooMany {
        /// The group.
        group: usize,
        /// The estimated number, including the groups before.
        flows: f64,
    },
    /// An invalid listed flow.
    #[error("flow {index}: {why}")]
    Listed {
        /// The group.
        group: usize,
        /// The flow in its list, counted from 1.
        index: usize,
        /// What is wrong.
        why: String,
    },
    /// A number of ranks that the hosts or the algorithm do not allow.
    #[error("{why}")]
    Ranks {
        /// The group.
        group: usize,
        /// What is wrong.
        why: String,
    },
    /// Flows that wait for each other.
    #[error("flows wait for each other in a circle: {circle}")]
    Circle {
        /// The group.
        group: usize,
        /// The flows of the circle.
        circle: String,
    },
    /// Two flows with the same hosts and ports.
    #[error(
        "two flows from `{src}` to `{dst}` have the ports {sport} and {dport}; leave the ports out to get different ones"
    )]
    SamePorts {
        /// The sending host.
        src: String,
        /// The receiving host.
        dst: String,
        /// The source port.
        sport: u16,
        /// The destination port.
        dport: u16,
    },
    /// More class names than an index can represent.
    #[error("more than 65536 flow classes")]
    TooManyClasses,
}

impl TrafficError {
    /// The group it is about, counted from 0.
    pub fn group(&self) -> Option<usize> {
        match self {
            Self::Pairs { group, .. }
            | Self::Intensity { group, .. }
            | Self::NoCapacity { group, .. }
            | Self::Unbounded { group }
            | Self::AtOnce { group, .. }
            | Self::TooMany { group, .. }
            | Self::Ranks { group, .. }
            | Self::Circle { group, .. }
            | Self::Listed { group, .. } => Some(*group),
            Self::SamePorts { .. } | Self::TooManyClasses => None,
        }
    }
}

/// A flow before sorting, without its id.
struct Draft {
    start: Time,
    src: HostId,
    dst: HostId,
    bytes: u64,
    class: u16,
    dscp: u8,
    ports: Option<(u16, u16)>,
    /// The range of its source port, if that marks it as an elephant.
    marked: Option<(u16, u16)>,
}

/// Draws the flows of `groups` that start within `duration`.
///
/// The same stream gives the same flows. Every group has its own random streams, derived from its class and
/// its index among the groups of that class. So the starts, hosts and sizes of a group's flows do not
/// change when groups of other classes are changed, added or removed. Groups without a class count as one class.
/// Ports are assigned in order of start.
///
/// # Errors
/// A group that the places cannot satisfy.
pub fn generate(
    groups: &[Group],
    places: &Places,
    thresholds: &Thresholds,
    duration: Duration,
    rng: &mut impl RngCore,
) -> Result<Traffic, TrafficError> {
    let ports = Ports::new(rng);
    let mut making = Making {
        places,
        thresholds,
        names: Names::default(),
        drafts: Vec::new(),
        offers: Vec::new(),
        over_time: false,
        steps: Vec::new(),
        needs: Vec::new(),
        jobs: Vec::new(),
        traffic: Traffic::default(),
    };
    if groups.iter().any(Group::names_by_size) {
        making.names.add_sizes();
    }
    let seed = rng.next_u64();
    for (index, group) in groups.iter().enumerate() {
        let before = groups[..index].iter().filter(|other| other.class == group.class).count();
        let mut streams = Streams::of(seed, group.class.as_deref().unwrap_or_default(), before as u64);
        let first = making.drafts.len();
        let (expected_mean, asked_load) = match &group.flows {
            Flows::Listed(list) => {
                making.list(index, group, list)?;
                making.over_time |= list.iter().any(|flow| flow.start != list[0].start);
                (None, None)
            }
            Flows::Ordered(program, ranks) => {
                making.order(index, group, program.clone(), ranks.as_ref(), &mut streams)?;
                (None, None)
            }
            Flows::Collective(collective, ranks) => {
                making.collective(index, group, collective, ranks, &mut streams)?;
                (None, None)
            }
            Flows::Drawn(drawn) => {
                let load = making.draw(index, group, drawn, duration, &mut streams)?;
                (Some(drawn.sizes.mean()), load)
            }
        };
        making.summarise(index, group, first, expected_mean, asked_load);
    }
    making.finish(&ports, duration)
}

/// The state of [`generate`].
struct Making<'a> {
    places: &'a Places,
    thresholds: &'a Thresholds,
    names: Names,
    drafts: Vec<Draft>,
    offers: Vec<Offer>,
    /// Whether flows arrive over time, so that a load is defined.
    over_time: bool,
    steps: Vec<Step>,
    /// The flows are drafts, by index.
    needs: Vec<Need>,
    /// The jobs, with the first of their drafts.
    jobs: Vec<(Job, usize)>,
    traffic: Traffic,
}

/// Maximum number of needs of a run: they take 4 GB.
const MAX_NEEDS: usize = 100_000_000;

impl Making<'_> {
    fn class(&mut self, group: &Group, own: Option<&str>, bytes: u64) -> Result<u16, TrafficError> {
        let name = own.or(group.class.as_deref()).unwrap_or_else(|| self.thresholds.class(bytes));
        self.names.index(name).ok_or(TrafficError::TooManyClasses)
    }

    /// The source port range that marks a flow of `bytes` as an elephant, if it is one.
    fn marks(&self, group: &Group, bytes: u64) -> Option<(u16, u16)> {
        group.elephant_ports.filter(|_| bytes > self.thresholds.elephant.0)
    }

    fn list(&mut self, index: usize, group: &Group, list: &[ListedFlow]) -> Result<(), TrafficError> {
        self.room_for(index, list.len() as u64)?;
        for (at, flow) in list.iter().enumerate() {
            let listed = |why| TrafficError::Listed { group: index, index: at + 1, why };
            flow.check(self.places).map_err(listed)?;
            let class = self.class(group, flow.class.as_deref(), flow.bytes)?;
            self.drafts.push(Draft {
                start: flow.start,
                src: flow.src,
                dst: flow.dst,
                bytes: flow.bytes,
                class,
                dscp: flow.dscp.unwrap_or(group.dscp),
                ports: flow.ports,
                marked: self.marks(group, flow.bytes),
            });
        }
        Ok(())
    }

    /// Checks that there is room for this many flows more.
    fn room_for(&self, group: usize, flows: u64) -> Result<(), TrafficError> {
        let flows = (self.drafts.len() as u64).saturating_add(flows);
        match flows <= MAX_FLOWS {
            true => Ok(()),
            false => Err(TrafficError::TooMany { group, flows: flows as f64 }),
        }
    }

    /// The flows of a program that is complete.
    fn order(
        &mut self,
        index: usize,
        group: &Group,
        mut program: Program,
        ranks: Option<&Ranks>,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        if let Some(ranks) = ranks {
            let hosts = ranks.hosts(program.ranks.into(), self.places, &mut streams.pairs);
            program.place(&hosts.map_err(|why| TrafficError::Ranks { group: index, why })?);
        }
        let bytes = program.flows.iter().map(|flow| flow.bytes).fold(0, u64::saturating_add);
        let first = self.drafts.len();
        let (flows, count) = (program.flows.len() as u64, program.ranks);
        let bound = self.add(index, group, program)?;
        if ranks.is_some() {
            let job = Job { group: index as u32, kind: "trace", round: 1, ranks: count, bytes, flows, bound };
            self.jobs.push((job, first));
        }
        Ok(())
    }

    fn collective(
        &mut self,
        index: usize,
        group: &Group,
        collective: &Collective,
        ranks: &Ranks,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        let refuse = |why| TrafficError::Ranks { group: index, why };
        let count = ranks.count(self.places);
        let hosts = ranks.hosts(count, self.places, &mut streams.pairs).map_err(refuse)?;
        let flows = collective.flows(count).map_err(refuse)?;
        self.room_for(index, flows.saturating_mul(collective.rounds))?;
        let mut round = collective.round(hosts.len() as u32);
        round.place(&hosts);
        let bound = round.bound(self.places);
        let mut all = collective.all(&collective.round(hosts.len() as u32));
        all.place(&hosts);
        let first = self.drafts.len();
        self.add(index, group, all)?;
        self.jobs.extend((0..collective.rounds).map(|round| {
            let (group, kind, ranks) = (index as u32, collective.algorithm.name(), hosts.len() as u32);
            let job = Job { group, kind, round: round + 1, ranks, bytes: collective.bytes, flows, bound };
            (job, first + (round * flows) as usize)
        }));
        Ok(())
    }

    /// Adds the flows, steps and needs of a program at hosts; returns its bound.
    fn add(&mut self, index: usize, group: &Group, mut program: Program) -> Result<Duration, TrafficError> {
        let (flows, steps) = (self.drafts.len() as u32, self.steps.len() as u32);
        if self.needs.len() + program.needs.len() > MAX_NEEDS {
            let why = format!("flows wait for more than {MAX_NEEDS} others in total");
            return Err(TrafficError::Ranks { group: index, why });
        }
        program.settle().map_err(|circle| {
            let circle = self.spell(&program, &circle);
            TrafficError::Circle { group: index, circle }
        })?;
        self.list(index, group, &program.flows)?;
        let bound = program.bound(self.places);
        let moved = |node| match node {
            Node::Flow(flow) => Node::Flow(flow + flows),
            Node::Step(step) => Node::Step(step + steps),
        };
        self.steps.append(&mut program.steps);
        let needs = program.needs.into_iter();
        self.needs.extend(needs.map(|need| Need {
            waiting: moved(need.waiting),
            on: moved(need.on),
            ..need
        }));
        Ok(bound)
    }

    /// The flows of a circle.
    fn spell(&self, program: &Program, circle: &[Node]) -> String {
        /// More are left out.
        const MOST: usize = 8;
        let flow = |node: &Node| match node {
            Node::Flow(flow) => Some(*flow),
            Node::Step(_) => None,
        };
        let name = |flow: u32| {
            let ListedFlow { src, dst, .. } = program.flows[flow as usize];
            format!("flow {} (`{}` to `{}`)", flow + 1, self.places.name(src), self.places.name(dst))
        };
        let flows: Vec<u32> = circle.iter().filter_map(flow).collect();
        let mut names: Vec<String> = flows.iter().take(MOST).map(|flow| name(*flow)).collect();
        if flows.len() > MOST {
            names.push(format!("{} more", flows.len() - MOST));
        }
        names.extend(flows.first().map(|flow| name(*flow)));
        names.join(", which waits for ").replacen(", which waits", " waits", 1)
    }

    fn draw(
        &mut self,
        index: usize,
        group: &Group,
        drawn: &Drawn,
        duration: Duration,
        streams: &mut Streams,
    ) -> Result<Option<f64>, TrafficError> {
        let room = MAX_FLOWS - self.drafts.len() as u64;
        let mut schedule = Schedule::new(index, drawn, self.places, duration, room, streams)?;
        if let Some(Intensity::Load { of, .. }) = drawn.intensity {
            self.traffic.load_of = of;
        }
        self.over_time |= schedule.offer.is_some();
        self.offers.extend(schedule.offer.take());
        let first = self.drafts.len();
        let mut batch = Vec::new();
        'arrivals: for at in schedule.times {
            schedule.pattern.arrival(&mut streams.pairs, &mut batch);
            for &(src, dst) in &batch {
                if (self.drafts.len() - first) as u64 >= schedule.most {
                    break 'arrivals;
                }
                let late = (unit(&mut streams.jitter) * drawn.jitter.ps() as f64) as u64;
                let start = Time::ZERO + drawn.start + Duration::from_ps(at.saturating_add(late));
                let bytes = drawn.sizes.draw(&mut streams.sizes);
                let class = self.class(group, None, bytes)?;
                let marked = self.marks(group, bytes);
                let dscp = group.dscp;
                self.drafts.push(Draft { start, src, dst, bytes, class, dscp, ports: None, marked });
            }
        }
        let made = self.drafts.len() - first;
        let asked = drawn.count.filter(|asked| (made as u64) < *asked);
        let name = group.name(index);
        self.traffic.notes.extend(drawn.sizes.changes().iter().map(|change| format!("{name}: {change}")));
        self.traffic.notes.extend(asked.map(|asked| {
            format!("{name}: only {made} of the {asked} requested flows start within {duration}")
        }));
        Ok(schedule.load)
    }

    fn summarise(
        &mut self,
        index: usize,
        group: &Group,
        first: usize,
        expected_mean: Option<f64>,
        asked_load: Option<f64>,
    ) {
        let drafts = &self.drafts[first..];
        let bytes = drafts.iter().map(|draft| draft.bytes).fold(0, u64::saturating_add);
        let flows = drafts.len() as u64;
        let mean = bytes as f64 / flows.max(1) as f64;
        if let Some(expected) =
            expected_mean.filter(|expected| flows > 0 && (mean / expected - 1.0).abs() > 0.1)
        {
            self.traffic.notes.push(format!(
                "{}: the {flows} flows drawn have a mean size of {}, the distribution {}",
                group.name(index),
                Bytes(mean as u64),
                Bytes(expected as u64)
            ));
        }
        let (class, bytes) = (group.class.clone(), Bytes(bytes));
        self.traffic.groups.push(GroupSummary { class, flows, bytes, expected_mean, asked_load });
    }

    fn finish(self, ports: &Ports, duration: Duration) -> Result<Traffic, TrafficError> {
        let Self { places, names, mut drafts, offers, over_time, steps, needs, jobs, mut traffic, .. } = self;
        if !needs.is_empty() || !jobs.is_empty() {
            let at = sorted_places(&drafts);
            let moved = |node| match node {
                Node::Flow(flow) => Node::Flow(at[flow as usize]),
                Node::Step(_) => node,
            };
            let needs = needs.into_iter();
            let needs = needs.map(|need| Need { waiting: moved(need.waiting), on: moved(need.on), ..need });
            traffic.dependencies = Dependencies::new(drafts.len(), steps, needs.collect());
            let members = jobs.into_iter().map(|(job, first)| {
                let drafts = first..first + job.flows as usize;
                (job, at[drafts].iter().copied())
            });
            traffic.jobs = Jobs::new(drafts.len(), members.collect());
        }
        drafts.sort_by_key(|draft| draft.start);
        let mut marked = BTreeMap::<_, usize>::new();
        let numbered = drafts.iter().enumerate().map(|(id, draft)| {
            let (sport, dport) = draft.ports.unwrap_or_else(|| match draft.marked {
                None => ports.of(id),
                Some(range) => {
                    let count = marked.entry(range).or_default();
                    *count += 1;
                    Ports::within(range, *count - 1)
                }
            });
            let Draft { start, src, dst, bytes, class, dscp, .. } = *draft;
            Flow { id: FlowId(id as u32), src, dst, sport, dport, class, dscp, bytes, start }
        });
        traffic.flows = numbered.collect();
        if drafts.iter().any(|draft| draft.ports.is_some()) {
            check_ports(&traffic.flows, places)?;
        }
        traffic.classes = names.into_inner();
        traffic.warnings = offer::overloads(&offers, places);
        offer::measure(&mut traffic, places, duration, over_time);
        Ok(traffic)
    }
}

/// The place of each draft once they are sorted.
fn sorted_places(drafts: &[Draft]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..drafts.len() as u32).collect();
    order.sort_by_key(|draft| drafts[*draft as usize].start);
    let mut places = vec![0; drafts.len()];
    for (place, draft) in (0..).zip(order) {
        places[draft as usize] = place;
    }
    places
}

/// Rejects two flows that a receiver could not distinguish.
fn check_ports(flows: &[Flow], places: &Places) -> Result<(), TrafficError> {
    let mut seen = HashSet::with_capacity(flows.len());
    match flows.iter().find(|flow| !seen.insert((flow.src, flow.dst, flow.sport, flow.dport))) {
        None => Ok(()),
        Some(flow) => Err(TrafficError::SamePorts {
            src: places.name(flow.src).to_owned(),
            dst: places.name(flow.dst).to_owned(),
            sport: flow.sport,
            dport: flow.dport,
        }),
    }
}

impl Group {
    fn names_by_size(&self) -> bool {
        let listed_without = |list: &[ListedFlow]| list.iter().any(|flow| flow.class.is_none());
        let list = match &self.flows {
            Flows::Listed(list) => Some(list),
            Flows::Ordered(program, _) => Some(&program.flows),
            Flows::Drawn(_) | Flows::Collective(..) => None,
        };
        self.class.is_none() && list.is_none_or(|list| listed_without(list))
    }

    /// The group's name in notes, as in a scenario.
    fn name(&self, index: usize) -> String {
        self.class.as_ref().map_or_else(|| format!("traffic.{index}"), |class| format!("traffic.{class}"))
    }
}

impl ListedFlow {
    fn check(&self, places: &Places) -> Result<(), String> {
        match [self.src, self.dst].into_iter().find(|host| host.index() >= places.len()) {
            Some(host) => Err(format!("there is no host {host} in the fabric")),
            None if self.src == self.dst => {
                Err(format!("its source and destination are both `{}`", places.name(self.src)))
            }
            None if self.bytes == 0 => Err("its size is 0 bytes".into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::tests::spine_leaf;
    use crate::published;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn drawn(load: f64) -> Drawn {
        Drawn {
            sizes: published::named("web-search").unwrap().sizes(),
            arrivals: Arrivals::Poisson,
            intensity: Some(Intensity::Load { share: load, of: LoadOf::FabricUplinks }),
            count: None,
            pairs: Pairs::InterLeaf,
            start: Duration::ZERO,
            jitter: Duration::ZERO,
        }
    }

    fn run(groups: &[Group], places: &Places, seconds: u64, seed: u64) -> Result<Traffic, TrafficError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        generate(groups, places, &Thresholds::default(), Duration::from_secs(seconds), &mut rng)
    }

    fn group(flows: Flows) -> Group {
        Group { class: None, dscp: 0, elephant_ports: None, flows }
    }

    fn one(drawn: Drawn) -> Vec<Group> {
        vec![group(Flows::Drawn(drawn))]
    }

    /// A listed flow at the start.
    fn listed(src: u32, dst: u32, bytes: u64) -> ListedFlow {
        let (src, dst) = (HostId(src), HostId(dst));
        ListedFlow { src, dst, bytes, start: Time::ZERO, class: None, dscp: None, ports: None }
    }

    #[test]
    fn the_realised_load_is_the_load_asked_for() {
        let places = spine_leaf(4, 4, 20);
        for (of, pairs, arrivals) in [
            (LoadOf::FabricUplinks, Pairs::InterLeaf, Arrivals::Poisson),
            (LoadOf::FabricUplinks, Pairs::RackLocal { share: 0.5 }, Arrivals::Poisson),
            (LoadOf::FabricUplinks, Pairs::Incast { fan_in: 10, receiver: None }, Arrivals::Fixed),
            (LoadOf::HostLinks, Pairs::Random, Arrivals::Fixed),
            (LoadOf::HostLinks, Pairs::AllToAll, Arrivals::Poisson),
        ] {
            let spec =
                Drawn { intensity: Some(Intensity::Load { share: 0.15, of }), pairs, arrivals, ..drawn(0.0) };
            let traffic = run(&one(spec.clone()), &places, 60, 5).unwrap();
            let load = traffic.offered_load.unwrap();
            assert!((load / 0.15 - 1.0).abs() < 0.08, "{spec:?}: {load}");
            assert_eq!(traffic.load_of, of);
            assert_eq!(traffic.classes, ["mouse", "rabbit", "elephant"]);
            assert!(traffic.warnings.is_empty(), "{:?}", traffic.warnings);
        }
    }

    #[test]
    fn a_sweep_over_the_load_keeps_sizes_and_pairs() {
        let places = spine_leaf(4, 4, 20);
        let [low, high] = [0.2, 0.4].map(|load| run(&one(drawn(load)), &places, 10, 1).unwrap().flows);
        let same = |a: &Flow, b: &Flow| (a.src, a.dst, a.bytes, a.sport) == (b.src, b.dst, b.bytes, b.sport);
        assert!(low.len() > 100 && low.iter().zip(&high).all(|(low, high)| same(low, high)));
    }

    #[test]
    fn a_group_keeps_its_flows_when_others_change_come_or_go() {
        let places = spine_leaf(2, 2, 4);
        let named = |class: Option<&str>, count| Group {
            class: class.map(str::to_owned),
            ..group(Flows::Drawn(Drawn { intensity: None, count: Some(count), ..drawn(0.0) }))
        };
        let [short, other] = [named(Some("short"), 20), named(Some("short"), 21)];
        let shorts = |groups: &[Group]| {
            let traffic = run(groups, &places, 1, 3).unwrap();
            let short = traffic.classes.iter().position(|class| class == "short").unwrap();
            let flows = traffic.flows.iter().filter(|flow| usize::from(flow.class) == short);
            flows.map(|flow| (flow.start, flow.src, flow.dst, flow.bytes)).collect::<Vec<_>>()
        };
        let alone = shorts(std::slice::from_ref(&short));
        assert_eq!(alone.len(), 20);
        for before in [named(Some("long"), 5), named(Some("long"), 9), named(Some("shor"), 5), named(None, 5)]
        {
            assert_eq!(alone, shorts(&[before.clone(), short.clone()]), "{:?} before", before.class);
            assert_eq!(alone, shorts(&[short.clone(), before]));
        }
        let both = shorts(&[short, other]);
        assert!(both.len() == 41 && alone.iter().all(|flow| both.contains(flow)));
        let second: Vec<_> = both.iter().filter(|flow| !alone.contains(flow)).collect();
        assert_eq!(second.len(), 21, "the second group of a name draws flows of its own");
    }

    #[test]
    fn elephants_and_only_they_have_ports_of_the_range_asked_for() {
        let group = Group { elephant_ports: Some((3_500, 3_502)), ..group(Flows::Drawn(drawn(0.4))) };
        let traffic = run(&[group], &spine_leaf(2, 2, 2), 60, 1).unwrap();
        let (large, small): (Vec<&Flow>, Vec<&Flow>) =
            traffic.flows.iter().partition(|flow| flow.bytes > Thresholds::default().elephant.0);
        assert!(large.len() > 10 && small.len() > 100, "{} of {}", large.len(), traffic.flows.len());
        let ports: Vec<(u16, u16)> = large.iter().map(|flow| (flow.sport, flow.dport)).collect();
        assert_eq!(ports[..4], [(3_500, 5_001), (3_501, 5_001), (3_502, 5_001), (3_500, 5_002)]);
        assert!(small.iter().all(|flow| crate::EPHEMERAL.contains(&flow.sport)));
    }

    #[test]
    fn flows_carry_the_dscp_of_their_group_unless_they_have_their_own() {
        let own = ListedFlow { dscp: Some(46), ..listed(2, 7, 5) };
        let count = Drawn { intensity: None, count: Some(3), start: Duration::from_ms(1), ..drawn(0.0) };
        let groups = [
            Group { dscp: 8, ..group(Flows::Listed(vec![listed(1, 7, 5), own])) },
            Group { dscp: 63, ..group(Flows::Drawn(count)) },
        ];
        let traffic = run(&groups, &spine_leaf(2, 2, 4), 1, 3).unwrap();
        assert_eq!(traffic.flows.iter().map(|flow| flow.dscp).collect::<Vec<_>>(), [8, 46, 63, 63, 63]);
    }

    #[test]
    fn flows_at_once_go_through_the_pattern_once() {
        let places = spine_leaf(2, 2, 4);
        for (pairs, flows) in [
            (Pairs::Permutation, 8),
            (Pairs::AllToAll, 56),
            (Pairs::Incast { fan_in: 5, receiver: Some(HostId(7)) }, 5),
        ] {
            let spec = Drawn { arrivals: Arrivals::AtOnce, intensity: None, pairs, ..drawn(0.0) };
            let traffic = run(&one(spec), &places, 1, 3).unwrap();
            assert_eq!((traffic.flows.len(), traffic.offered_load), (flows, None));
        }
    }

    #[test]
    fn what_the_links_cannot_carry_is_warned_of() {
        let places = spine_leaf(4, 4, 2);
        let warnings = run(&one(drawn(0.8)), &places, 1, 3).unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("the capacity of its links"), "{warnings:?}");
        let warnings = run(&one(drawn(1.2)), &spine_leaf(4, 4, 20), 1, 3).unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("is 120 % of their capacity"), "{warnings:?}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let places = spine_leaf(4, 4, 20);
        let twice = |flow: ListedFlow| vec![group(Flows::Listed(vec![flow.clone(), flow]))];
        let flood = Drawn { intensity: Some(Intensity::FlowsPerSecond(1e12)), ..drawn(0.0) };
        let many = Drawn { intensity: None, count: Some(u64::MAX), ..drawn(0.0) };
        let local = Drawn { pairs: Pairs::RackLocal { share: 1.0 }, ..drawn(0.5) };
        let endless = Drawn { intensity: None, arrivals: Arrivals::AtOnce, ..drawn(0.0) };
        for (groups, part) in [
            (one(drawn(0.0)), "load is 0"),
            (one(drawn(f64::NAN)), "load is NaN"),
            (one(flood), "at most 50000000"),
            (one(many), "at most 50000000"),
            (one(local), "no flow leaves its rack"),
            (one(Drawn { arrivals: Arrivals::AtOnce, ..drawn(0.5) }), "all start at once cannot have a load"),
            (one(endless), "the number of flows is not given"),
            (one(Drawn { pairs: Pairs::Listed(vec![]), ..drawn(0.5) }), "list of pairs is empty"),
            (twice(listed(1, 1, 5)), "flow 1: its source and destination are both `h1`"),
            (twice(listed(1, 80, 5)), "no host 80"),
            (twice(listed(1, 2, 0)), "0 bytes"),
            (twice(ListedFlow { ports: Some((7, 8)), ..listed(1, 2, 5) }), "ports 7 and 8"),
        ] {
            let error = run(&groups, &places, 1, 3).unwrap_err().to_string();
            assert!(error.contains(part), "{error}, not {part}");
        }
    }

    proptest! {
        #[test]
        fn flows_are_in_order_with_their_place_as_id_and_ports_of_their_own(
            load in 0.01..1.5_f64,
            seed: u64,
            jitter in 0..1_000_000_000_u64,
        ) {
            let places = spine_leaf(2, 3, 3);
            let spec = Drawn { jitter: Duration::from_ps(jitter), ..drawn(load) };
            let traffic = run(&one(spec), &places, 2, seed).unwrap();
            let mut ports = HashSet::new();
            for (at, flow) in traffic.flows.iter().enumerate() {
                prop_assert_eq!(flow.id.index(), at);
                prop_assert!(ports.insert((flow.sport, flow.dport)));
            }
            prop_assert!(traffic.flows.is_sorted_by_key(|flow| flow.start));
        }
    }
}
