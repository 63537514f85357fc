//! [`FlowLedger`]: the flows of a run, joined from the reports of both ends and the switches: their records, the paths
//! of their followed packets, and the cost of events until the fabric has recovered.

use std::collections::BTreeMap;

use weft_traffic::{Connections, Flow, Jobs, Parts};
use weft_units::{Duration, LinkId, Time};

use crate::columns::FlowRecord;
use crate::jobs::FlowSpan;
use crate::journal::{FlowNumber, Loss, News, SideReport, SubflowId, Tuple};
use crate::packet::Way;
use crate::record::{EventReport, JobReport, MultipathReport, Recorder};

/// Observations of one subflow.
#[derive(Default)]
struct Seen {
    tuple: Option<Tuple>,
    /// The links crossed by the last followed data segment that arrived, and its number.
    path: Vec<LinkId>,
    number: u32,
    /// How often a followed segment took a different path from the one followed before it.
    moves: u32,
    /// When its first exploration started.
    explored_from: Option<Time>,
    /// How long it took until the reply reached the source's edge switch.
    exploration: Option<Duration>,
    /// The event (from 1) that broke its path; 0 once switches have given it another.
    broken_by: u32,
    /// The event (from 1) that interrupted its data; 0 once data arrives again.
    interrupted_by: u32,
}

impl Seen {
    /// What the next message on the connection begins with.
    fn hand_over(&mut self) -> Self {
        Self {
            tuple: self.tuple,
            path: self.path.clone(),
            number: self.number,
            broken_by: std::mem::take(&mut self.broken_by),
            interrupted_by: std::mem::take(&mut self.interrupted_by),
            ..Self::default()
        }
    }
}

/// A flow that has started and has no record yet.
#[derive(Default)]
struct Active {
    seen: Vec<Seen>,
    end: Option<Time>,
    closed: [bool; 2],
    is_over: bool,
    left: [Option<Box<SideReport>>; 2],
    drops: u64,
    /// The last event (from 1) that cost it a frame.
    hit_by: u32,
}

impl Active {
    fn seen(&mut self, subflow: u8) -> &mut Seen {
        let at = usize::from(subflow);
        if self.seen.len() <= at {
            self.seen.resize_with(at + 1, Seen::default);
        }
        &mut self.seen[at]
    }
}

/// An action of the engine in response to reported events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerAction {
    /// The source follows the next data segment of the subflow.
    Follow(SubflowId),
    /// The flow is over: both sides leave.
    Over(FlowNumber),
}

/// The flows.
pub struct FlowLedger<'a> {
    active: BTreeMap<FlowNumber, Active>,
    /// The subflows by their tuples.
    tuples: BTreeMap<Tuple, SubflowId>,
    /// Events so far.
    pub events: Vec<EventReport>,
    /// Flows whose destination got all bytes.
    pub finished: u64,
    /// Their bytes, by class.
    pub finished_bytes: Vec<u64>,
    /// Flows that are over.
    pub over: u64,
    /// When the last flow was over.
    pub last_over: Time,
    /// Sums over the recorded Multipath TCP connections, if there are any.
    pub multipath: Option<MultipathReport>,
    /// Groups of flows that complete together.
    members: &'a Jobs,
    /// Flows that share connections.
    connections: &'a Connections,
    /// The first message of each connection that has started and is not over.
    current: BTreeMap<FlowNumber, FlowNumber>,
    /// Flows that are sent in parts.
    parts: &'a Parts,
    /// One entry per job: its recorded flows.
    pub jobs: Vec<JobReport>,
    /// The ends of all recorded flows. Empty without jobs.
    pub spans: Vec<FlowSpan>,
}

impl<'a> FlowLedger<'a> {
    /// A ledger of so many flows of this many classes, some of which belong to `jobs`, share `connections` or are sent in `parts`.
    pub fn new(
        flows: usize,
        classes: usize,
        jobs: &'a Jobs,
        connections: &'a Connections,
        parts: &'a Parts,
    ) -> Self {
        let spans = if jobs.list().is_empty() { 0 } else { flows };
        Self {
            active: BTreeMap::new(),
            tuples: BTreeMap::new(),
            events: Vec::new(),
            finished: 0,
            finished_bytes: vec![0; classes],
            over: 0,
            last_over: Time::ZERO,
            multipath: None,
            members: jobs,
            connections,
            current: BTreeMap::new(),
            parts,
            jobs: vec![JobReport::default(); jobs.list().len()],
            spans: vec![FlowSpan::default(); spans],
        }
    }

    /// Enters news; records a flow once both sides have left.
    pub fn enter(
        &mut self,
        at: Time,
        news: News,
        flows: &[Flow],
        recorder: &mut dyn Recorder,
    ) -> Option<LedgerAction> {
        match news {
            News::Opened(id, tuple) => {
                let of = if id.subflow == 0 { id } else { self.current(id) };
                self.active.entry(of.flow).or_default().seen(of.subflow).tuple = Some(tuple);
                if id.subflow == 0 {
                    self.line_up(id.flow);
                }
                self.tuples.insert(tuple, self.current(of));
            }
            News::Received(flow) => {
                self.active.entry(flow).or_default().end = Some(at);
                let planned = &flows[flow as usize];
                self.finished += 1;
                self.finished_bytes[usize::from(planned.class)] += planned.bytes;
            }
            News::Closed(flow, side) => {
                let active = self.active.get_mut(&flow)?;
                active.closed[side] = true;
                if active.closed == [true, true] {
                    return self.end(flow, at);
                }
            }
            News::Aborted(flow) => return self.end(flow, at),
            News::Left(flow, report) => {
                let active = self.active.entry(flow).or_default();
                let side = report.side;
                active.left[side] = Some(report);
                if let [Some(_), Some(_)] = &active.left
                    && let Some(active) = self.active.remove(&flow)
                {
                    self.record(&flows[flow as usize], active, recorder);
                }
            }
            News::Dropped(id, loss) => return self.lose(at, self.current(id), &loss),
            News::Arrived(id, way) => self.arrive(at, self.current(id), *way),
            News::Explores(id) => {
                let id = self.current(id);
                let active = self.active.get_mut(&id.flow)?;
                active.seen(id.subflow).explored_from.get_or_insert(at);
            }
            News::Explored(id) => {
                let id = self.current(id);
                let seen = self.active.get_mut(&id.flow)?.seen(id.subflow);
                if seen.exploration.is_none() {
                    seen.exploration = seen.explored_from.map(|from| at.saturating_since(from));
                }
            }
            News::Asked(tuple) => {
                let id = *self.tuples.get(&tuple)?;
                let active = self.active.get_mut(&id.flow)?;
                active.seen(id.subflow).explored_from.get_or_insert(at);
            }
            News::Answered(tuple) => return self.answer(at, tuple),
            News::Acknowledged(_) | News::Reported(_) | News::RuleRemoved { .. } => {}
        }
        None
    }

    /// The flow that a packet of a connection counts for: the first message on it that is not over. Others wait behind that.
    fn current(&self, id: SubflowId) -> SubflowId {
        let owner = self.connections.owner(id.flow);
        SubflowId { flow: self.current.get(&owner).copied().unwrap_or(id.flow), ..id }
    }

    /// Whether a flow has started and is not over.
    fn is_under_way(&self, flow: FlowNumber) -> bool {
        self.active.get(&flow).is_some_and(|active| !active.is_over)
    }

    /// A flow is over.
    fn end(&mut self, flow: FlowNumber, at: Time) -> Option<LedgerAction> {
        let active = self.active.get_mut(&flow)?;
        if active.is_over {
            return None;
        }
        active.is_over = true;
        self.over += 1;
        self.last_over = self.last_over.max(at);
        self.hand_over(flow);
        Some(LedgerAction::Over(flow))
    }

    /// A message has started: packets of its connection count for it, unless an earlier message is under way. A later message
    /// that has started before it has sent nothing, and leaves it all observations.
    fn line_up(&mut self, flow: FlowNumber) {
        let Some(last) = self.connections.last(flow) else { return };
        let current = self.current.get(&last).copied().filter(|current| self.is_under_way(*current));
        if current.is_some_and(|current| current < flow) {
            return;
        }
        let later = current.and_then(|later| self.active.get_mut(&later));
        let seen = later.map(|later| std::mem::take(&mut later.seen)).unwrap_or_default();
        self.advance(last, flow, seen);
    }

    /// The next message that has started on the connection of one that is over has its paths and its tuples from now on, and the
    /// events that it has not recovered from.
    fn hand_over(&mut self, flow: FlowNumber) {
        let Some(last) = self.connections.last(flow) else { return };
        let next = self.connections.messages(flow).skip(1).find(|next| self.is_under_way(*next));
        let Some(next) = next.filter(|_| self.current.get(&last) == Some(&flow)) else { return };
        let Some(before) = self.active.get_mut(&flow) else { return };
        let handed = before.seen.iter_mut().map(Seen::hand_over).collect();
        self.advance(last, next, handed);
    }

    /// Packets of the connection with this `last` message count for message `flow` from now on, whose subflows begin with what was
    /// `seen`.
    fn advance(&mut self, last: FlowNumber, flow: FlowNumber, seen: Vec<Seen>) {
        self.current.insert(last, flow);
        for (subflow, seen) in (0_u8..).zip(seen) {
            if let Some(tuple) = seen.tuple {
                self.tuples.insert(tuple, SubflowId { flow, subflow });
            }
            *self.active.entry(flow).or_default().seen(subflow) = seen;
        }
    }

    fn lose(&mut self, at: Time, id: SubflowId, loss: &Loss) -> Option<LedgerAction> {
        let active = self.active.get_mut(&id.flow)?;
        active.drops += u64::from(loss.has_data);
        let number = loss.gray_event.unwrap_or(self.events.len() as u32);
        let event = (number as usize).checked_sub(1).and_then(|at| self.events.get_mut(at));
        if !loss.is_control
            && (loss.gray_event.is_some() || loss.for_want_of_a_path())
            && let Some(event) = event
        {
            event.frames_lost += 1;
            event.last_loss = event.last_loss.max(Some(at));
            if active.hit_by != number {
                active.hit_by = number;
                event.flows_hit += 1;
            }
        }
        loss.makes_follow().then_some(LedgerAction::Follow(id))
    }

    /// A followed packet has reached its host.
    fn arrive(&mut self, at: Time, id: SubflowId, way: Way) {
        let Some(active) = self.active.get_mut(&id.flow) else { return };
        let seen = active.seen(id.subflow);
        if way.number <= seen.number {
            // Another copy of a flooded segment came first.
            return;
        }
        seen.number = way.number;
        seen.moves += u32::from(!seen.path.is_empty() && seen.path != way.links);
        seen.path = way.links;
        let by = std::mem::take(&mut seen.interrupted_by);
        if let Some(event) = by.checked_sub(1).and_then(|number| self.events.get_mut(number as usize)) {
            event.resumed.add(at.saturating_since(event.at));
        }
    }

    /// The edge switch that requested a path for an active flow received an answer.
    fn answer(&mut self, at: Time, tuple: Tuple) -> Option<LedgerAction> {
        let id = *self.tuples.get(&tuple)?;
        let seen = self.active.get_mut(&id.flow)?.seen(id.subflow);
        if seen.exploration.is_none() {
            seen.exploration = seen.explored_from.map(|from| at.saturating_since(from));
        }
        let by = std::mem::take(&mut seen.broken_by);
        if let Some(event) = by.checked_sub(1).and_then(|number| self.events.get_mut(number as usize)) {
            event.recovered.add(at.saturating_since(event.at));
        }
        Some(LedgerAction::Follow(id))
    }

    /// An event takes down the links in `failed` (possibly none). Returns the subflows whose path it breaks.
    pub fn event(&mut self, at: Time, failed: &[LinkId]) -> Vec<SubflowId> {
        self.events.push(EventReport::new(at));
        let (number, mut broken) = (self.events.len() as u32, Vec::new());
        for (&flow, active) in &mut self.active {
            for (subflow, seen) in (0..).zip(&mut active.seen) {
                if seen.path.iter().any(|link| failed.contains(link)) {
                    seen.broken_by = number;
                    seen.interrupted_by = number;
                    broken.push(SubflowId { flow, subflow });
                }
            }
        }
        if let Some(event) = self.events.last_mut() {
            event.paths_broken = broken.len() as u64;
        }
        broken
    }

    /// Flows that have started and not finished.
    pub fn unfinished(&self) -> impl Iterator<Item = FlowNumber> {
        self.active.iter().filter(|(_, active)| active.end.is_none()).map(|(flow, _)| *flow)
    }

    fn record(&mut self, flow: &Flow, active: Active, recorder: &mut dyn Recorder) {
        for tuple in active.seen.iter().filter_map(|seen| seen.tuple) {
            // A later message on the connection has the same tuple.
            if self.tuples.get(&tuple).is_some_and(|id| id.flow == flow.id.0) {
                self.tuples.remove(&tuple);
            }
        }
        let [Some(source), Some(destination)] = &active.left else { return };
        let (sender, receiver) = (&source.tcp, &destination.tcp);
        let first = active.seen.first();
        let stats = source.multipath.unwrap_or_default();
        if let Some(job) = self.members.of(flow.id.0) {
            self.jobs[job].add(source.start, active.end);
        }
        if let Some(span) = self.spans.get_mut(flow.id.0 as usize) {
            *span = FlowSpan { end: active.end, ideal: source.ideal };
        }
        recorder.flow(&FlowRecord {
            flow: Flow { start: source.start, ..*flow },
            end: active.end,
            // The time of a flow in parts depends on others, whatever the fabric.
            ideal: (source.hops > 0 && self.parts.of(flow.id.0).is_none()).then_some(source.ideal.alone),
            hops: source.hops,
            subflows: if source.multipath.is_some() { stats.subflows } else { 1 },
            packets_sent: u64::from(sender.data_segments_sent),
            retransmissions: u64::from(sender.retransmissions),
            timeouts: u64::from(sender.timeouts),
            out_of_order: u64::from(receiver.out_of_order),
            first_transmissions_received: u64::from(receiver.first_transmissions_received),
            ecn_marks: u64::from(receiver.ecn_marks),
            drops: active.drops,
            delay: destination.delays.mean(),
            jitter: destination.delays.jitter(),
            resolution: source.resolution,
            exploration: first.and_then(|seen| seen.exploration),
            moves: active.seen.iter().map(|seen| seen.moves).sum(),
            // Of a message on an open connection, the first subflow may have carried nothing.
            path: active
                .seen
                .iter()
                .map(|seen| &seen.path)
                .find(|path| !path.is_empty())
                .cloned()
                .unwrap_or_default(),
        });
        // Of several messages on a connection, the last one has the counts of all.
        if source.multipath.is_some() && self.connections.owner(flow.id.0) == flow.id.0 {
            self.multipath.get_or_insert_default().add(&stats, &destination.multipath.unwrap_or_default());
        }
    }
}
