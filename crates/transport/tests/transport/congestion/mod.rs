//! RoCE's congestion controls by window and delay: senders that share one line.

mod bottleneck;
mod hpcc;
mod swift;
mod timely;

use weft_transport::ProtocolConfig as _;
use weft_transport::roce::Config;
use weft_units::Duration;

#[test]
fn parameters_that_contradict_each_other_are_named() {
    let said = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config.validate().expect_err("a contradiction").to_string()
    };
    for (said, expected) in [
        (said(|config| config.hpcc.hops = 9), "hpcc_hops = 9: expected 1 to 8"),
        (
            said(|config| config.timely.high = Duration::from_us(40)),
            "timely_low = 50 us: expected at most timely_high",
        ),
        (
            said(|config| config.swift.flow_max = 0.1),
            "swift_flow_min = 0.1: expected less than swift_flow_max",
        ),
        (
            said(|config| config.swift.max_window = 0.005),
            "swift_min_window = 0.01: expected at most swift_max_window",
        ),
    ] {
        assert_eq!(said, expected);
    }
}
