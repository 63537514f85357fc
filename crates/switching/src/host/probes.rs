//! [`Probes`]: the probes and the answers to probes that one end of a connection sends (Hermes, section 3.1).
//!
//! A probe is a frame of its own with its path and the time in its overlay; the answer repeats both, and says whether the
//! probe was marked.

use weft_units::{Duration, Time};

use super::path_states::PathStates;

/// Answers that can wait.
const MOST_ANSWERS: usize = 8;
/// In the first byte of the overlay.
const PROBE: u8 = 1;
const ANSWER: u8 = 2;

/// A received frame that is not data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probed {
    /// A probe, which is answered.
    Asked,
    /// The answer to a probe of this end: its path, whether it was marked, and how long both took.
    Answered(usize, bool, Duration),
}

/// The frames that wait to be sent.
#[derive(Default)]
pub(crate) struct Probes {
    /// Paths to probe.
    paths: Vec<u8>,
    /// Overlays of answers.
    answers: Vec<[u8; 8]>,
    /// No probes are due before this time.
    quiet_until: Time,
}

fn stamp(now: Time) -> u32 {
    (now.ps() / 1000) as u32
}

impl Probes {
    /// A frame with `overlay` has arrived, with a congestion mark or without; `None` if it carries data.
    pub(crate) fn received(&mut self, overlay: [u8; 8], is_marked: bool, now: Time) -> Option<Probed> {
        let [kind, path, marked, _, sent @ ..] = overlay;
        match kind {
            PROBE => {
                let [a, b, c, d] = sent;
                if self.answers.len() < MOST_ANSWERS {
                    self.answers.push([ANSWER, path, marked | u8::from(is_marked), 0, a, b, c, d]);
                }
                Some(Probed::Asked)
            }
            ANSWER => {
                let lasted = stamp(now).wrapping_sub(u32::from_be_bytes(sent));
                Some(Probed::Answered(path.into(), marked > 0, Duration::from_ns(lasted.into())))
            }
            _ => None,
        }
    }

    /// Whether there may be a frame to send.
    #[inline]
    pub(crate) fn are_due(&self, now: Time) -> bool {
        !self.answers.is_empty() || !self.paths.is_empty() || now >= self.quiet_until
    }

    /// Takes the paths that are due from `states`, at an `interval`.
    pub(crate) fn plan(&mut self, states: &mut PathStates, interval: Duration, now: Time) {
        self.quiet_until = states.probes(interval, now, &mut self.paths);
    }

    /// The path, out of `count`, and the overlay of the next frame; answers take the path `own`.
    pub(crate) fn next(&mut self, own: usize, count: usize, now: Time) -> Option<(usize, [u8; 8])> {
        if let Some(answer) = self.answers.pop() {
            return Some((own, answer));
        }
        let path = usize::from(self.paths.pop()?) % count.max(1);
        let [a, b, c, d] = stamp(now).to_be_bytes();
        Some((path, [PROBE, path as u8, 0, 0, a, b, c, d]))
    }

    /// Forgets all outstanding probes, because paths have changed.
    pub(crate) fn forget(&mut self) {
        self.paths.clear();
        self.answers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    #[test]
    fn a_probe_comes_back_with_its_mark_and_the_time_that_it_took() {
        // The clock in the overlay has wrapped around.
        let start = Time::ZERO + Duration::from_ns((1 << 32) - 5_000);
        let (mut near, mut far, mut states) = (Probes::default(), Probes::default(), PathStates::default());
        states.set_count(3, 7);
        near.plan(&mut states, US(500), start);
        for (is_marked, back) in [(true, 20), (false, 3)] {
            let (path, probe) = near.next(0, 3, start).expect("two paths are probed");
            assert_eq!(far.received(probe, is_marked, start + US(1)), Some(Probed::Asked));
            let (own, answer) = far.next(2, 3, start).expect("it is answered");
            assert_eq!(own, 2, "the other end's own path");
            let found = near.received(answer, false, start + US(back));
            assert_eq!(found, Some(Probed::Answered(path, is_marked, US(back))));
        }
        assert_eq!(near.next(0, 3, start), None);
        assert!(!near.are_due(start + US(499)) && near.are_due(start + US(500)));
    }

    #[test]
    fn eight_answers_wait_and_none_after_paths_have_changed() {
        let mut probes = Probes::default();
        let probe = [PROBE, 1, 0, 0, 0, 0, 0, 0];
        for _ in 0..20 {
            probes.received(probe, false, Time::ZERO);
        }
        assert_eq!(std::iter::from_fn(|| probes.next(0, 2, Time::ZERO)).count(), MOST_ANSWERS);
        probes.received(probe, false, Time::ZERO);
        probes.forget();
        assert_eq!(probes.next(0, 2, Time::ZERO), None);
        assert_eq!(probes.received([0; 8], true, Time::ZERO), None, "data");
    }
}
