//! Traces: the events that a tracing recorder receives, and the exploration of one flow built from them.

use weft_scenario::Plan;
use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::explore::{Explored, Fate, MOST_FRAMES, RecordingProgress, Scene, explore};
use weft_sim::flow_choice::FlowChoice;
use weft_sim::record::{MemoryRecorder, Recorder};
use weft_sim::run::run;
use weft_sim::sample::Sample;
use weft_sim::trace::TraceEvent;
use weft_switching::DropReason;
use weft_units::{LinkId, Time};

/// Three spines, three leaves, three hosts per leaf, loaded with web-search flows.
const LOADED: &str = r#"
[fabric]
kind = "spine-leaf"
spines = 3
leaves = 3
hosts_per_leaf = 3
rate = "1 Gbps"
delay = "1 us"
queue = "50 packets"

[traffic]
sizes = "web-search"
clamp = "4 MB"
load = 0.5
pairs = "inter-leaf"

[run]
duration = "60 ms"
"#;

/// One flow in an idle ring: there is one path besides the shortest.
const LONE: &str = r#"
[fabric]
kind = "ring"
switches = 5
hosts_per_switch = 1
rate = "1 Gbps"
delay = "1 us"

[traffic]
flow_list = [{ src = "h0", dst = "h2", bytes = "3 MB" }]

[run]
duration = "10 ms"
"#;

const SCHEMES: [&str; 3] = [
    "name = \"arp_path\"",
    "name = \"tcp_path\"",
    "name = \"tfe\"\nclassifier = \"auto\"\nelephant_bytes = \"200 kB\"",
];

fn plan(scenario: &str, scheme: &str) -> Plan {
    crate::common::plan(&crate::common::parsed(&format!("{scenario}\n[scheme]\n{scheme}\n")), &[])
}

fn explored(plan: &Plan, choice: &FlowChoice) -> Explored {
    explore(plan, choice, &[RecordingProgress::default(), RecordingProgress::default()])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The scenes of a suitable flow for each scenario and scheme, with their plan.
fn scenes() -> Vec<(Plan, Explored)> {
    let plans = [LOADED, LONE].iter().flat_map(|scenario| SCHEMES.map(|scheme| plan(scenario, scheme)));
    plans
        .map(|plan| {
            let explored = explored(&plan, &FlowChoice::Any);
            (plan, explored)
        })
        .collect()
}

/// Counts trace events.
#[derive(Default)]
struct Counting {
    plain: MemoryRecorder,
    arrived: u64,
    copied: u64,
    taken_in: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl Recorder for Counting {
    fn traces(&self) -> bool {
        true
    }

    fn flow(&mut self, record: &FlowRecord) {
        self.plain.flow(record);
    }

    fn sample(&mut self, _: &Sample) {}

    fn trace(&mut self, _: Time, event: TraceEvent) {
        match event {
            TraceEvent::Arrived { .. } => self.arrived += 1,
            TraceEvent::Copied { .. } => self.copied += 1,
            TraceEvent::Consumed { .. } | TraceEvent::Delivered { .. } => self.taken_in += 1,
            TraceEvent::Dropped { reason, .. } => self.dropped[reason as usize] += 1,
            _ => {}
        }
    }
}

#[test]
fn a_trace_tells_of_every_frame_and_changes_nothing() {
    for scheme in SCHEMES.into_iter().chain(["name = \"ecmp\""]) {
        let event = |(at, change)| format!("[[event]]\nat = \"{at} ms\"\n{change}\n");
        let changes = [(15, "s0-l1"), (25, "s1-l2"), (35, "s2-l0")]
            .map(|(at, cable)| [(at, format!("fail = {cable:?}")), (at + 9, format!("heal = {cable:?}"))]);
        let events: String = changes.into_iter().flatten().map(event).collect();
        let plan = plan(&format!("{LOADED}{events}"), scheme);
        let (mut plain, mut counting) = (MemoryRecorder::default(), Counting::default());
        let untraced = run(&plan, &Progress::default(), &mut plain).unwrap();
        let traced = run(&plan, &Progress::default(), &mut counting).unwrap();
        assert_eq!(format!("{untraced:?}"), format!("{traced:?}"), "{scheme}");
        assert_eq!(format!("{:?}", plain.flows), format!("{:?}", counting.plain.flows), "{scheme}");
        let counters = &traced.counters;
        assert_eq!(counting.arrived, counters.packet_hops, "{scheme}");
        assert_eq!(counting.copied, counters.packets_copied, "{scheme}");
        assert_eq!(counting.taken_in, counters.packets_delivered, "{scheme}");
        assert_eq!(counting.dropped, counters.packets_dropped, "{scheme}");
        assert!(counting.dropped[DropReason::LinkDown as usize] > 0, "{scheme}");
    }
}

/// Every scene.
fn each(scenes: &[(Plan, Explored)]) -> impl Iterator<Item = (&Plan, &Scene)> {
    scenes.iter().flat_map(|(plan, explored)| {
        let recovery = explored.recovery.as_ref().map(|recovery| &recovery.scene);
        std::iter::once(&explored.exploration).chain(recovery).map(move |scene| (plan, scene))
    })
}

#[test]
fn frames_go_from_link_to_link_in_order_of_time_and_each_has_an_end() {
    let scenes = scenes();
    for (plan, scene) in each(&scenes) {
        let fabric = &plan.fabric;
        assert!(scene.frames.is_sorted_by(|a, b| a.number < b.number));
        assert!(scene.changes.is_sorted_by_key(|change| change.at));
        for frame in &scene.frames {
            let (end, fate) = frame.end.unwrap_or_else(|| panic!("{frame:?}"));
            assert!(frame.copy_of.is_none_or(|of| of < frame.number));
            let mut before = Time::ZERO;
            for (place, hop) in frame.hops.iter().enumerate() {
                assert!(before <= hop.sent, "{frame:?}");
                before = hop.sent;
                if let Some((left, arrived)) = hop.crossed {
                    assert!(hop.sent <= left && left < arrived, "{frame:?}");
                    before = arrived;
                }
                let next = frame.hops.get(place + 1);
                assert!(next.is_none_or(|next| {
                    hop.crossed.is_some() && fabric.link(next.link).from == fabric.link(hop.link).to
                }));
            }
            assert!(before <= end && end >= scene.begin, "{frame:?}");
            let arrived = frame.hops.last().is_some_and(|hop| hop.crossed.is_some());
            assert!(arrived || matches!(fate, Fate::Dropped(_)), "{frame:?}");
        }
    }
}

/// The names of the nodes along a path.
fn route(plan: &Plan, path: &[LinkId]) -> Vec<String> {
    let name = |node| plan.fabric.node(node).name.clone();
    let first = path.first().map(|&link| name(plan.fabric.link(link).from));
    first.into_iter().chain(path.iter().map(|&link| name(plan.fabric.link(link).to))).collect()
}

#[test]
fn the_path_kept_is_the_one_that_data_takes() {
    for (plan, explored) in scenes() {
        let scene = &explored.exploration;
        let done = scene.done.unwrap();
        let data = scene.frames.iter().filter(|frame| frame.is_data());
        let sent_since = data.filter(|frame| frame.hops[0].sent >= scene.changes.last().unwrap().at);
        let mut seen = 0;
        for frame in sent_since {
            let links: Vec<LinkId> = frame.hops.iter().map(|hop| hop.link).collect();
            assert_eq!(route(&plan, &links), route(&plan, &scene.path));
            assert_eq!(frame.end.unwrap().1, Fate::Delivered);
            seen += 1;
        }
        assert!(seen > 0 && done > scene.begin, "{}", plan.scheme.name);
        let source = plan.fabric.host_name(explored.flow.src);
        let target = plan.fabric.host_name(explored.flow.dst);
        let ends = route(&plan, &scene.path);
        assert_eq!((ends[0].as_str(), ends[ends.len() - 1].as_str()), (source, target));
        // The path in the results: of the flow's first data, or of the first after its only path change.
        let mut plain = MemoryRecorder::default();
        run(&plan, &Progress::default(), &mut plain).unwrap();
        let record = plain.flows.iter().find(|record| record.flow.id == explored.flow.id).unwrap();
        assert_eq!(record.moves, u32::from(plan.scheme.name == "tfe"), "{}", plan.scheme.name);
        assert_eq!(route(&plan, &record.path), route(&plan, &scene.path), "{}", plan.scheme.name);
    }
}

#[test]
fn every_late_copy_of_a_lone_flow_is_in_its_scene() {
    // The destination's announcement with its first reply does not belong to the flow.
    let plan = plan(LONE, "name = \"arp_path\"\nannounce = \"off\"");
    let scene = explored(&plan, &FlowChoice::Number(0)).exploration;
    let is_late =
        |end: Option<(Time, Fate)>| end.is_some_and(|(_, fate)| fate == Fate::Dropped(DropReason::LateCopy));
    let late = scene.frames.iter().filter(|frame| is_late(frame.end)).count() as u64;
    let report = run(&plan, &Progress::default(), &mut MemoryRecorder::default()).unwrap();
    assert_eq!(late, report.counters.packets_dropped[DropReason::LateCopy as usize]);
    assert!(late > 0);
}

#[test]
fn after_the_cut_data_comes_through_on_a_path_without_the_link_that_failed() {
    for (plan, explored) in scenes() {
        let recovery = explored.recovery.unwrap_or_else(|why| panic!("{}: {why}", plan.scheme.name));
        let (scene, failed) = (&recovery.scene, [recovery.link, recovery.link.reverse()]);
        assert!(explored.exploration.path.contains(&recovery.link));
        assert!(scene.done.is_some_and(|done| done > recovery.failed_at), "{}", plan.scheme.name);
        assert!(scene.path.iter().all(|link| !failed.contains(link)));
        let crossings = scene.frames.iter().flat_map(|frame| &frame.hops);
        let on_failed = crossings.filter(|hop| failed.contains(&hop.link));
        let arrivals = on_failed.filter_map(|hop| hop.crossed).filter(|(_, at)| *at > recovery.failed_at);
        assert_eq!(arrivals.count(), 0);
    }
}

#[test]
fn a_flood_that_a_scene_has_no_room_for_is_cut_and_ends_all_the_same() {
    let mesh = LONE.replace("\"ring\"\nswitches = 5", "\"mesh\"\nswitches = 150");
    let scene = explored(&plan(&mesh, SCHEMES[1]), &FlowChoice::Number(0)).exploration;
    assert!(scene.cut && scene.done.is_some());
    assert_eq!(scene.frames.len(), MOST_FRAMES);
}

#[test]
fn a_flow_is_chosen_by_its_ends_and_ports_and_what_is_wrong_is_said() {
    let plan = plan(LOADED, SCHEMES[1]);
    let flow = explored(&plan, &FlowChoice::Any).flow;
    let name = |host| plan.fabric.host_name(host).to_owned();
    let between = |from: &str, to: &str, sport, dport| {
        let choice = FlowChoice::Between { from: from.to_owned(), to: to.to_owned(), sport, dport };
        explore(&plan, &choice, &Default::default())
            .map(|explored| explored.flow.id)
            .map_err(|error| error.to_string())
    };
    let (from, to) = (name(flow.src), name(flow.dst));
    assert_eq!(between(&from, &to, Some(flow.sport), Some(flow.dport)), Ok(flow.id));
    let wrong_port = between(&from, &to, None, Some(1)).unwrap_err();
    assert!(wrong_port.contains("has these ports; existing flows: ports"), "{wrong_port}");
    let unknown = between("h99", &to, None, None).unwrap_err();
    assert_eq!(unknown, "there is no host `h99`; the hosts are h0, h1, h2, h3, h4, h5, h6, h7 and 1 more");
    assert_eq!(between("H1", &to, None, None).unwrap_err(), "there is no host `H1`: did you mean `h1`?");
    let number = FlowChoice::Number(flow.id.0.into());
    assert_eq!(number.named_or_long(&plan).map(|flow| flow.id), Ok(flow.id));
    let any = FlowChoice::Any.named_or_long(&plan).unwrap();
    let long = |flow: &&weft_traffic::Flow| {
        flow.bytes >= 1_000_000 && flow.start.ps() >= plan.run.duration.ps() / 10
    };
    let largest = plan.traffic.flows.iter().map(|flow| flow.bytes).max();
    match plan.traffic.flows.iter().find(long) {
        Some(first) => assert_eq!(any.id, first.id),
        None => assert_eq!(Some(any.bytes), largest),
    }
}
