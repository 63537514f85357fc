//! [`Capturing`]: a recorder that writes the frames of a run to captures, and passes on everything else.

use std::collections::BTreeSet;

use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_switching::{DropReason, Header, Kind, Mac};
use weft_traffic::Flow;
use weft_units::{LinkId, Time};

use super::file::CaptureFile;
use super::frames::{Frame, Frames};
use super::target;
use crate::columns::FlowRecord;
use crate::jobs::{PathRecord, RankRecord, RingStepRecord, WorkRecord};
use crate::journal::FlowNumber;
use crate::packet::PacketId;
use crate::record::Recorder;
use crate::resolver;
use crate::sample::Sample;
use crate::trace::{Seen, TraceEvent};

/// The addresses and ports of a connection.
type Tuple = [(u64, u16); 2];

/// A flow that is captured.
struct Followed {
    number: FlowNumber,
    /// Its source and its destination.
    stations: [Mac; 2],
    /// The tuples of its subflows in both directions, as far as known.
    tuples: BTreeSet<Tuple>,
}

impl Followed {
    /// Records the tuple of a frame of the flow. Returns whether the frame belongs to the flow: its segments, wrapped
    /// or not, frames about its path, and frames that resolve its addresses do.
    fn follow(&mut self, seen: &Seen) -> bool {
        let header = &seen.header;
        if let Some(flow) = seen.flow {
            let is_own = flow == self.number;
            if is_own {
                let [from, to] = ends(header);
                self.tuples.extend([[from, to], [to, from]]);
            }
            return is_own;
        }
        let [src, dst] = self.stations;
        let from = header.src.unmarked();
        let (there, back) = ((from, header.dst) == (src, dst), (from, header.dst) == (dst, src));
        match header.kind {
            Kind::ArpRequest => from == src && Mac::of_host(resolver::target(header).0) == dst,
            Kind::ArpReply => back,
            Kind::Hello | Kind::Other | Kind::Probe | Kind::Tcp => false,
            _ if header.is_about_flow() => self.tuples.contains(&ends(header)),
            _ => there || back,
        }
    }
}

fn ends(header: &Header) -> Tuple {
    [(header.src.unmarked().bits(), header.sport), (header.dst.bits(), header.dport)]
}

/// A frame that is not written yet: its fate is a comment.
struct Pending {
    time: Time,
    id: PacketId,
    link: LinkId,
    frame: Frame,
}

/// A file with its frames.
struct Capture<'a> {
    file: CaptureFile<'a>,
    flow: Option<Followed>,
    links: Option<BTreeSet<LinkId>>,
    pending: Option<Pending>,
}

impl Capture<'_> {
    /// Whether a frame on `link` is captured; updates the knowledge of the flow's frames.
    fn match_frame(&mut self, link: LinkId, seen: &Seen) -> bool {
        self.links.as_ref().is_none_or(|links| links.contains(&link))
            && self.flow.as_mut().is_none_or(|flow| flow.follow(seen))
    }

    fn flush(&mut self, comment: &str) {
        if let Some(Pending { time, link, frame, .. }) = self.pending.take() {
            self.file.add(time, link, &frame, comment);
        }
    }
}

/// The captures of a run.
pub struct Capturing<'a, 'r> {
    fabric: &'a Fabric,
    inner: &'r mut dyn Recorder,
    frames: Frames<'a>,
    captures: Vec<Capture<'a>>,
}

impl<'a, 'r> Capturing<'a, 'r> {
    /// Captures of a run of `plan` into these files; everything else goes to `inner`.
    pub fn new(
        plan: &'a Plan,
        files: impl Iterator<Item = (CaptureFile<'a>, target::Frames)>,
        inner: &'r mut dyn Recorder,
    ) -> Self {
        let captures = files.map(|(file, frames)| {
            let (flow, links) = match frames {
                target::Frames::OnLinks(links) => (None, Some(links)),
                target::Frames::OfFlow(number, links) => (Some(number), links),
            };
            let flow = flow.map(|number| {
                let Flow { src, dst, .. } = plan.traffic.flows[number as usize];
                let stations = [src, dst].map(|host| Mac::of_host(host.0));
                Followed { number, stations, tuples: BTreeSet::new() }
            });
            Capture { file, flow, links: links.map(BTreeSet::from_iter), pending: None }
        });
        Self { fabric: &plan.fabric, inner, frames: Frames::new(plan), captures: captures.collect() }
    }

    /// The files, with all frames.
    pub fn into_files(mut self) -> impl Iterator<Item = CaptureFile<'a>> {
        self.captures.iter_mut().for_each(|capture| capture.flush(""));
        self.captures.into_iter().map(|capture| capture.file)
    }

    fn arrived(&mut self, time: Time, id: PacketId, link: LinkId, seen: &Seen) {
        for capture in self.captures.iter_mut().filter(|capture| !capture.file.is_full()) {
            // Of the frame before, nothing more is heard.
            capture.flush("");
        }
        let mut built = None;
        for capture in &mut self.captures {
            if !capture.match_frame(link, seen) {
                continue;
            }
            if capture.file.is_full() {
                capture.file.leave_out(time, link);
                continue;
            }
            let frame = built.get_or_insert_with(|| self.frames.frame(link, seen, time)).clone();
            capture.pending = Some(Pending { time, id, link, frame });
        }
    }

    fn dropped(&mut self, time: Time, id: PacketId, link: Option<LinkId>, reason: DropReason, seen: &Seen) {
        let mut built = None;
        for capture in &mut self.captures {
            if let Some(link) = link
                && capture.match_frame(link, seen)
            {
                if capture.file.is_full() {
                    capture.file.leave_out(time, link);
                    continue;
                }
                capture.flush("");
                let frame = built.get_or_insert_with(|| self.frames.frame(link, seen, time));
                capture.file.add(time, link, frame, &format!("dropped: {}", reason.name()));
            } else if let Some(pending) = &capture.pending
                && (pending.id, pending.time) == (id, time)
            {
                // It crossed a link that is captured, and went no further.
                let node = self.fabric.node(self.fabric.link(pending.link).to);
                capture.flush(&format!("dropped at {}: {}", node.name, reason.name()));
            }
        }
    }
}

impl Recorder for Capturing<'_, '_> {
    fn traces(&self) -> bool {
        true
    }

    fn flow(&mut self, record: &FlowRecord) {
        self.inner.flow(record);
    }

    fn sample(&mut self, sample: &Sample) {
        self.inner.sample(sample);
    }

    fn work(&mut self, record: &WorkRecord) {
        self.inner.work(record);
    }

    fn rank(&mut self, record: &RankRecord) {
        self.inner.rank(record);
    }

    fn part(&mut self, record: &PathRecord) {
        self.inner.part(record);
    }

    fn ring_step(&mut self, record: &RingStepRecord) {
        self.inner.ring_step(record);
    }

    fn trace(&mut self, time: Time, event: TraceEvent) {
        match event {
            TraceEvent::Sent { seen, .. } => self.frames.note(&seen.header),
            TraceEvent::Arrived { frame, link, seen } => self.arrived(time, frame, link, &seen),
            TraceEvent::Dropped { frame, reason, link, seen } => {
                self.dropped(time, frame, link, reason, &seen);
            }
            TraceEvent::Copied { .. }
            | TraceEvent::Consumed { .. }
            | TraceEvent::Delivered { .. }
            | TraceEvent::Parked { .. }
            | TraceEvent::Waits { .. }
            | TraceEvent::Turn { .. }
            | TraceEvent::Part { .. }
            | TraceEvent::Started { .. }
            | TraceEvent::Window { .. }
            | TraceEvent::LinkChanged { .. }
            | TraceEvent::Kept { .. } => {}
        }
    }
}
