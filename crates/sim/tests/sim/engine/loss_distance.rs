//! Ultra Ethernet that finds lost packets by the later ones that have arrived.

use weft_fabric::{Fabric, FabricBuilder, Limit, LinkSpec, QueueSpec};
use weft_scenario::LinkChange;
use weft_transport::uec::{Config, Congestion, EntropyChoice, LossDetection};
use weft_units::{Duration, Rate};

use crate::common::{MS, Outcome, Trial, US, link, scheme};

/// Two hosts at two switches with four paths between them. The last one has this delay, the others 1 us.
fn paths(delay: Duration) -> Fabric {
    let line = |gbps, delay| {
        LinkSpec::new(Rate::from_gbps(gbps), delay).with_queue(QueueSpec::fifo(Limit::Unlimited))
    };
    let mut builder = FabricBuilder::new("paths");
    let [left, right] = ["left", "right"].map(|name| builder.add_switch(name, 1, None).unwrap());
    for (name, switch) in [("h0", left), ("h1", right)] {
        let host = builder.add_host(name, 0, None).unwrap();
        builder.connect(host, switch, &line(100, US(1))).unwrap();
    }
    for path in 0..4 {
        let middle = builder.add_switch(format!("m{path}"), 2, None).unwrap();
        let delay = if path == 3 { delay } else { US(1) };
        builder.connect(left, middle, &line(400, delay)).unwrap();
        builder.connect(middle, right, &line(400, US(1))).unwrap();
    }
    builder.build().unwrap()
}

/// A window of 40 packets, more than the bandwidth-delay product, and a timeout of 5 ms.
fn config(loss_detection: LossDetection) -> Config {
    Config {
        congestion: Congestion::Fixed,
        window: 40,
        entropy_choice: EntropyChoice::Oblivious,
        rto: Some(MS(5)),
        loss_detection,
        ..Config::default()
    }
}

fn run(fabric: &Fabric, config: Config, loss: f64) -> Outcome {
    let change = LinkChange { loss: Some(loss), ..LinkChange::default() };
    Trial::new(fabric, scheme("ecmp"), config)
        .flow(0, 1, 10_000 * 4096, Duration::ZERO)
        .change(Duration::ZERO, "left-m1", change)
        .limit(MS(500))
        .run()
}

#[test]
fn on_a_link_that_loses_packets_they_are_sent_again_without_a_timeout() {
    let fabric = paths(US(1));
    let by_distance = run(&fabric, config(LossDetection::Distance), 0.01);
    let by_timeout = run(&fabric, config(LossDetection::Timeout), 0.01);
    let [distance, timeout] = [&by_distance, &by_timeout].map(|outcome| &outcome.flows[0]);
    // Of the packets on that link, a hundredth is lost.
    let expected = by_distance.packets(link(&fabric, "left-m1")) as f64 * 0.01;
    assert!(
        (distance.drops as f64 - expected).abs() < 4.0 * expected.sqrt(),
        "{} of {expected}",
        distance.drops
    );
    assert_eq!(distance.retransmissions, distance.drops, "each lost packet once");
    let [fast, slow] = [&by_distance, &by_timeout].map(|outcome| outcome.fct(0));
    let ideal = distance.ideal.unwrap();
    assert_eq!((distance.timeouts, timeout.timeouts), (0, timeout.drops));
    assert!(fast < ideal + ideal / 20, "{fast} of {ideal}");
    assert!(slow > fast + MS(5), "{slow}");
}

#[test]
fn packets_on_a_longer_path_are_not_sent_again_below_the_distance() {
    // In 5 us more, 14.9 packets leave, 3 in 4 of them on the other paths.
    let fabric = paths(US(6));
    let again = |distance| {
        let config = Config { loss_distance: distance, ..config(LossDetection::Distance) };
        let outcome = run(&fabric, config, 0.0);
        (outcome.flows[0].retransmissions, outcome.flows[0].timeouts)
    };
    assert_eq!([again(None), again(Some(20))], [(0, 0); 2]);
    let (spurious, timeouts) = again(Some(5));
    assert!(spurious > 1000 && timeouts == 0, "{spurious}");
}
