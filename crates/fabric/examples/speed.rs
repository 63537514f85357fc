//! Time to build fabrics and look up next hops, and the size of the tables: `cargo run --release -p weft-fabric
//! --example speed`.

use std::hint::black_box;
use std::time::Instant;

use weft_fabric::measure::{bisection, diversity};
use weft_fabric::{EqualCost, Fabric, LinkSpec, SpanningTree, build, layout};
use weft_units::{HostId, NodeId};

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_secs_f64() * 1e3)
}

/// Nanoseconds of a lookup, over pairs in an order that prefetchers cannot predict.
fn lookup(fabric: &Fabric, paths: &EqualCost) -> f64 {
    let (nodes, hosts) = (fabric.nodes().len() as u64, fabric.host_count() as u64);
    let mut state = 1_u64;
    let mut pick = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = state >> 32;
        let mixed = high.wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF;
        (NodeId(((high * nodes) >> 32) as u32), HostId(((mixed * hosts) >> 32) as u32))
    };
    let pairs: Vec<_> = (0..1 << 16).map(|_| pick()).collect();
    let rounds = 100;
    let (sum, ms) = timed(|| {
        let mut sum = 0_usize;
        for _ in 0..rounds {
            for &(at, to) in &pairs {
                sum = sum.wrapping_add(paths.next_hops(at, to).first().map_or(0, |port| port.index()));
            }
        }
        sum
    });
    black_box(sum);
    ms * 1e6 / (rounds * pairs.len()) as f64
}

fn main() {
    let spec = LinkSpec::default();
    println!(
        "fat-tree   hosts  build ms  next hops ms  tables kB  lookup ns  tree ms  layout ms  diversity ms  bisection ms"
    );
    for k in [4, 8, 16, 32, 48] {
        let (fabric, build) = timed(|| build::fat_tree(k, &spec, &spec).expect("k is even"));
        let (paths, next_hops) = timed(|| EqualCost::compute(&fabric));
        let (_, tree) = timed(|| SpanningTree::compute(&fabric));
        let (_, points) = timed(|| layout::layout(&fabric));
        let (_, ways) = timed(|| diversity(&fabric, &paths, 1_000));
        let (_, waist) = timed(|| bisection(&fabric));
        println!(
            "k = {k:<5} {:>6} {build:>9.1} {next_hops:>13.1} {:>10.1} {:>10.2} {tree:>8.1} {points:>10.1} {ways:>13.1} {waist:>13.1}",
            fabric.host_count(),
            paths.table_bytes() as f64 / 1e3,
            lookup(&fabric, &paths),
        );
    }
}
