//! An explanation as JSON. Times are picoseconds since the flow's start.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_units::{LinkId, Time};

use super::connection::{Direction, Fate, Journey};
use super::explanation::Explanation;
use super::split::Cause;
impl Explanation {
    /// The flow, the waiting of its data packets by link, the parts of its time with their sums by cause, the link to blame, and,
    /// with `packets`, its packets and its window.
    pub fn json(&self, plan: &Plan, with_packets: bool) -> Value {
        let (fabric, flow) = (&plan.fabric, &self.record.flow);
        let since = |time: Time| time.saturating_since(flow.start).ps();
        let name = |link: LinkId| fabric.link_label(link);
        let mut value = json!({
            "flow": flow.id.0,
            "src": fabric.host_name(flow.src),
            "dst": fabric.host_name(flow.dst),
            "sport": flow.sport,
            "dport": flow.dport,
            "class": plan.traffic.classes[usize::from(flow.class)],
            "bytes": flow.bytes,
            "start_ps": flow.start.ps(),
            "fct_ps": self.record.end.map(since),
            "ideal_fct_ps": self.record.ideal.map(|ideal| ideal.ps()),
            "retransmissions": self.record.retransmissions,
            "timeouts": self.record.timeouts,
            "waits": self.waits().into_iter().map(|(link, [packets, ps])| json!({
                "link": name(link),
                "packets": packets,
                "ps": ps,
            })).collect::<Vec<_>>(),
            "path": self.record.path.iter().map(|link| name(*link)).collect::<Vec<_>>(),
            "parts": self.parts.iter().map(|part| json!({
                "from": since(part.from),
                "to": since(part.to),
                "cause": part.cause.name(),
                "link": part.cause.link().map(name),
                "direction": part.cause.direction().map(Direction::name),
                "lost": part.cause.loss().map(|loss| loss.packet_type.name()),
            })).collect::<Vec<_>>(),
            "sums": self.longest(Some).into_iter().map(|(cause, ps)| json!({
                "cause": cause.name(),
                "link": cause.link().map(name),
                "direction": cause.direction().map(Direction::name),
                "lost": cause.loss().map(|loss| loss.packet_type.name()),
                "ps": ps,
            })).collect::<Vec<_>>(),
            "blame": self.longest(blamed).first().map(|((link, direction), ps)| json!({
                "link": name(*link),
                "direction": direction.name(),
                "ps": ps,
            })),
        });
        if with_packets && let Some(object) = value.as_object_mut() {
            object.insert("packets".to_owned(), self.packets(fabric, since));
            // On a connection that was open before, the flow starts with the window of that time.
            let windows = self.connection.windows_between(flow.start, self.end);
            object
                .insert("windows".to_owned(), windows.map(|(at, bytes)| json!([since(at), bytes])).collect());
        }
        value
    }

    /// The sums of the times by a key of their causes, the largest first.
    fn longest<K: Ord + Copy>(&self, key: impl Fn(Cause) -> Option<K>) -> Vec<(K, u64)> {
        let mut sums = BTreeMap::<K, u64>::new();
        for (cause, ps) in &self.sums.causes {
            if let Some(key) = key(*cause) {
                *sums.entry(key).or_default() += ps;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, ps)| std::cmp::Reverse(*ps));
        sums
    }

    /// The data packets that waited at each link, the longest first.
    fn waits(&self) -> Vec<(LinkId, [u64; 2])> {
        let mut waits: Vec<_> = self.sums.waits.iter().map(|(link, waits)| (*link, *waits)).collect();
        waits.sort_by_key(|(_, [_, ps])| std::cmp::Reverse(*ps));
        waits
    }

    /// The packets of the flow's time: `[sent, ended, first, next, subflow, kind, link]`, where `link` lost the packet.
    fn packets(&self, fabric: &Fabric, since: impl Fn(Time) -> u64) -> Value {
        let journeys = self.connection.journeys.iter();
        let own = journeys.filter(|journey| (self.record.flow.start..=self.end).contains(&journey.sent()));
        own.map(|journey| {
            let [first, next] = journey.acknowledges.map_or(journey.positions, |next| [next, next]);
            json!([
                since(journey.sent()),
                journey.end.map(|(at, _)| since(at)),
                first,
                next,
                journey.subflow,
                kind(journey),
                journey.loss().and_then(|loss| loss.link).map(|link| fabric.link_label(link)),
            ])
        })
        .collect()
    }
}

/// What a packet is, or became.
fn kind(journey: &Journey) -> &'static str {
    match (journey.end, journey.is_from_source) {
        (Some((_, Fate::Lost(..))), true) => "lost",
        (Some((_, Fate::Lost(..))), false) => "lost answer",
        (Some((_, Fate::Spent)), _) => "copy",
        (_, false) => "answer",
        (_, true) if journey.is_handshake() => "handshake",
        (_, true) if !journey.is_needed => "control",
        (_, true) if journey.repeats.is_some() => "repeated",
        (_, true) if journey.is_marked => "marked",
        (_, true) => "data",
    }
}

/// The link to blame for time with a cause, and the direction of the packets that waited there or were lost.
fn blamed(cause: Cause) -> Option<(LinkId, Direction)> {
    cause.link().zip(cause.direction())
}
