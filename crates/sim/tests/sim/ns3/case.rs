//! The stored cases: fabric, flows and ns-3's measurements, read from `validation/ns3`.
//!
//! The files are ours and under version control, so an invalid line panics with that line instead of
//! returning an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use weft_fabric::{Fabric, FabricBuilder, Limit, LinkSpec, Overhead, QueueSpec};
use weft_traffic::{Flow, Lane};
use weft_units::{Duration, FlowId, HostId, Rate, Time};

/// One row of `cases/runs.csv`.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<workload>.<fabric>.<scheme>.<tcp>`.
    pub name: String,
    pub fabric: String,
    pub flows: String,
    pub scheme: String,
    pub tcp: String,
    pub seed: u64,
}

/// Flow classes by size; a flow's class is an index into this array.
pub const CLASSES: [&str; 3] = ["mouse", "rabbit", "elephant"];

/// The inputs of one run, from a stored case or generated.
pub struct Input {
    pub fabric: Fabric,
    pub flows: Vec<Flow>,
    pub scheme: String,
    pub tcp: String,
    pub seed: u64,
}

/// The outcome of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// From connect() to the last byte at the receiving application; `None`: not finished.
    pub fct: Option<Duration>,
    pub retransmitted: u64,
    pub timeouts: u64,
}

impl Case {
    /// Every case, in the order of the table.
    pub fn all() -> Vec<Self> {
        let case = |row: &[&str]| Self {
            name: row[0].to_owned(),
            fabric: row[1].to_owned(),
            flows: row[2].to_owned(),
            scheme: row[3].to_owned(),
            tcp: row[4].to_owned(),
            seed: number(row[5]),
        };
        rows("cases/runs.csv").iter().skip(1).map(|row| case(&split(row))).collect()
    }

    /// The workload without its seed.
    pub fn workload(&self) -> &str {
        self.flows.rsplit_once('-').map_or(&self.flows, |(workload, _)| workload)
    }

    /// Cases that differ only in their seed have the same group.
    pub fn group(&self) -> String {
        format!("{}.{}.{}.{}", self.workload(), self.fabric, self.scheme, self.tcp)
    }

    /// The fabric and the flows, read from the files.
    pub fn input(&self) -> Input {
        let fabric = read_fabric(&self.fabric);
        let flows = read_flows(&self.flows, &fabric);
        Input { fabric, flows, scheme: self.scheme.clone(), tcp: self.tcp.clone(), seed: self.seed }
    }

    /// ns-3's measurements, by flow.
    pub fn reference(&self) -> BTreeMap<FlowId, Outcome> {
        let outcome = |row: &String| {
            let [id, fct, _, retransmitted, timeouts] = split(row)[..] else { panic!("{row}") };
            let fct = (!fct.is_empty()).then(|| Duration::from_ps(number(fct)));
            let outcome = Outcome { fct, retransmitted: number(retransmitted), timeouts: number(timeouts) };
            (FlowId(number(id) as u32), outcome)
        };
        rows(&format!("reference/{}.csv", self.name)).iter().skip(1).map(outcome).collect()
    }
}

/// A fabric, with nodes and ports in the order of the file.
pub fn read_fabric(name: &str) -> Fabric {
    let mut builder = FabricBuilder::new(name);
    for row in rows(&format!("cases/{name}.fabric.csv")) {
        match split(&row)[..] {
            ["node", name, "host"] => drop(builder.add_host(name, 0, None).unwrap()),
            ["node", name, "switch"] => drop(builder.add_switch(name, 1, None).unwrap()),
            ["link", a, b, rate, delay, queue] => {
                let link = LinkSpec::new(Rate::from_bps(number(rate)), Duration::from_ps(number(delay)))
                    .with_queue(QueueSpec::fifo(Limit::Packets(number(queue) as u32)))
                    .with_overhead(Overhead::Ppp);
                let (a, b) = (builder.find(a).unwrap(), builder.find(b).unwrap());
                builder.connect(a, b, &link).unwrap();
            }
            _ => panic!("{name}: {row}"),
        }
    }
    builder.build().unwrap()
}

/// The flows of a file in order of start.
fn read_flows(file: &str, fabric: &Fabric) -> Vec<Flow> {
    let host = |name: &str| -> HostId {
        let node = fabric.node_named(name).unwrap_or_else(|| panic!("{file}: {name}"));
        fabric.node(node).host.unwrap()
    };
    let flow = |row: &String| {
        let [id, src, dst, bytes, start, sport, dport, class] = split(row)[..] else { panic!("{row}") };
        Flow {
            id: FlowId(number(id) as u32),
            src: host(src),
            dst: host(dst),
            sport: number(sport) as u16,
            dport: number(dport) as u16,
            class: CLASSES.iter().position(|known| *known == class).unwrap() as u16,
            dscp: 0,
            lane: Lane::Any,
            bytes: number(bytes),
            start: Time::from_ps(number(start)),
        }
    };
    let mut flows: Vec<_> = rows(&format!("cases/{file}.flows.csv")).iter().skip(1).map(flow).collect();
    flows.sort_by_key(|flow| (flow.start, flow.id));
    flows
}

fn rows(path: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns3").join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}

fn split(row: &str) -> Vec<&str> {
    row.split(',').collect()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
