//! [`generate`]: turns groups of flows into the flow list of a run.

mod collectives;
mod workloads;

use std::collections::HashSet;
use std::ops::Range;

use rand_core::RngCore;
use weft_units::{Bytes, Duration, Time};

use crate::bound::Bound;
use crate::classes::{Names, Thresholds};
use crate::connections::{Connections, Reuse};
use crate::drafts::{self, Draft};
use crate::error::TrafficError;
use crate::flow::MAX_FLOWS;
use crate::group::{Drawn, Flows, Group, Intensity};
use crate::jobs::{Began, Job};
use crate::listed::ListedFlow;
use crate::offer::Offer;
use crate::placement::Ranks;
use crate::places::Places;
use crate::ports::Ports;
use crate::program::Program;
use crate::random::unit;
use crate::schedule::{Schedule, Streams};
use crate::traffic::{Arriving, GroupSummary, MANY_STARTS, Traffic};
use crate::waits::Waits;

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
        at_rate: Vec::new(),
        listed: Vec::new(),
        over_time: false,
        waits: Waits::default(),
        open: Vec::new(),
        traffic: Traffic::default(),
    };
    Waits::room_for_flows(groups, places)?;
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
                if has_many_starts(list) {
                    making.listed.push(first..making.drafts.len());
                }
                making.over_time |= list.iter().any(|flow| flow.start != list[0].start);
                (None, None)
            }
            Flows::Ordered(program, ranks) => {
                making.order(index, group, program.clone(), ranks.as_ref(), &mut streams)?;
                (None, None)
            }
            Flows::Collective(collective, ranks, tuner) => {
                making.collective(index, group, (collective, tuner.as_ref()), ranks, &mut streams)?;
                (None, None)
            }
            Flows::Training(training, ranks) => {
                making.training(index, group, training, ranks, &mut streams)?;
                (None, None)
            }
            Flows::Inference(inference, ranks) => {
                making.inference(index, group, inference, ranks, &mut streams)?;
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
    /// Drafts of flows that arrive at a rate.
    at_rate: Vec<Range<usize>>,
    /// Drafts of lists with [`MANY_STARTS`].
    listed: Vec<Range<usize>>,
    /// Whether flows arrive over time, so that a load is defined.
    over_time: bool,
    waits: Waits,
    /// The drafts of each channel of a group that keeps its connections open.
    open: Vec<Vec<Range<u32>>>,
    traffic: Traffic,
}

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
            if let Some(why) = self.places.refuse(flow) {
                return Err(TrafficError::Listed { group: index, index: at + 1, why });
            }
            let class = self.class(group, flow.class.as_deref(), flow.bytes)?;
            self.drafts.push(Draft {
                start: flow.start,
                src: flow.src,
                dst: flow.dst,
                bytes: flow.bytes,
                class,
                dscp: flow.dscp.unwrap_or(group.dscp),
                ports: flow.ports,
                lane: flow.lane.or(group.lane),
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
            let (count, refuse) = (program.ranks.into(), |why| TrafficError::Ranks { group: index, why });
            ranks.check_trace(count).map_err(refuse)?;
            program.place(&ranks.hosts(count, self.places, &mut streams.pairs).map_err(refuse)?);
            program.pace(self.places);
        }
        let bytes = program.flows.iter().map(|flow| flow.bytes).fold(0, u64::saturating_add);
        let first = self.drafts.len();
        let (flows, count) = (program.flows.len() as u64, program.ranks);
        self.settle(index, group, &mut program, streams)?;
        if ranks.is_some() {
            let bound = self.bound(index, group, &mut program, Reuse::PerMessage)?;
            let bus_factor = None;
            let group = index as u32;
            let (kind, round, began) = ("trace", 1, Began::First);
            let job = Job { group, kind, round, ranks: count, bytes, flows, began, bound, bus_factor };
            self.waits.job(job, first);
            self.waits.steps_of_job(0, program.steps.len());
        }
        self.waits.add(program, first);
        Ok(())
    }

    /// The bound of a program of a group, at hosts. Its flows have the interfaces of the group.
    fn bound(
        &self,
        index: usize,
        group: &Group,
        program: &mut Program,
        reuse: Reuse,
    ) -> Result<Bound, TrafficError> {
        program.flows.iter_mut().for_each(|flow| flow.lane = flow.lane.or(group.lane));
        let bound = Bound::of(program, self.places, reuse);
        let longest =
            || program.longest(self.places).map(|longest| format!(": {longest}")).unwrap_or_default();
        bound
            .is_finite()
            .then_some(bound)
            .ok_or_else(|| TrafficError::TooLong { group: index, longest: longest() })
    }

    /// Settles a program at hosts, and adds its flows.
    fn settle(
        &mut self,
        index: usize,
        group: &Group,
        program: &mut Program,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        let idle = || group.flows.without_computation();
        let slowed = group.stragglers.slow(program, &mut streams.jitter, idle);
        slowed.map_err(|why| TrafficError::Stragglers { group: index, why })?;
        let room = self.waits.room_for_needs(program.needs.len());
        room.map_err(|why| TrafficError::Ranks { group: index, why })?;
        program.settle().map_err(|circle| {
            let circle = program.spell(&circle, self.places);
            TrafficError::Circle { group: index, circle }
        })?;
        self.list(index, group, &program.flows)
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
                let (dscp, lane) = (group.dscp, group.lane);
                self.drafts.push(Draft { start, src, dst, bytes, class, dscp, ports: None, lane, marked });
            }
        }
        if drawn.intensity.is_some() {
            self.at_rate.push(first..self.drafts.len());
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
        let Self { places, names, drafts, offers, at_rate, listed, over_time, waits, open, .. } = self;
        let mut traffic = self.traffic;
        traffic.arriving = arriving(&drafts, &at_rate);
        traffic.over_time =
            if at_rate.is_empty() { arriving(&drafts, &listed) } else { traffic.arriving.clone() };
        let ids = if waits.is_empty() { Vec::new() } else { drafts::ids(&drafts) };
        if !waits.is_empty() {
            (traffic.dependencies, traffic.jobs, traffic.parts) = waits.into_tables(&ids);
        }
        traffic.flows = drafts::flows(drafts, ports, places)?;
        let open = open
            .into_iter()
            .map(|drafts| drafts.into_iter().flatten().map(|draft| ids[draft as usize]).collect());
        traffic.connections = Connections::new(&mut traffic.flows, open.collect());
        traffic.classes = names.into_inner();
        traffic.offers = offers;
        traffic.measure(places, duration, over_time);
        Ok(traffic)
    }
}

fn has_many_starts(list: &[ListedFlow]) -> bool {
    let mut starts = HashSet::new();
    list.iter().any(|flow| starts.insert(flow.start) && starts.len() == MANY_STARTS)
}

/// The flows of the drafts in `ranges`.
fn arriving(drafts: &[Draft], ranges: &[Range<usize>]) -> Arriving {
    match ranges.iter().map(Range::len).sum::<usize>() {
        0 => Arriving::None,
        all if all == drafts.len() => Arriving::All,
        _ => {
            let (ids, mut flows) = (drafts::ids(drafts), vec![false; drafts.len()]);
            ranges.iter().cloned().flatten().for_each(|draft| flows[ids[draft] as usize] = true);
            Arriving::Some(flows)
        }
    }
}

#[cfg(test)]
mod tests;
