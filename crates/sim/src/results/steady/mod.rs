//! [`GrowthTest`]: whether a run was in a steady state, so that its means do not depend on its length.
//!
//! Only flows that arrive over time can be in a steady state: flows at a rate or, without such flows, in a list or trace
//! with many starts. Offered and received bytes follow from the flows' starts and ends, as if each flow arrived evenly in
//! between. The test therefore costs nothing during a simulation, and applies to emulated runs, too.

use serde_json::{Value, json};
use weft_scenario::Plan;
use weft_traffic::Arriving;
use weft_units::{Duration, Time};

use crate::columns::FlowRow;
use crate::record::ControllerReport;

/// Parts of the judged time, as results show them, and slots of a part, between which chance is measured.
const PARTS: usize = 5;
const SLOTS: usize = 4;
/// The slots from the second part on, whose first and second half are compared.
const COMPARED: usize = (PARTS - 1) * SLOTS;
/// A run shorter than this many ideal times of its longest flow may be too short.
const LONGEST: u64 = 10;
/// Such a run is too short if less than this share of the bytes has arrived at the end of arrivals. Several runs of one
/// point are judged by their sum.
pub const ARRIVED: f64 = 0.8;
/// Backlog below this share of all offered bytes changes no mean.
const MATTERS: f64 = 0.002;
/// Growth of the backlog, from the third fifth to the mean of the last two, above which it still grows.
const STILL: f64 = 1.07;
/// Standard errors by which growth must exceed zero.
const ERRORS: f64 = 4.0;
/// Range of the correlation between neighbouring slots: few of them show too little of it.
const CORRELATION: (f64, f64) = (0.3, 0.9);
/// If events leave less than this share of the time, growth is not judged.
const REMAINS: f64 = 0.4;

/// The flows of a run that arrive over time, summed while rows are written.
pub struct GrowthTest<'a> {
    plan: &'a Plan,
    /// When judging starts and ends; `None` if no flow arrives over time.
    span: Option<(Time, Time)>,
    /// The last event, if it leaves too little of the span to judge growth.
    late: Option<Time>,
    /// The first and the last start of all flows, whether they arrive at a rate or not.
    starts: Option<(Time, Time)>,
    offered: f64,
    remaining: f64,
    /// Mean backlog in each slot.
    backlog: [f64; PARTS * SLOTS],
    /// The growth added by the flows that start at the last seen time, and the squares of earlier sums.
    added: (Time, f64),
    squares: f64,
    /// The longest ideal time of the flows that arrive over time, or of all if none does.
    longest: Duration,
}

impl<'a> GrowthTest<'a> {
    /// Creates a test that has seen no flows of `plan` yet.
    pub fn new(plan: &'a Plan) -> Self {
        let arriving = || plan.traffic.flows.iter().filter(|flow| plan.traffic.over_time.has(flow.id));
        let (first, last) = (arriving().next(), arriving().next_back());
        let whole = (Time::ZERO, Time::ZERO + plan.run.limit);
        let (from, to) = if plan.measure.is_whole { whole } else { plan.measure.window };
        let span = first.zip(last).map(|(first, last)| (first.start.max(from), last.start.min(to)));
        let span = span.filter(|(from, to)| from < to);
        let (span, late) = span.map_or((None, None), |(first, last)| {
            let (span, late) = after_events(plan.events.iter().map(|event| event.at), first, last);
            (Some(span), late)
        });
        Self {
            plan,
            span,
            late,
            starts: None,
            offered: 0.0,
            remaining: 0.0,
            backlog: [0.0; PARTS * SLOTS],
            added: (Time::ZERO, 0.0),
            squares: 0.0,
            longest: Duration::ZERO,
        }
    }

    /// Adds a flow.
    pub fn add(&mut self, row: &FlowRow<'_>) {
        let flow = &row.flow;
        let (first, last) = self.starts.unwrap_or((flow.start, flow.start));
        self.starts = Some((first.min(flow.start), last.max(flow.start)));
        let longest = self.longest.max(row.ideal.unwrap_or(Duration::ZERO));
        let Some((from, to)) = self.span else {
            self.longest = longest;
            return;
        };
        if !self.plan.traffic.over_time.has(flow.id) || flow.start > to {
            return;
        }
        // Lost datagrams do not wait: the rest of such a flow is gone when its source ends.
        let lost = !self.plan.transport.protocol.config().has_connections();
        let end = row.end.or_else(|| lost.then_some(flow.start + row.ideal?));
        let of = Waiting { bytes: flow.bytes as f64, start: seconds(flow.start), end: end.map(seconds) };
        self.offered += of.bytes;
        self.remaining += of.at(seconds(to));
        self.longest = longest;
        let (from, length) = (seconds(from), (seconds(to) - seconds(from)) / self.backlog.len() as f64);
        let slot = |time: f64| ((time - from) / length).max(0.0) as usize;
        let last = of.end.map_or(usize::MAX, slot);
        for (number, backlog) in
            self.backlog.iter_mut().enumerate().take(last.saturating_add(1)).skip(slot(of.start))
        {
            let begins = from + length * number as f64;
            *backlog += of.between(begins, begins + length) / length;
        }
        let (early, half) = (from + length * SLOTS as f64, length * COMPARED as f64 / 2.0);
        let added = of.between(early + half, early + 2.0 * half) - of.between(early, early + half);
        if self.added.0 == flow.start {
            self.added.1 += added / half;
        } else {
            self.squares += self.added.1.powi(2);
            self.added = (flow.start, added / half);
        }
    }

    /// The judgement, for `summary.json`.
    pub fn json(&self, controller: Option<&ControllerReport>) -> Value {
        let beyond: Vec<String> = self.beyond_tables(controller).into_iter().collect();
        let Some((from, to)) = self.span else {
            let state = if beyond.is_empty() { "static" } else { "out-of-range" };
            return json!({ "state": state, "reasons": beyond });
        };
        let growth = self.growth();
        let arrived = growth.arrived_share();
        // A list may be a burst, which ends before its largest flow could.
        let is_listed = self.plan.traffic.arriving == Arriving::None;
        if is_listed && to.saturating_since(from) < self.longest * LONGEST && beyond.is_empty() {
            return json!({ "state": "static", "reasons": beyond });
        }
        let grows = growth.reason().or_else(|| growth.steadily().filter(|_| is_listed));
        let overloads = self.plan.overloads.iter().map(ToString::to_string).collect();
        let judged = [
            ("out-of-range", beyond),
            ("overloaded", overloads),
            ("too-short", self.short(arrived, to.saturating_since(from)).into_iter().collect()),
            ("growing", grows.filter(|_| self.late.is_none()).into_iter().collect::<Vec<String>>()),
            ("not-judged", self.unjudged().into_iter().collect()),
        ];
        let (state, reasons) =
            judged.into_iter().find(|(_, reasons)| !reasons.is_empty()).unwrap_or(("steady", Vec::new()));
        // All seeds have the flows of a list, so that several say no more than one.
        let error = (!is_listed).then(|| growth.error.round());
        json!({
            "state": state,
            "reasons": reasons,
            "from_ps": from.ps(),
            "to_ps": to.ps(),
            "offered_bytes": self.offered,
            "arrived_share": arrived,
            "backlog_bytes": growth.backlog.map(f64::round),
            "growth_error_bytes": error,
            "longest_ideal_ps": self.longest.ps(),
        })
    }

    /// Why the run is too short for its largest flow.
    fn short(&self, arrived: f64, span: Duration) -> Option<String> {
        let needed = self.longest * LONGEST;
        (span < needed && arrived < ARRIVED).then(|| {
            format!(
                "flows arrive during {}, less than {LONGEST} times the {} that the largest takes \
                 alone, and {} of the offered bytes have arrived by then; set run.duration to {} or more, or limit \
                 sizes by traffic.truncate or traffic.clamp",
                about(span),
                about(self.longest),
                percent(arrived),
                about(needed)
            )
        })
    }

    /// Why growth was not judged.
    fn unjudged(&self) -> Option<String> {
        let (late, (from, to)) = (self.late?, self.span?);
        let left = to.saturating_since(late).as_secs_f64() / to.saturating_since(from).as_secs_f64();
        Some(format!(
            "only {} of the judged time is left after the event at {late}; judging whether the backlog grows needs {}",
            percent(left),
            percent(REMAINS)
        ))
    }

    /// The backlog of this run.
    fn growth(&self) -> Growth {
        let slots = |part: usize| self.backlog[part * SLOTS..][..SLOTS].iter();
        Growth {
            backlog: std::array::from_fn(|part| slots(part).sum::<f64>() / SLOTS as f64),
            offered: self.offered,
            remaining: self.remaining,
            error: self.error_over_time().hypot(self.error_of_arrivals()),
        }
    }

    /// The standard error of the growth, from the slots' deviations from a line.
    fn error_over_time(&self) -> f64 {
        let compared = &self.backlog[SLOTS..];
        let count = COMPARED as f64;
        let middle = (count - 1.0) / 2.0;
        let mean = compared.iter().sum::<f64>() / count;
        let at = |number: usize| number as f64 - middle;
        let squares: f64 = (0..COMPARED).map(|number| at(number).powi(2)).sum();
        let slope =
            compared.iter().enumerate().map(|(number, slot)| at(number) * slot).sum::<f64>() / squares;
        let off: Vec<f64> =
            compared.iter().enumerate().map(|(number, slot)| slot - mean - slope * at(number)).collect();
        let variance: f64 = off.iter().map(|off| off * off).sum();
        let shared: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let correlation = if variance > 0.0 { shared / variance } else { 0.0 };
        let correlation = correlation.clamp(CORRELATION.0, CORRELATION.1);
        let inflation = (1.0 + correlation) / (1.0 - correlation);
        (variance / (count - 2.0) * (4.0 / count) * inflation).sqrt()
    }

    /// The standard deviation of the growth if flows arrive at random and are served alike: the root of the sum of squares of
    /// their contributions (Campbell's theorem for shot noise). Flows that start together count as one.
    fn error_of_arrivals(&self) -> f64 {
        (self.squares + self.added.1.powi(2)).sqrt()
    }

    /// The reason why switch tables are out of range: rules are requested faster than a switch installs them.
    ///
    /// There is no rate to judge if no flow arrives at one and all start within the ideal time of the longest: the rules of a
    /// burst are late once, those of a rate ever later.
    fn beyond_tables(&self, controller: Option<&ControllerReport>) -> Option<String> {
        let busiest = controller?.busiest.as_ref()?;
        let (first, last) = self.starts.filter(|(first, last)| first < last)?;
        let span = last.saturating_since(first);
        if self.plan.traffic.arriving == Arriving::None && span <= self.longest {
            return None;
        }
        let took = busiest.latency * busiest.rules;
        (took > span).then(|| {
            let per_second = |count: f64| format!("{:.0}", count / span.as_secs_f64());
            format!(
                "the controller sent `{}` {} rules for the flows that start within {}, {} a second, and a switch installs {:.0} a second: {:.1} \
                 times as many as it can, so connections wait for the rules of earlier ones",
                self.plan.fabric.node(busiest.switch).name,
                busiest.rules,
                about(span),
                per_second(busiest.rules as f64),
                1.0 / busiest.latency.as_secs_f64(),
                took.as_secs_f64() / span.as_secs_f64()
            )
        })
    }
}

/// The span from the last of these events on, if enough of it remains to judge growth; otherwise the whole span and that
/// event.
fn after_events(
    events: impl DoubleEndedIterator<Item = Time>,
    from: Time,
    to: Time,
) -> ((Time, Time), Option<Time>) {
    let mut within = events.filter(|at| *at > Time::ZERO && *at > from && *at < to);
    let Some(last) = within.next_back() else { return ((from, to), None) };
    let (left, all) = (to.saturating_since(last), to.saturating_since(from));
    match left.as_secs_f64() >= REMAINS * all.as_secs_f64() {
        true => ((last, to), None),
        false => ((from, to), Some(last)),
    }
}

/// The backlog of one run, or the sum over several of the same point, in bytes.
///
/// A fabric that cannot carry a load has a growing backlog in most runs of a point. So they are judged together, too:
/// growth that each run alone takes for chance adds up.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// The mean in each part of the judged time.
    pub backlog: [f64; PARTS],
    /// Bytes offered.
    pub offered: f64,
    /// Bytes that had not arrived at the end.
    pub remaining: f64,
    /// Standard error of the growth from the second and third part to the last two.
    pub error: f64,
}

impl Growth {
    /// How the backlog grows, if that is more than chance.
    pub fn reason(&self) -> Option<String> {
        let [_, second, third, fourth, last] = self.backlog;
        let (early, late) = (f64::midpoint(second, third), f64::midpoint(fourth, last));
        let grows = late > third * STILL && late > MATTERS * self.offered;
        let is_certain = self.error > 0.0 && late - early >= ERRORS * self.error;
        (grows && is_certain).then(|| self.described())
    }

    /// The growth of the backlog, if it grows in each part and keeps much of the offered load: in a list, whose
    /// arrivals are given, that is not chance, however few the flows are.
    fn steadily(&self) -> Option<String> {
        let keeps = self.backlog.is_sorted() && self.arrived_share() < ARRIVED;
        keeps.then(|| self.described())
    }

    fn described(&self) -> String {
        format!(
            "the backlog grows: from {} in the second fifth of the arrivals to {} in the last, with {} of the offered \
             bytes arrived at their end: more is offered than the fabric carries under this scheme, or run.duration is too \
             short for this load",
            percent(self.backlog[1] / self.offered),
            percent(self.backlog[PARTS - 1] / self.offered),
            percent(self.arrived_share())
        )
    }

    fn arrived_share(&self) -> f64 {
        if self.offered > 0.0 { 1.0 - self.remaining / self.offered } else { 1.0 }
    }
}

/// A flow whose bytes arrive evenly from its start to its end; without an end, none arrive.
struct Waiting {
    bytes: f64,
    start: f64,
    end: Option<f64>,
}

impl Waiting {
    /// Bytes that have not arrived at a time after the start.
    fn at(&self, time: f64) -> f64 {
        match self.end {
            None => self.bytes,
            Some(end) if end <= time => 0.0,
            Some(end) => self.bytes * (end - time) / (end - self.start),
        }
    }

    /// The integral of these from one time to another.
    fn between(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (from.max(self.start), self.end.map_or(to, |end| to.min(end)));
        if from >= to {
            return 0.0;
        }
        f64::midpoint(self.at(from), self.at(to)) * (to - from)
    }
}

fn seconds(time: Time) -> f64 {
    time.saturating_since(Time::ZERO).as_secs_f64()
}

/// The duration with three digits.
fn about(duration: Duration) -> Duration {
    let digits = duration.ps().checked_ilog10().unwrap_or_default().saturating_sub(2);
    let unit = 10_u64.pow(digits);
    Duration::from_ps(duration.ps().div_ceil(unit).saturating_mul(unit))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests;
