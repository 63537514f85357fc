//! Tests of [`Growth`], the judged time and the backlog.

use super::*;

#[test]
fn the_span_starts_at_the_last_event_that_leaves_enough_of_it() {
    let (at, span) = (Time::from_ps, (Time::from_ps(100), Time::from_ps(200)));
    for (events, expected) in [
        (vec![], (span, None)),
        (vec![0, 50, 100, 200, 250], (span, None)),
        (vec![120, 150], ((at(150), span.1), None)),
        (vec![120, 195], (span, Some(at(195)))),
        (vec![195, 220], (span, Some(at(195)))),
    ] {
        assert_eq!(
            after_events(events.iter().map(|event| at(*event)), span.0, span.1),
            expected,
            "{events:?}"
        );
    }
}

#[test]
fn durations_are_given_with_three_digits_up_to_the_longest() {
    let ps = [0, 7, 1_234, 999_999, u64::MAX].map(|ps| about(Duration::from_ps(ps)).ps());
    assert_eq!(ps, [0, 7, 1_240, 1_000_000, u64::MAX]);
}

#[test]
fn growth_counts_if_it_is_large_lasting_and_more_than_chance() {
    let judged =
        |backlog, error| Growth { backlog, offered: 1000.0, remaining: 200.0, error }.reason().is_some();
    assert!(judged([10.0, 60.0, 100.0, 150.0, 200.0], 23.0));
    assert!(!judged([10.0, 60.0, 100.0, 150.0, 200.0], 24.0), "below four standard errors");
    assert!(!judged([10.0, 60.0, 100.0, 105.0, 108.0], 1.0), "it no longer grows");
    assert!(!judged([0.1, 0.6, 1.0, 1.5, 1.9], 0.1), "too little to matter");
    let listed = |backlog, remaining| Growth { backlog, offered: 1000.0, remaining, error: 1e9 }.steadily();
    assert!(listed([10.0, 60.0, 100.0, 150.0, 200.0], 201.0).is_some());
    assert!(listed([10.0, 60.0, 100.0, 150.0, 200.0], 199.0).is_none(), "enough has arrived");
    assert!(listed([10.0, 60.0, 100.0, 200.0, 199.0], 201.0).is_none(), "not in each part");
    assert!(!judged([10.0, 60.0, 100.0, 150.0, 200.0], 0.0), "an unknown error");
    assert!(Growth { backlog: [0.0; 5], offered: 0.0, remaining: 0.0, error: 0.0 }.reason().is_none());
}

#[test]
fn what_waits_falls_evenly_from_start_to_end() {
    let flow = Waiting { bytes: 100.0, start: 1.0, end: Some(3.0) };
    for (from, to, expected) in [(0.0, 1.0, 0.0), (0.0, 2.0, 75.0), (2.0, 9.0, 25.0), (1.0, 3.0, 100.0)] {
        assert!((flow.between(from, to) - expected).abs() < 1e-9, "{from} to {to}");
    }
    let endless = Waiting { end: None, ..flow };
    assert!((endless.between(0.0, 4.0) - 300.0).abs() < 1e-9);
}
