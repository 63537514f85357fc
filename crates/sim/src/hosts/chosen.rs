//! [`Chosen`]: the interfaces that sources have chosen, and [`OpenFlows`], by which they choose.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_units::HostId;

use crate::journal::FlowNumber;

/// The interfaces that the source of each flow has chosen by its load: numbers at the source and the destination. The source
/// writes them before the first packet leaves, the destination reads them when it arrives, in a later window.
#[derive(Default)]
pub struct Chosen(Vec<AtomicU32>);

impl Chosen {
    /// Of `flows` flows, none of which has chosen yet.
    pub fn new(flows: usize) -> Self {
        Self(std::iter::repeat_with(AtomicU32::default).take(flows).collect())
    }

    /// Whether sources choose by load.
    pub const fn is_used(&self) -> bool {
        !self.0.is_empty()
    }

    /// The choice for a flow, if there is one.
    pub fn get(&self, flow: FlowNumber) -> Option<[u8; 2]> {
        let both = self.0.get(flow as usize)?.load(Ordering::Relaxed).checked_sub(1)?;
        Some([(both >> 8) as u8, both as u8])
    }

    /// Enters the choice for a flow.
    pub fn set(&self, flow: FlowNumber, [src, dst]: [u8; 2]) {
        self.0[flow as usize].store((u32::from(src) << 8 | u32::from(dst)) + 1, Ordering::Relaxed);
    }
}

/// The open flows that the hosts of a partition send, subflows counted singly: by address of the source, and by source and
/// address of the destination.
#[derive(Default)]
pub struct OpenFlows {
    from: HashMap<HostId, u32>,
    towards: HashMap<(HostId, HostId), u32>,
}

impl OpenFlows {
    /// The open flows of `host` on its interface `own`, and those to the interface `other`.
    pub fn on(&self, host: HostId, own: HostId, other: HostId) -> u32 {
        let count = |count: Option<&u32>| count.copied().unwrap_or_default();
        count(self.from.get(&own)) + count(self.towards.get(&(host, other)))
    }

    /// A flow opens.
    pub fn open(&mut self, host: HostId, own: HostId, other: HostId) {
        *self.from.entry(own).or_default() += 1;
        *self.towards.entry((host, other)).or_default() += 1;
    }

    /// A flow has closed.
    pub fn close(&mut self, host: HostId, own: HostId, other: HostId) {
        if let Some(count) = self.from.get_mut(&own) {
            *count -= 1;
        }
        if let Entry::Occupied(mut count) = self.towards.entry((host, other)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
