//! An invalid setup is refused before the run starts.

use weft_fabric::{LinkSpec, build};
use weft_units::Duration;

use crate::common::{Trial, profile, scheme};

fn refused(add: impl FnOnce(Trial<'_>) -> Trial<'_>) -> String {
    let link = LinkSpec::default();
    let fabric = build::spine_leaf(2, 2, 2, &link, &link).expect("a good fabric");
    let trial = add(Trial::new(&fabric, scheme("ecmp"), profile("linux")));
    let run = std::panic::AssertUnwindSafe(|| trial.run());
    let panic = std::panic::catch_unwind(run).err().expect("the run does not start");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap()
}

#[test]
fn flows_that_are_not_in_order_of_start_are_refused() {
    let (early, late) = (Duration::from_ms(1), Duration::from_ms(2));
    let message = refused(|trial| trial.flow(0, 2, 1_000, late).flow(1, 3, 1_000, early));
    assert_eq!(message, "flows must be in order of start time");
}

#[test]
fn faults_that_are_not_in_order_of_time_are_refused() {
    let (early, late) = (Duration::from_ms(1), Duration::from_ms(2));
    let message = refused(|trial| trial.fail(late, "l0-s0").heal(early, "l0-s0"));
    assert_eq!(message, "faults must be in order of time");
}

#[test]
fn a_flow_of_a_class_that_there_is_not_is_refused() {
    let message = refused(|mut trial| {
        trial = trial.flow(0, 2, 1_000, Duration::ZERO);
        trial.flows[0].class = 7;
        trial
    });
    assert_eq!(message, "every flow's class must be below 1");
}
