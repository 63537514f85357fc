//! The flows of training and of inference.

use weft_units::{HostId, Time};

use super::Making;
use crate::bound::Bound;
use crate::connections::Reuse;
use crate::error::TrafficError;
use crate::group::Group;
use crate::jobs::{Began, Job};
use crate::placement::Ranks;
use crate::program::Program;
use crate::schedule::Streams;
use crate::workload::{Counts, Inference, Kind, Message, Training};

impl Making<'_> {
    pub(super) fn training(
        &mut self,
        index: usize,
        group: &Group,
        training: &Training,
        ranks: &Ranks,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        let refuse = |why| TrafficError::Ranks { group: index, why };
        let count = training.grid.ranks();
        let hosts = ranks.hosts(count, self.places, &mut streams.pairs).map_err(refuse)?;
        self.room_for(index, training.flows().map_err(refuse)?.saturating_mul(training.steps))?;
        let (step, _) = training.program(1);
        let (bytes, flows) = (bytes_of(&step), step.flows.len() as u64);
        // The first step of each rank is the start.
        let computations = step.steps.len() - step.ranks as usize;
        let bound =
            self.bound_from((index, group), step, &hosts, training.reuse, Time::ZERO + training.start)?;
        let (all, messages) = training.program(training.steps);
        let first = self.drafts.len();
        for round in 0..training.steps {
            let (group, kind, ranks, bus_factor) = (index as u32, "training", count as u32, None);
            let (bound, began) = (bound.clone(), Began::First);
            let job = Job { group, kind, round: round + 1, ranks, bytes, flows, began, bound, bus_factor };
            self.waits.job(job, first + (round * flows) as usize);
            self.waits.steps_of_job(all.ranks as usize + round as usize * computations, computations);
        }
        let classes = messages.iter().map(|message| message.class());
        self.program(index, group, all, &hosts, classes, streams)?;
        if training.reuse == Reuse::Persistent {
            self.keep_open(first, &messages, &Message::ALL);
        }
        Ok(())
    }

    pub(super) fn inference(
        &mut self,
        index: usize,
        group: &Group,
        inference: &Inference,
        ranks: &Ranks,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        let refuse = |why| TrafficError::Ranks { group: index, why };
        let count = inference.ranks();
        let hosts = ranks.hosts(count, self.places, &mut streams.pairs).map_err(refuse)?;
        let requests = inference.arrivals(&mut streams.arrivals, &mut streams.sizes).map_err(refuse)?;
        let (all, kinds, counts) = inference.program(&requests);
        let first = self.drafts.len();
        let (mut flows_before, mut steps_before) = (0, 0);
        for (request, Counts { flows, steps }) in requests.into_iter().zip(counts) {
            let alone = inference.alone(request);
            let bytes = bytes_of(&alone);
            let bound = self.bound_from((index, group), alone, &hosts, inference.reuse, request.at)?;
            let (group, kind, ranks, bus_factor) = (index as u32, "inference", count as u32, None);
            let (round, began) = (request.number + 1, Began::At(request.at));
            let job = Job { group, kind, round, ranks, bytes, flows, began, bound, bus_factor };
            self.waits.job(job, first + flows_before);
            self.waits.steps_of_job(steps_before, steps);
            flows_before += flows as usize;
            steps_before += steps;
        }
        let classes = kinds.iter().map(|kind| kind.class());
        self.program(index, group, all, &hosts, classes, streams)?;
        if inference.reuse == Reuse::Persistent {
            self.keep_open(first, &kinds, &Kind::IN_ORDER);
        }
        Ok(())
    }

    /// The bound of a program at these hosts, from a time before its first flow or computation on.
    fn bound_from(
        &self,
        (index, group): (usize, &Group),
        mut program: Program,
        hosts: &[HostId],
        reuse: Reuse,
        from: Time,
    ) -> Result<Bound, TrafficError> {
        let lead = first(&program).saturating_since(from);
        program.place(hosts);
        let mut bound = self.bound(index, group, &mut program, reuse)?;
        bound.time += lead;
        Ok(bound)
    }

    /// Adds a program at these hosts. In a group without a class, flows have these.
    fn program(
        &mut self,
        index: usize,
        group: &Group,
        mut program: Program,
        hosts: &[HostId],
        classes: impl Iterator<Item = &'static str>,
        streams: &mut Streams,
    ) -> Result<(), TrafficError> {
        self.room_for(index, program.flows.len() as u64)?;
        if group.class.is_none() {
            program
                .flows
                .iter_mut()
                .zip(classes)
                .for_each(|(flow, class)| flow.class = Some(class.to_owned()));
        }
        program.place(hosts);
        let first = self.drafts.len();
        self.settle(index, group, &mut program, streams)?;
        self.waits.add(program, first);
        Ok(())
    }

    /// Lets messages of each of these kinds between two ranks share a connection.
    fn keep_open<K: Copy + PartialEq>(&mut self, first: usize, kinds: &[K], open: &[K]) {
        for of in open {
            let ids = (first as u32..).zip(kinds).filter(|(_, kind)| *kind == of);
            self.open.push(ids.map(|(id, _)| id..id + 1).collect());
        }
    }
}

fn bytes_of(program: &Program) -> u64 {
    program.flows.iter().map(|flow| flow.bytes).fold(0, u64::saturating_add)
}

/// The start of the first flow or computation.
fn first(program: &Program) -> Time {
    let works = program.steps.iter().filter(|step| step.work().is_some());
    let starts = program.flows.iter().map(|flow| flow.start).chain(works.map(|step| step.start));
    starts.min().unwrap_or_default()
}
