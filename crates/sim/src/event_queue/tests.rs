//! Tests of [`EventQueue`].

use super::*;
use proptest::prelude::*;

fn queue_of(leaves: usize, end: Time) -> EventQueue {
    let mut queue = EventQueue::new(leaves);
    queue.set_end(end);
    queue
}

fn drain(queue: &mut EventQueue) -> Vec<(u64, Due)> {
    std::iter::from_fn(|| {
        let (time, due) = queue.first_leaf().or_else(|| queue.pop_timer())?;
        if let Due::Leaf(id) = due {
            queue.clear(id);
        }
        Some((time.ps(), due))
    })
    .collect()
}

proptest! {
    #[test]
    fn leaves_come_in_order_of_time_and_each_comes(
        times in prop::collection::vec(0_u64..3_000, 1..200),
    ) {
        let mut queue = queue_of(times.len(), Time::MAX);
        for (id, time) in times.iter().enumerate() {
            queue.set(id as u32, id as u32, Time::from_ps(*time));
        }
        let mut expected: Vec<_> =
            times.iter().enumerate().map(|(id, time)| (*time, Due::Leaf(id as u32))).collect();
        let due = drain(&mut queue);
        prop_assert!(due.is_sorted_by_key(|(time, _)| *time));
        expected.sort_by_key(|(time, due)| (*time, format!("{due:?}")));
        let mut sorted = due;
        sorted.sort_by_key(|(time, due)| (*time, format!("{due:?}")));
        prop_assert_eq!(sorted, expected);
    }

    #[test]
    fn distant_events_come_in_order_of_time_then_of_scheduling(
        times in prop::collection::vec(0_u64..1_000, 1..200),
    ) {
        let mut queue = queue_of(3, Time::MAX);
        for (id, time) in times.iter().enumerate() {
            queue.schedule(id as u32, Time::from_ps(*time), Order::Scheduled);
        }
        let mut expected: Vec<_> =
            times.iter().enumerate().map(|(id, time)| (*time, Due::Far(id as u32))).collect();
        expected.sort_by_key(|(time, _)| *time);
        prop_assert_eq!(drain(&mut queue), expected);
    }

    #[test]
    fn a_run_of_any_length_keeps_its_order(
        steps in prop::collection::vec((0_u32..8, 0_u64..40_000_000_000_000_000, 0_u8..3), 1..200),
    ) {
        let mut queue = queue_of(8, Time::MAX);
        let mut model = [Time::MAX; 8];
        let mut now = 0;
        for (id, delay, what) in steps {
            let time = Time::from_ps(now + delay);
            if what == 1 && time <= model[id as usize] {
                queue.bring_forward(id, id, time);
            } else {
                queue.set(id, id, time);
            }
            model[id as usize] = time;
            if what == 2 {
                let first = *model.iter().min().unwrap();
                if queue.is_distant() {
                    queue.renew(first, |id| (id, model[id as usize]));
                }
                let Some((time, Due::Leaf(id))) = queue.first_leaf() else { panic!("a leaf is due") };
                prop_assert_eq!((time, model[id as usize]), (first, first));
                queue.clear(id);
                model[id as usize] = Time::MAX;
                now = first.ps();
            }
        }
    }
}

/// How often each of `ids` is first when all are due at `instants` times, `gap` apart.
fn firsts(ids: &[u32], gap: u64, instants: u64) -> Vec<u64> {
    let mut queue = queue_of(90, Time::MAX);
    let mut first = vec![0; ids.len()];
    for instant in 1..=instants {
        let at = Time::from_ps(instant * gap);
        ids.iter().for_each(|&id| queue.set(id, id, at));
        let Some((_, Due::Leaf(id))) = queue.first_leaf() else { panic!("a leaf is due") };
        first[ids.iter().position(|other| *other == id).unwrap()] += 1;
        ids.iter().for_each(|&id| queue.clear(id));
    }
    first
}

#[test]
fn of_simultaneous_leaves_each_is_first_equally_often() {
    // Full frames at 100 Gbps, 10 Gbps, 1 Gbps and 10 Mbps, and a time whose lower bits are all zero.
    for gap in [123_040, 1_230_400, 12_304_000, 1_230_400_000, 1 << 30] {
        for ids in [&[3, 80][..], &[0, 1, 2], &[0, 1, 2, 3, 4], &[7, 8, 23, 24, 70, 71]] {
            let first = firsts(ids, gap, 6_000);
            let each = 6_000.0 / ids.len() as f64;
            // Five standard deviations of a fair choice.
            let spread = 5.0 * (each * (1.0 - 1.0 / ids.len() as f64)).sqrt();
            let fair = first.iter().all(|&count| (count as f64 - each).abs() < spread);
            assert!(fair, "every {gap} ps {ids:?} are first {first:?} times");
        }
    }
}

#[test]
fn nothing_is_due_after_the_limit() {
    let mut queue = queue_of(2, Time::from_ps(11));
    queue.set(0, 0, Time::from_ps(11));
    assert_eq!((queue.first_leaf(), queue.pop_timer(), queue.first()), (None, None, Time::from_ps(11)));
    queue.bring_forward(1, 1, Time::from_ps(10));
    assert_eq!(queue.first_leaf(), Some((Time::from_ps(10), Due::Leaf(1))));
}

#[test]
fn timers_come_before_leaves_of_their_time_and_before_distant_leaves() {
    let day = Time::from_ps(86_400_000_000_000_000);
    let mut queue = queue_of(2, Time::MAX);
    queue.set(0, 0, day);
    queue.schedule(7, Time::from_ps(5), Order::Scheduled);
    assert!(queue.is_distant());
    assert_eq!((queue.first(), queue.limit()), (Time::from_ps(5), Time::from_ps(5)));
    queue.bring_forward(1, 1, Time::from_ps(5));
    assert_eq!(drain(&mut queue), [(5, Due::Far(7)), (5, Due::Leaf(1))]);
    assert!(queue.is_distant() && queue.first() == Time::MAX);
    queue.clear(0);
    assert!(!queue.is_distant());
}
