//! A run does not grow with the flows that have finished.

use weft_sim::bench::bench;

#[test]
fn ten_times_as_many_finished_flows_need_no_more_memory() {
    let [few, many] =
        [0.02, 0.2].map(|seconds| bench("spine-leaf-4-4-20-short-flows", seconds, 1).expect("a case"));
    assert!(many.packet_hops > 8 * few.packet_hops, "{} and {} hops", few.packet_hops, many.packet_hops);
    assert!(many.live_flows < 100, "{} flows live", many.live_flows);
    assert!(many.state_bytes < 2 * few.state_bytes, "{} and {} bytes", few.state_bytes, many.state_bytes);
}
