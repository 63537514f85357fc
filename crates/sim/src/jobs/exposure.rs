//! The exposed communication of ranks: the time in which none of a rank's processors computes, and a flow from or to it
//! is under way.
//!
//! ASTRA-sim calls all time exposed in which the accelerator does not compute (`Workload::report`: the end minus
//! `tics_gpu_ops`); here, time without a flow is idle.

use weft_units::{Duration, HostId, Time};

use super::records::RankRecord;

/// A time in which a rank computes, or has a flow under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    pub(crate) host: HostId,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) is_compute: bool,
}

/// The times of a job's ranks, summed over them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RankSums {
    /// The number of ranks.
    pub ranks: u64,
    /// The sum of [`RankRecord::compute`].
    pub compute: Duration,
    /// The sum of [`RankRecord::exposed`].
    pub exposed: Duration,
    /// The sum of [`RankRecord::idle`].
    pub idle: Duration,
    /// The longest [`RankRecord::exposed`].
    pub longest_exposed: Duration,
}

impl RankSums {
    /// Adds a rank.
    pub fn add(&mut self, rank: &RankRecord) {
        self.ranks += 1;
        self.compute += rank.compute;
        self.exposed += rank.exposed;
        self.idle += rank.idle;
        self.longest_exposed = self.longest_exposed.max(rank.exposed);
    }
}

/// The time of each rank of a job from `start` to `end`, in the order of their hosts. No rank is busy outside of it.
pub(crate) fn ranks(job: usize, start: Time, end: Time, mut busy: Vec<Busy>) -> Vec<RankRecord> {
    busy.sort_unstable_by_key(|busy| (busy.host, busy.start));
    let of_hosts = busy.chunk_by(|one, other| one.host == other.host);
    let records = of_hosts.map(|of| {
        let compute = covered(of.iter().filter(|busy| busy.is_compute));
        let active = covered(of.iter());
        let idle = end.saturating_since(start).saturating_sub(active);
        RankRecord { job, host: of[0].host, compute, exposed: active.saturating_sub(compute), idle }
    });
    records.collect()
}

/// The time that these cover, in order of start.
fn covered<'a>(busy: impl Iterator<Item = &'a Busy>) -> Duration {
    let (mut sum, mut until) = (Duration::ZERO, Time::ZERO);
    for Busy { start, end, .. } in busy {
        sum += end.saturating_since((*start).max(until));
        until = until.max(*end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_divided_by_what_a_rank_does_whatever_overlaps() {
        let us = |us| Time::ZERO + Duration::from_us(us);
        let busy = |host, start, end, is_compute| Busy {
            host: HostId(host),
            start: us(start),
            end: us(end),
            is_compute,
        };
        let all = vec![
            busy(1, 30, 50, false),
            busy(0, 10, 20, true),
            busy(0, 15, 30, false),
            busy(0, 18, 26, false),
            busy(0, 28, 29, true),
            busy(1, 20, 40, false),
        ];
        let parts = ranks(3, us(10), us(60), all);
        let spell =
            |rank: &RankRecord| [rank.compute, rank.exposed, rank.idle].map(|part| part.ps() / 1_000_000);
        assert_eq!(parts.iter().map(spell).collect::<Vec<_>>(), [[11, 9, 30], [0, 30, 20]]);
        assert_eq!(parts.iter().map(|rank| (rank.job, rank.host.0)).collect::<Vec<_>>(), [(3, 0), (3, 1)]);
    }
}
