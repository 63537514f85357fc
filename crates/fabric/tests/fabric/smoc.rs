//! The fabrics of the smoc study can be read and have the paper's paths.

use std::fs;
use std::path::Path as File;

use weft_fabric::measure::bisection;
use weft_fabric::path_set::{Graph, Order};
use weft_fabric::{Fabric, LinkSpec, read};
use weft_units::Rate;

fn mbps(number: u64) -> Rate {
    Rate::from_bps(number * 1_000_000)
}

fn fabrics() -> Vec<(String, Fabric)> {
    let directory = File::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/smoc");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let fabrics = files.filter_map(|file| {
        let name = file.file_name()?.to_str()?.strip_suffix(".fabric.toml")?.to_owned();
        let fabric = read::file(file.to_str()?, &fs::read(&file).unwrap(), &LinkSpec::default());
        Some((name, fabric.unwrap_or_else(|error| panic!("{}: {error}", file.display()))))
    });
    fabrics.collect()
}

fn fabric(name: &str) -> Fabric {
    fabrics().into_iter().find(|(found, _)| found == name).unwrap().1
}

/// The paths between the switches of the two hosts, as names.
fn paths(fabric: &Fabric, order: Order) -> Vec<String> {
    let (graph, places) = Graph::of_switches(fabric, |link| fabric.link(link).up);
    let [from, to] = ["a", "b"].map(|host| {
        let switch = fabric.edge_switch(fabric.host_named(host).unwrap()).unwrap();
        places.node(switch).unwrap()
    });
    let name = |&node: &u32| fabric.node(places.switch(node)).name.clone();
    let paths = graph.path_set(from, to, order);
    paths.map(|path| path.nodes.iter().map(name).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_one_is_two_hosts_on_links_of_100_mbps() {
    let fabrics = fabrics();
    assert_eq!(fabrics.len(), 3);
    for (name, fabric) in fabrics {
        let hosts: Vec<_> = fabric.hosts().iter().map(|&host| fabric.node(host).name.as_str()).collect();
        assert_eq!(hosts, ["a", "b"], "{name}");
        for link in fabric.links() {
            let to_host = fabric.node(link.from).is_host() || fabric.node(link.to).is_host();
            assert_eq!(link.rate, if to_host { mbps(1_000) } else { mbps(100) }, "{name}");
        }
    }
}

#[test]
fn every_one_has_the_paths_of_the_paper_and_its_rate() {
    for (name, switches, expected, rate) in [
        ("topology1", 6, &["s1 s3 s2", "s1 s4 s2", "s1 s5 s2", "s1 s6 s2"][..], 400),
        ("topology2", 6, &["s1 s3 s2", "s1 s4 s6 s2", "s1 s5 s6 s2"], 200),
        ("topology-wan", 4, &["s1 s2", "s1 s3 s4 s2"], 200),
    ] {
        let fabric = fabric(name);
        for order in Order::ALL {
            assert_eq!(paths(&fabric, order), expected, "{name}");
        }
        assert_eq!((fabric.switch_count(), bisection(&fabric).rate), (switches, mbps(rate)), "{name}");
    }
}

#[test]
fn the_two_paths_of_the_wide_area_have_180_ms() {
    let fabric = fabric("topology-wan");
    let (graph, places) = Graph::of_switches(&fabric, |_| true);
    for path in graph.path_set(0, 1, Order::Paper) {
        let delays =
            places.links(&fabric, &path).into_iter().map(|link| fabric.link(link).delay.as_secs_f64());
        assert!((2.0 * delays.sum::<f64>() - 0.18).abs() < 1e-9);
    }
}
