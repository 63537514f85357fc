//! The flows of collectives.

use std::collections::HashMap;
use std::ops::Range;

use weft_units::{Duration, HostId, Time};

use super::Making;
use crate::collective::{Collective, experts};
use crate::connections::Reuse;
use crate::error::TrafficError;
use crate::group::Group;
use crate::jobs::{Began, Job};
use crate::lane::Lane;
use crate::placement::Ranks;
use crate::program::Program;
use crate::random::{shuffle, unit};
use crate::relay::{Relay, relayed};
use crate::schedule::Streams;
use crate::tuner::Tuner;
use crate::waits::Waits;

impl Making<'_> {
    /// Adds all rounds of a collective.
    pub(super) fn collective(
        &mut self,
        index: usize,
        group: &Group,
        (collective, tuner): (&Collective, Option<&Tuner>),
        ranks: &Ranks,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        let refuse = |why| TrafficError::Ranks { group: index, why };
        let count = ranks.count(self.places.len() as u64);
        let hosts = ranks.hosts(count, self.places, &mut streams.pairs).map_err(refuse)?;
        let servers = self.places.servers_of(&hosts);
        let choice =
            tuner.map(|tuner| tuner.choose(collective, count, servers)).transpose().map_err(refuse)?;
        let mut collective = choice.as_ref().map_or(*collective, |choice| choice.collective);
        let word = collective.algorithm.word();
        let of_line = choice.as_ref().and_then(|choice| choice.line);
        let of_line = of_line.map_or_else(String::new, |line| {
            format!("line {line} of the tuner's table chooses `{word}` here: ")
        });
        let said = |why: String| format!("{of_line}{why}");
        let refuse = |why: String| refuse(said(why));
        self.traffic.choices.extend(choice.map(|choice| (index, choice)));
        if collective.algorithm.is_by_domain() {
            let group = self.places.ranks_of_domains(&hosts);
            collective.group =
                group.map_err(|why| refuse(format!("`{word}` needs scale-up domains: {why}")))?;
        }
        let collective = &collective;
        let planned = collective.flows(count);
        let planned = planned.map_err(|why| collective.refused(index, count, said(why)))?;
        let all = planned.saturating_mul(collective.rounds);
        if tuner.is_some() || collective.algorithm.is_by_domain() {
            let before = self.drafts.len() as u64;
            Waits::room_for_ordered(before, all, collective, count).map_err(refuse)?;
        }
        self.room_for(index, all)?;
        let order = experts_order(collective, hosts.len() as u32, streams);
        let mut round = Program { ranks: hosts.len() as u32, ..Program::default() };
        let by = self.places.rails(&hosts);
        for number in 0..collective.channels {
            let channel = collective.channel(number);
            let mut program = channel.round(round.ranks);
            if channel.skew > 0 {
                experts::skew(&mut program, channel.bytes, channel.skew, &order);
            }
            if collective.relay == Relay::Pxn {
                program = relayed(&program, &by);
            }
            if collective.channels > 1 {
                program.flows.iter_mut().for_each(|flow| flow.lane = Lane::Channel(number as u8));
            }
            program.carry(|bytes| channel.protocol.bytes(bytes));
            round.append(program);
            round.part_connections();
        }
        self.room_for(index, collective.rounds.saturating_mul(round.flows.len() as u64))?;
        let (flows, ends) = (round.flows.len() as u64, std::mem::take(&mut round.parted));
        let mut all = if collective.rounds > 1 { collective.all(&round) } else { Program::default() };
        round.place(&hosts);
        let bound = self.bound(index, group, &mut round, collective.reuse)?;
        let mut first_bound = bound.clone();
        let mut delays = Vec::new();
        if collective.jitter > Duration::ZERO {
            // One delay for each pair: the order of its messages stays.
            let mut known = HashMap::new();
            delays.extend(round.flows.iter().map(|flow| {
                let delay = known.entry((flow.src, flow.dst)).or_insert_with(|| unit(&mut streams.jitter));
                Duration::from_ps((*delay * collective.jitter.ps() as f64) as u64)
            }));
            // A round begins with its first message, which waits for its delay, but computations do not.
            let mut late = round.clone();
            late.flows.iter_mut().zip(&delays).for_each(|(flow, delay)| flow.start += *delay);
            let late = self.bound(index, group, &mut late, collective.reuse)?;
            if late.time < bound.time {
                first_bound = late;
            }
        }
        // Of a single round, there is no second copy.
        if collective.rounds > 1 {
            all.place(&hosts);
        } else {
            all = round;
        }
        let delays = delays.iter().cycle();
        all.flows.iter_mut().zip(delays).for_each(|(flow, delay)| flow.start += *delay);
        let first = self.drafts.len();
        self.settle(index, group, &mut all, streams)?;
        self.waits.add(all, first);
        if collective.reuse == Reuse::Persistent {
            let starts = [0].into_iter().chain(ends.iter().copied());
            for (start, end) in starts.zip(&ends) {
                let of_round = |round: u64| first as u32 + (round * flows) as u32;
                let rounds = (0..collective.rounds).map(of_round);
                let messages: Vec<_> = rounds.map(|round| round + start..round + end).collect();
                self.keep_order(&messages);
                self.open.push(messages);
            }
        }
        for round in 0..collective.rounds {
            let (group, kind, ranks) = (index as u32, word, hosts.len() as u32);
            let job = Job {
                group,
                kind,
                round: round + 1,
                ranks,
                bytes: collective.bytes,
                flows,
                began: Began::First,
                bound: if round == 0 { &first_bound } else { &bound }.clone(),
                bus_factor: collective.algorithm.bus_factor(ranks),
            };
            self.waits.job(job, first + (round * flows) as usize);
        }
        Ok(())
    }

    /// Lets no message between two ranks start before those before it in these ranges: on a connection, messages follow each other
    /// in the order of their starts, and computations at stragglers would change that.
    fn keep_order(&mut self, ranges: &[Range<u32>]) {
        let mut latest: HashMap<(HostId, HostId), Time> = HashMap::new();
        for range in ranges {
            for draft in &mut self.drafts[range.start as usize..range.end as usize] {
                let start = latest.entry((draft.src, draft.dst)).or_insert(draft.start);
                *start = draft.start.max(*start);
                draft.start = *start;
            }
        }
    }
}

/// The ranks of a skewed all-to-all, from the most popular one on.
fn experts_order(collective: &Collective, ranks: u32, streams: &mut Streams) -> Vec<u32> {
    let mut order: Vec<u32> = (0..ranks).collect();
    if collective.skew > 0 {
        shuffle(&mut streams.jitter, &mut order);
    }
    order
}
