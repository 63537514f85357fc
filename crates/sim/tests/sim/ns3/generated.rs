//! Workloads like those of `make_cases.py`, with any seed. The random draws differ from Python's.

use weft_fabric::Fabric;
use weft_traffic::{Flow, Lane, Sizes, published};
use weft_units::{FlowId, HostId, Time};

use crate::ns3::case::{CLASSES, Input, read_fabric};
use crate::ns3::mersenne::Mersenne;

/// Web search (DCTCP) flow sizes, ending at 10 MB as in `make_cases.py`.
fn web_search_sizes() -> Sizes {
    let mut knots = published::named("web-search").unwrap().sizes().knots()[..11].to_vec();
    assert_eq!(knots[10].bytes, 10e6);
    knots[10].probability = 1.0;
    Sizes::new(knots).unwrap()
}

const HOSTS_PER_LEAF: usize = 5;
/// Total uplink capacity of `spine-leaf-4x4x5` in bits per second.
const UPLINKS_BPS: f64 = 16e9;

/// The kind of workload.
#[derive(Clone, Copy, Debug)]
pub enum Workload {
    /// 200 web-search flows between leaves, Poisson arrivals, at this uplink load.
    Web(f64),
    /// 2 MB from each host to another, and 20 flows of 200 kB.
    Permutation,
}

/// A kind of case, without seed and TCP.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Workload, fabric and scheme, as in case names.
    pub name: &'static str,
    pub workload: Workload,
}

/// All kinds of stored cases except the lone flows.
pub const KINDS: [Kind; 7] = [
    Kind { name: "web10.spine-leaf-4x4x5.single_path", workload: Workload::Web(0.1) },
    Kind { name: "web40.spine-leaf-4x4x5.ecmp", workload: Workload::Web(0.4) },
    Kind { name: "web40.spine-leaf-4x4x5.spray", workload: Workload::Web(0.4) },
    Kind { name: "web40.spine-leaf-4x4x5-deep.spray", workload: Workload::Web(0.4) },
    Kind { name: "permutation.fat-tree-4.single_path", workload: Workload::Permutation },
    Kind { name: "permutation.fat-tree-4.ecmp", workload: Workload::Permutation },
    Kind { name: "permutation.fat-tree-4.spray", workload: Workload::Permutation },
];

impl Kind {
    /// The scheme.
    pub fn scheme(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap()
    }

    /// The workload with this seed.
    pub fn input(&self, tcp: &str, seed: u64) -> Input {
        let fabric = read_fabric(self.name.split('.').nth(1).unwrap());
        // Complemented, so that spraying draws different numbers from those that made the flows.
        let mut draws = Draws(Mersenne::new(!seed));
        let flows = match self.workload {
            Workload::Web(load) => draws.web_search(&fabric, load),
            Workload::Permutation => draws.permutation(&fabric),
        };
        Input { flows: number(flows), fabric, scheme: self.scheme().to_owned(), tcp: tcp.to_owned(), seed }
    }
}

/// A flow before it has a number: source, destination, bytes, start.
type Drawn = (usize, usize, u64, Time);

struct Draws(Mersenne);

impl Draws {
    /// Uniform in `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.0.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    fn size(&mut self, sizes: &Sizes) -> u64 {
        let u = self.unit();
        let above = sizes.knots().partition_point(|knot| knot.probability <= u);
        let (low, high) = (sizes.knots()[above - 1], sizes.knots()[above]);
        let share = (high.bytes - low.bytes) * (u - low.probability) / (high.probability - low.probability);
        ((low.bytes + share) as u64).max(1)
    }

    fn web_search(&mut self, fabric: &Fabric, load: f64) -> Vec<Drawn> {
        let sizes = web_search_sizes();
        let gap_s = sizes.mean() * 8.0 / (load * UPLINKS_BPS);
        let (hosts, mut now_s) = (fabric.host_count(), 0.0);
        let mut flow = |_| {
            now_s -= (1.0 - self.unit()).ln() * gap_s;
            let src = self.below(hosts);
            let mut dst = src;
            while dst / HOSTS_PER_LEAF == src / HOSTS_PER_LEAF {
                dst = self.below(hosts);
            }
            (src, dst, self.size(&sizes), nanoseconds(now_s * 1e9))
        };
        (0..200).map(&mut flow).collect()
    }

    fn permutation(&mut self, fabric: &Fabric) -> Vec<Drawn> {
        let hosts = fabric.host_count();
        let order = loop {
            let mut order: Vec<_> = (0..hosts).collect();
            (1..hosts).rev().for_each(|last| order.swap(last, self.below(last + 1)));
            if order.iter().enumerate().all(|(src, &dst)| src != dst) {
                break order;
            }
        };
        let long = |(src, dst)| (src, dst, 2_000_000, nanoseconds(self.unit() * 1e3));
        let mut flows: Vec<_> = order.into_iter().enumerate().map(long).collect();
        for _ in 0..20 {
            let src = self.below(hosts);
            let dst = (src + 1 + self.below(hosts - 1)) % hosts;
            flows.push((src, dst, 200_000, nanoseconds(self.unit() * 40e6)));
        }
        flows.sort_by_key(|&(.., start)| start);
        flows
    }
}

fn nanoseconds(ns: f64) -> Time {
    Time::from_ps(ns as u64 * 1000)
}

/// Numbers the flows, and each host's source ports from 10000 on.
fn number(drawn: Vec<Drawn>) -> Vec<Flow> {
    let mut used = [0; 64];
    let flow = |(id, (src, dst, bytes, start)): (usize, Drawn)| {
        used[src] += 1;
        Flow {
            id: FlowId(id as u32),
            src: HostId(src as u32),
            dst: HostId(dst as u32),
            sport: 9_999 + used[src],
            dport: 80,
            class: size_class(bytes),
            dscp: 0,
            lane: Lane::Any,
            bytes,
            start,
        }
    };
    drawn.into_iter().enumerate().map(flow).collect()
}

/// The index in [`CLASSES`]: a mouse below 10 kB, an elephant above 1 MB.
fn size_class(bytes: u64) -> u16 {
    let class = u16::from(bytes >= 10_000) + u16::from(bytes > 1_000_000);
    debug_assert!(usize::from(class) < CLASSES.len());
    class
}
