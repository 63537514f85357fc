//! Speed of path sets, for `make bench-paths`: reads a graph as JSON, prints sets per second and percentiles of
//! the time of one.
//!
//! ```sh
//! echo '{"nodes": 3, "edges": [[0, 1], [1, 2], [0, 2]], "pairs": [[0, 2]], "passes": 1000, "count": 8}' |
//!     cargo run --release -p weft-fabric --example path_sets
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::io;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use weft_fabric::path_set::{Graph, Order};

/// The request.
#[derive(Deserialize)]
struct Question {
    nodes: usize,
    edges: Vec<(u32, u32)>,
    /// The pairs of nodes.
    pairs: Vec<(u32, u32)>,
    /// Repetitions of each pair.
    passes: usize,
    /// Paths per set.
    count: usize,
}

#[derive(Serialize)]
struct Figures {
    per_second: f64,
    p50_us: f64,
    p99_us: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Question { nodes, edges, pairs, passes, count } = serde_json::from_reader(io::stdin().lock())?;
    if pairs.is_empty() || passes == 0 {
        return Err("there is nothing to measure: no pairs, or no passes".into());
    }
    let graph = Graph::new(nodes, &edges);
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    // Orders alternate, so that disturbances affect both.
    for _ in 0..passes {
        for order in Order::ALL {
            let times = times.entry(order.to_string()).or_default();
            for &(from, to) in &pairs {
                let start = Instant::now();
                graph.path_set(from, to, order).take(count).for_each(|path| drop(black_box(path)));
                times.push(start.elapsed().as_nanos() as u64);
            }
        }
    }
    let figures = times.into_iter().map(|(order, mut times)| {
        times.sort_unstable();
        let at = |share: f64| times[(share * (times.len() - 1) as f64).round() as usize] as f64 / 1e3;
        let total = times.iter().sum::<u64>() as f64 / 1e9;
        (order, Figures { per_second: times.len() as f64 / total, p50_us: at(0.5), p99_us: at(0.99) })
    });
    println!("{}", serde_json::to_string(&figures.collect::<BTreeMap<_, _>>())?);
    Ok(())
}
