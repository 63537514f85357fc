//! [`Draft`]: a flow before it has an id and ports, which depend on the flows that start earlier.

use std::collections::{BTreeMap, HashSet};

use weft_units::{FlowId, HostId, Time};

use crate::error::TrafficError;
use crate::flow::Flow;
use crate::lane::Lane;
use crate::places::Places;
use crate::ports::Ports;

/// A flow before sorting, without its id.
pub(crate) struct Draft {
    pub(crate) start: Time,
    pub(crate) src: HostId,
    pub(crate) dst: HostId,
    pub(crate) bytes: u64,
    pub(crate) class: u16,
    pub(crate) dscp: u8,
    pub(crate) ports: Option<(u16, u16)>,
    pub(crate) lane: Lane,
    /// The range of its source port, if that marks it as an elephant.
    pub(crate) marked: Option<(u16, u16)>,
}

/// The id that each draft gets.
pub(crate) fn ids(drafts: &[Draft]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..drafts.len() as u32).collect();
    order.sort_by_key(|draft| drafts[*draft as usize].start);
    let mut ids = vec![0; drafts.len()];
    for (id, draft) in (0..).zip(order) {
        ids[draft as usize] = id;
    }
    ids
}

/// The flows, in order of start.
pub(crate) fn flows(
    mut drafts: Vec<Draft>,
    ports: &Ports,
    places: &Places,
) -> Result<Vec<Flow>, TrafficError> {
    drafts.sort_by_key(|draft| draft.start);
    let mut marked = BTreeMap::<_, usize>::new();
    let numbered = drafts.iter().enumerate().map(|(id, draft)| {
        let (sport, dport) = draft.ports.unwrap_or_else(|| match draft.marked {
            None => ports.of(id),
            Some((first, last)) => {
                let count = marked.entry((first, last)).or_default();
                *count += 1;
                Ports::within(first, last, *count - 1)
            }
        });
        let Draft { start, src, dst, bytes, class, dscp, lane, .. } = *draft;
        Flow { id: FlowId(id as u32), src, dst, sport, dport, class, dscp, lane, bytes, start }
    });
    let flows: Vec<Flow> = numbered.collect();
    if drafts.iter().any(|draft| draft.ports.is_some()) {
        check_ports(&flows, places)?;
    }
    Ok(flows)
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
