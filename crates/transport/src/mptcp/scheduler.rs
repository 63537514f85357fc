//! [`Scheduler`]: which subflow sends the next data.

use super::Config;
use super::subflow::Subflow;
use crate::config::MptcpScheduler;

/// State between two choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scheduler {
    /// The subflow at which the next turn starts.
    turn: usize,
}

impl Scheduler {
    /// A subflow that would send `len` bytes at once; `None` if none has room.
    #[inline]
    pub(crate) fn choose(&mut self, cfg: &Config, subflows: &[Subflow], len: u32) -> Option<usize> {
        match cfg.scheduler() {
            MptcpScheduler::LowestRtt => {
                let with_room =
                    subflows.iter().enumerate().filter(|(_, subflow)| subflow.has_room(&cfg.subflow, len));
                with_room.min_by_key(|(_, subflow)| subflow.endpoint.srtt()).map(|(number, _)| number)
            }
            MptcpScheduler::RoundRobin => {
                let count = subflows.len();
                let numbers = (0..count).map(|i| (self.turn + i) % count);
                let chosen =
                    numbers.into_iter().find(|&number| subflows[number].has_room(&cfg.subflow, len))?;
                self.turn = chosen + 1;
                Some(chosen)
            }
        }
    }

    /// The subflow for segments without data: the usable one with the lowest round-trip time.
    pub(crate) fn best(subflows: &[Subflow]) -> Option<usize> {
        let usable = subflows.iter().enumerate().filter(|(_, subflow)| subflow.is_usable());
        usable.min_by_key(|(_, subflow)| subflow.endpoint.srtt()).map(|(number, _)| number)
    }
}
