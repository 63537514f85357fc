//! An invalid setup is refused before the run starts.

use weft_fabric::{LinkSpec, build};

use crate::common::{MS, Trial};

fn refused(add: impl FnOnce(Trial<'_>) -> Trial<'_>) -> String {
    let link = LinkSpec::default();
    let fabric = build::spine_leaf(2, 2, 2, &link, &link).expect("a good fabric");
    let trial = add(Trial::linux(&fabric, "ecmp"));
    let run = std::panic::AssertUnwindSafe(|| trial.run());
    let panic = std::panic::catch_unwind(run).err().expect("the run does not start");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap()
}

#[test]
fn what_is_out_of_order_or_of_no_class_is_refused() {
    let (early, late) = (MS(1), MS(2));
    let flows = refused(|trial| trial.flow(0, 2, 1_000, late).flow(1, 3, 1_000, early));
    assert_eq!(flows, "flows must be in order of start time");
    let faults = refused(|trial| trial.fail(late, "l0-s0").heal(early, "l0-s0"));
    assert_eq!(faults, "faults must be in order of time");
    let class = refused(|trial| {
        let mut trial = trial.flow(0, 2, 1_000, early);
        trial.flows[0].class = 7;
        trial
    });
    assert_eq!(class, "every flow's class must be below 1");
}
