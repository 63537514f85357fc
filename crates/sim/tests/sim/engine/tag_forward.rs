//! Tag-and-Forward in the engine: tags on links between switches, paths, and link failures.

use weft_fabric::{ClassSpec, Fabric, Limit, LinkSpec, QueueSpec, Scheduler, build};
use weft_switching::tag_forward::DESCRIPTOR;
use weft_switching::{DropReason, ParamKind, ParamValue, SchemeSpec};
use weft_units::{Duration, LinkId, Rate};

use crate::common::{MS, Outcome, Trial, US, gigabit, link, profile, scheme, scheme_with, word};

fn fat_tree() -> Fabric {
    let link = gigabit(US(5));
    build::fat_tree_with_routers(4, 1, &link, &link, &link).unwrap()
}

fn choosing(choice: &str) -> SchemeSpec {
    scheme_with("tag_forward", "choice", word(choice))
}

/// All pairs of servers, and of servers and the routers at the cores, exchange data; routers do not exchange any.
fn all_to_all(fabric: &Fabric, scheme: SchemeSpec) -> Outcome {
    let hosts = fabric.host_count() as u32;
    let pairs = (0..hosts).flat_map(|src| (0..hosts).map(move |dst| (src, dst)));
    let pairs = pairs.filter(|(src, dst)| src != dst && (*src < 16 || *dst < 16));
    let trial = Trial::new(fabric, scheme, profile("linux"));
    pairs.fold(trial, |trial, (src, dst)| trial.flow(src, dst, 20_000, Duration::ZERO)).run()
}

#[test]
fn every_pair_of_servers_and_routers_exchanges_its_bytes_whatever_way_is_chosen() {
    let fabric = fat_tree();
    let choice = DESCRIPTOR.params.iter().find(|param| param.name == "choice").expect("it is a parameter");
    let ParamKind::Choice(choices) = choice.kind else { panic!("{choice:?}") };
    for choice in choices {
        let outcome = all_to_all(&fabric, choosing(choice));
        assert_eq!(outcome.report.flows_finished, 16 * 15 + 2 * 16 * 4, "{choice}");
        for reason in DropReason::ALL.into_iter().filter(|reason| *reason != DropReason::QueueFull) {
            assert_eq!(outcome.dropped(reason), 0, "{choice}, {}", reason.name());
        }
    }
}

#[test]
fn a_packet_has_eight_bytes_more_between_switches_and_none_at_hosts() {
    let fabric = fat_tree();
    let run = |name| {
        let trial = Trial::linux(&fabric, name);
        trial.flow(0, 15, 1_000_000, Duration::ZERO).run()
    };
    let (tagged, plain) = (run("tag_forward"), run("single_path"));
    let total = |outcome: &Outcome, hosts: bool| {
        let is_hosts = |id: &LinkId| {
            let link = fabric.link(*id);
            [link.from, link.to].into_iter().any(|node| fabric.node(node).is_host()) == hosts
        };
        let links = (0..fabric.links().len() as u32).map(LinkId).filter(is_hosts);
        let counters = links.map(|id| outcome.link(id).counters);
        counters.fold((0, 0), |(packets, bytes), link| (packets + link.packets, bytes + link.wire_bytes))
    };
    assert_eq!(total(&tagged, true), total(&plain, true));
    let ((packets, bytes), (plain_packets, plain_bytes)) = (total(&tagged, false), total(&plain, false));
    assert_eq!(packets, plain_packets);
    assert_eq!(bytes, plain_bytes + 8 * packets);
    assert!(tagged.fct(0) > plain.fct(0));
}

#[test]
fn flows_take_all_cores_and_a_sprayed_one_does_alone() {
    let fabric = fat_tree();
    let used = |outcome: &Outcome| {
        let cores = (0..4).map(|core| outcome.packets(link(&fabric, &format!("a{}-c{core}", core / 2))));
        cores.filter(|packets| *packets > 0).count()
    };
    let trial = |choice| Trial::new(&fabric, choosing(choice), profile("linux"));
    let one = |choice| used(&trial(choice).flow(0, 15, 300_000, Duration::ZERO).run());
    assert_eq!((one("ecmp"), one("spray"), one("least-loaded")), (1, 4, 4));
    let many = (0..32).fold(trial("ecmp"), |trial, _| trial.flow(0, 15, 3_000, Duration::ZERO));
    assert_eq!(used(&many.run()), 4);
}

/// 16 flows from pod 0 to pod 3; a0-c0 fails at 20 ms.
fn with_a_failure(fabric: &Fabric, install_delay: Duration, heal: Option<Duration>) -> Outcome {
    let scheme = scheme_with("tag_forward", "install_delay", ParamValue::Duration(install_delay));
    let trial = Trial::new(fabric, scheme, profile("linux")).limit(MS(400)).seed(5);
    let flows =
        (0..16).fold(trial, |trial, i| trial.flow(i % 4, 12 + i % 4, 1 << 30, Duration::from_us(i.into())));
    let trial = flows.fail(MS(20), "a0-c0");
    heal.map_or(trial.clone(), |heal| trial.heal(heal, "a0-c0")).run()
}

#[test]
fn a_failed_cable_costs_what_the_controller_takes_and_then_other_cores_carry_its_flows() {
    let fabric = fat_tree();
    let recovery = |delay| {
        let outcome = with_a_failure(&fabric, delay, None);
        assert!(outcome.dropped(DropReason::LinkDown) > 0);
        outcome.report.events[0].recovery().unwrap()
    };
    // 100 us to notify the controller, 100 us back, 150 us per group at each switch.
    let at_once = recovery(Duration::ZERO);
    assert!(at_once > Duration::from_us(200) && at_once < MS(5), "{at_once}");
    // The last frame lost is the last retransmission within that time.
    let slow = recovery(MS(50));
    assert!(slow > MS(40) && slow < MS(55), "{slow}");
}

#[test]
fn flows_come_back_to_a_cable_that_heals() {
    let fabric = fat_tree();
    let cable = link(&fabric, "a0-c0");
    let gone = with_a_failure(&fabric, Duration::ZERO, None);
    let back = with_a_failure(&fabric, Duration::ZERO, Some(MS(200)));
    assert!(gone.packets(cable) > 100, "it was in use");
    assert!(back.packets(cable) > gone.packets(cable) + 1_000);
    assert!(gone.packets(link(&fabric, "a0-c1")) > 1_000 && gone.packets(link(&fabric, "a1-c2")) > 1_000);
}

#[test]
fn an_edge_leaves_its_own_dead_uplink_without_waiting_for_the_controller() {
    let fabric = fat_tree();
    let scheme = scheme_with("tag_forward", "install_delay", ParamValue::Duration(Duration::from_secs(10)));
    let trial = Trial::new(&fabric, scheme, profile("linux")).limit(MS(300));
    let flows =
        (0..16).fold(trial, |trial, i| trial.flow(i % 2, 12 + i % 4, 1 << 30, Duration::from_us(i.into())));
    let run = flows.fail(MS(20), "e0-a0").run();
    let controller = run.report.controller.as_ref().unwrap();
    assert!(controller.counters.iter().any(|(name, count)| *name == "groups_changed" && *count > 0));
    // Half of the returning frames are lost at a0, to whose dead link the other switches' rules still point; the other
    // half of the flows continue, all over the second uplink.
    let second = run.packets(link(&fabric, "e0-a1"));
    assert!(second > 15_000, "{second} packets");
}

#[test]
fn external_traffic_with_a_qid_has_the_share_of_its_queue_at_the_servers_gate() {
    let classes = [1, 1, 3].map(|weight| ClassSpec { weight }).into();
    let queue = QueueSpec { classes, scheduler: Scheduler::Drr, ..QueueSpec::fifo(Limit::Packets(100)) };
    let link = LinkSpec { queue, ..gigabit(US(5)) };
    let fabric = build::fat_tree_with_routers(4, 1, &link, &link, &link).unwrap();
    let udp = weft_transport::udp::Config { rate: Rate::from_bps(900_000_000), ..Default::default() };
    // A server of another pod and a router each send 900 Mbps to server 0; DSCP 0 waits in the last queue.
    let share = |qid: &str| {
        let trial = Trial::new(&fabric, scheme_with("tag_forward", "qid", word(qid)), udp.clone());
        let run = trial.flow(15, 0, 50_000_000, Duration::ZERO).flow(16, 0, 50_000_000, Duration::ZERO).run();
        let arrived = [0, 1].map(|flow| run.flows[flow].packets_sent - run.flows[flow].drops);
        arrived[1] as f64 / (arrived[0] + arrived[1]) as f64
    };
    let (shaped, plain) = (share("external"), share("none"));
    assert!((0.23..0.27).contains(&shaped), "{shaped}");
    assert!(!(0.2..0.3).contains(&plain), "{plain}");
}

#[test]
fn another_fabric_is_refused_with_the_reason() {
    use std::sync::Arc;
    use weft_switching::{Blueprint, Forwarding, SchemeVisitor, visit_scheme};

    struct Built;
    impl SchemeVisitor for Built {
        type Output = ();
        fn visit<B: Blueprint>(self, _blueprint: B) {}
    }
    let link = LinkSpec::default();
    let ring = build::ring(6, 2, &link, &link).unwrap();
    let routes = Arc::new(Forwarding::new(&ring, |_| true));
    let error = visit_scheme(&scheme("tag_forward"), &ring, &routes, 1, Built).unwrap_err().to_string();
    let expected = "`tag_forward` does not run on this fabric: this is not a fat-tree: it has 6 switches";
    assert!(error.starts_with(expected), "{error}");
}
