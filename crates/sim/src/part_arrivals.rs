//! [`PartArrivals`]: when each part of the flows in parts had arrived.

use std::sync::atomic::{AtomicU64, Ordering};

use weft_traffic::Parts;
use weft_units::Time;

/// No time.
const NEVER: u64 = u64::MAX;
/// Not recorded.
const NONE: u32 = u32::MAX;

/// The times at which parts had arrived. Only the partition of a flow's destination writes those of the flow.
#[derive(Default)]
pub struct PartArrivals {
    /// The place of each flow's first part. Empty if nothing is recorded.
    first: Vec<u32>,
    /// In picoseconds, by part.
    at: Vec<AtomicU64>,
}

impl PartArrivals {
    /// No arrival yet of the parts of `flows` flows: those of the first flows, as long as there is room for all of a flow.
    pub fn of(parts: &Parts, flows: usize) -> Self {
        let mut this = Self::default();
        if parts.is_empty() {
            return this;
        }
        this.first = vec![NONE; flows];
        let mut count = 0_u32;
        for (flow, first) in (0..).zip(&mut this.first) {
            let Some(series) = parts.of(flow) else { continue };
            if series.count > Parts::MOST_RECORDED - count {
                break;
            }
            *first = count;
            count += series.count;
        }
        this.at = std::iter::repeat_with(|| AtomicU64::new(NEVER)).take(count as usize).collect();
        this
    }

    fn place(&self, flow: u32, number: u32) -> Option<&AtomicU64> {
        let first = self.first.get(flow as usize).filter(|first| **first != NONE)?;
        self.at.get((first + number) as usize)
    }

    /// Part `number` of a flow has arrived.
    pub fn add(&self, flow: u32, number: u32, now: Time) {
        if let Some(place) = self.place(flow, number) {
            place.store(now.ps(), Ordering::Relaxed);
        }
    }

    /// When part `number` of a flow had arrived, if that is known.
    pub fn get(&self, flow: u32, number: u32) -> Option<Time> {
        let at = self.place(flow, number)?.load(Ordering::Relaxed);
        (at != NEVER).then(|| Time::from_ps(at))
    }

    /// The flows whose parts are recorded.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.first).filter(|(_, first)| **first != NONE).map(|(flow, _)| flow)
    }
}
