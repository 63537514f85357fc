//! The time of flows, divided among its causes.

use std::collections::BTreeMap;

use weft_scenario::Plan;
use weft_sim::engine::Progress;
use weft_sim::record::MemoryRecorder;
use weft_sim::run::run;
use weft_sim::why::{Cause, Direction, Explanation, Loss, PacketType, WhyError, explain};
use weft_units::{Duration, LinkId, Time};

use crate::common::link;

/// A loaded leaf-spine, of which a link fails.
const LOADED: &str = r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 3
hosts_per_leaf = 3
rate = "1 Gbps"
queue = "30 packets"

[traffic]
sizes = "web-search"
clamp = "300 kB"
load = 0.8

[run]
duration = "20 ms"

[[event]]
at = "5 ms"
fail = "l0-s0"

[[event]]
at = "10 ms"
heal = "l0-s0"
"#;

/// Two hosts on each of two leaves, and one spine.
const LINE: &str = r#"
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "10 us"

[scheme]
name = "ecmp"
"#;

fn plan(parts: &[&str]) -> Plan {
    crate::common::plan(&crate::common::parsed(&parts.join("\n")), &[])
}

/// The explanations of all flows.
fn all(plan: &Plan) -> Vec<Explanation> {
    let flows: Vec<u32> = (0..plan.traffic.flows.len() as u32).collect();
    explain(plan, &flows, None, &Progress::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The time due to each cause.
fn sums(explanation: &Explanation) -> BTreeMap<Cause, Duration> {
    let mut sums = BTreeMap::new();
    for part in &explanation.parts {
        *sums.entry(part.cause).or_default() += part.to.saturating_since(part.from);
    }
    sums
}

/// Both directions of a cable.
fn ways(plan: &Plan, cable: &str) -> [LinkId; 2] {
    let link = link(&plan.fabric, cable);
    [link, link.reverse()]
}

#[test]
fn the_parts_of_every_flow_follow_each_other_and_fill_its_time() {
    let cases = [
        ("profile = \"linux\"", "ecmp"),
        ("profile = \"linux\"", "tcp_path"),
        ("profile = \"linux\"", "arp_path"),
        ("profile = \"linux\"", "smoc"),
        ("mptcp = \"ndiffports\"", "letflow"),
        ("protocol = \"udp\"", "spray"),
        ("protocol = \"roce\"", "ecmp"),
        ("protocol = \"uec\"", "spray"),
    ];
    for (transport, scheme) in cases {
        let (transport, scheme) =
            (format!("[transport]\n{transport}"), format!("[scheme]\nname = \"{scheme}\""));
        let plan = plan(&[LOADED, &transport, &scheme]);
        let mut plain = MemoryRecorder::default();
        run(&plan, &Progress::default(), &mut plain).unwrap();
        let expected: BTreeMap<_, _> =
            plain.flows.iter().map(|record| (record.flow.id, format!("{record:?}"))).collect();
        let mut causes = BTreeMap::new();
        for explanation in all(&plan) {
            let (record, parts) = (&explanation.record, &explanation.parts);
            let what = format!("{transport} {scheme} flow {}", record.flow.id.0);
            assert_eq!(format!("{record:?}"), expected[&record.flow.id], "{what}");
            assert_eq!(parts.first().map(|part| part.from), Some(record.flow.start), "{what}");
            assert_eq!(parts.last().map(|part| part.to), Some(explanation.end), "{what}");
            assert!(parts.windows(2).all(|two| two[0].to == two[1].from), "{what}: {parts:?}");
            assert!(record.end.is_none_or(|end| end == explanation.end), "{what}");
            sums(&explanation).into_iter().for_each(|(cause, time)| {
                *causes.entry(cause.name()).or_insert(Duration::ZERO) += time;
            });
        }
        // Copies of a flood leave 1 ps apart.
        let held = causes.get("held by a switch").is_some_and(|time| *time > Duration::from_us(1));
        assert_eq!(held, scheme.contains("smoc"), "{scheme}: {causes:?}");
        assert!(causes.contains_key("queueing"), "{transport} {scheme}: {causes:?}");
        assert_eq!(causes.contains_key("handshake"), plan.transport.protocol.tcp().is_some(), "{causes:?}");
    }
}

#[test]
fn a_message_on_an_idle_fabric_is_a_handshake_and_transmission() {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"1 kB\" }]";
    for (run, resolves) in [("warm = true", false), ("warm = false", true)] {
        let line = LINE.replace("ecmp", if resolves { "arp_path" } else { "ecmp" });
        let plan = plan(&[&line, list, &format!("[run]\nduration = \"10 ms\"\n{run}")]);
        let [explanation] = &*all(&plan) else { panic!() };
        let sums = sums(explanation);
        let record = &explanation.record;
        let resolution = sums.get(&Cause::Resolution).copied().unwrap_or_default();
        assert!(resolution >= record.resolution, "{resolution}");
        assert_eq!(resolution > Duration::ZERO, resolves);
        assert_eq!(record.resolution > Duration::ZERO, resolves);
        // Four links of 10 us each way, and three ways. The SYN takes 84 bytes on the wire at most: 0.67 us a link.
        let [handshake, wire] = [Cause::Handshake, Cause::Wire].map(|cause| sums[&cause]);
        assert!(handshake > Duration::from_us(80) && handshake < Duration::from_us(87), "{handshake}");
        assert!(wire > Duration::from_us(40 + 4 * 8) && wire < Duration::from_us(40 + 4 * 9), "{wire}");
        // The data waits behind the ACK of the handshake: 0.67 us.
        let queued = sums[&Cause::Queue(link(&plan.fabric, "h0-l0"), Direction::Forward)];
        assert!(queued < Duration::from_us(1), "{queued}");
        assert_eq!(sums.len(), 3 + usize::from(resolves), "{sums:?}");
    }
}

#[test]
fn two_flows_to_one_host_blame_the_link_to_it() {
    let list = r#"[traffic]
flow_list = [{ src = "h0", dst = "h2", bytes = "2 MB" }, { src = "h3", dst = "h2", bytes = "2 MB" }]"#;
    let plan = plan(&[LINE, list, "[run]\nduration = \"100 ms\""]);
    let bottleneck = link(&plan.fabric, "l1-h2");
    for explanation in all(&plan) {
        let sums = sums(&explanation);
        let most = sums.iter().max_by_key(|(_, time)| **time);
        assert_eq!(
            most.map(|(cause, _)| *cause),
            Some(Cause::Queue(bottleneck, Direction::Forward)),
            "{sums:?}"
        );
    }
}

#[test]
fn losses_blame_the_link_that_lost_the_packets() {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"300 kB\" }]";
    let event = "[run]\nduration = \"100 ms\"\n[[event]]\nat = \"0 ms\"\nchange = \"l0-s0\"\nloss = 0.05";
    let plan = plan(&[LINE, list, event]);
    let [explanation] = &*all(&plan) else { panic!() };
    assert!(explanation.record.retransmissions > 0);
    let lost = |cause: &Cause| matches!(cause, Cause::Recovery(_) | Cause::Timeout(_));
    let sums = sums(explanation);
    let losses: Vec<_> = sums.keys().filter(|cause| lost(cause)).collect();
    let [there, back] = [link(&plan.fabric, "l0-s0"), link(&plan.fabric, "s0-l0")];
    assert!(
        !losses.is_empty() && losses.iter().all(|cause| [there, back].contains(&cause.link().unwrap())),
        "{losses:?}"
    );
    let share = losses.iter().map(|cause| sums[cause].ps()).sum::<u64>() as f64
        / explanation.end.saturating_since(explanation.record.flow.start).ps() as f64;
    assert!(share > 0.5, "{share}: {sums:?}");
    for cause in losses {
        let Some(Loss { packet_type, direction, link }) = cause.loss() else { panic!("{cause:?}") };
        assert_eq!(direction == Direction::Forward, link == Some(there), "{cause:?}");
        if direction == Direction::Back {
            assert!([PacketType::SynAck, PacketType::Ack].contains(&packet_type), "{cause:?}");
        }
    }
}

/// The losses that are to blame if the cable between a leaf and the spine fails at `fails` and recovers.
fn losses_if_cut(transport: &str, fails: &str, heals: &str) -> Vec<Loss> {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"1 kB\" }]";
    let run = "[run]\nduration = \"3 s\"\nwarm = true";
    let event = |at: &str, what: &str| format!("[[event]]\nat = \"{at}\"\n{what} = \"s0-l1\"");
    let plan = plan(&[LINE, transport, list, run, &event(fails, "fail"), &event(heals, "heal")]);
    let [explanation] = &*all(&plan) else { panic!() };
    sums(explanation).into_keys().filter_map(Cause::loss).collect()
}

#[test]
fn a_loss_names_the_packet_and_its_direction() {
    use PacketType::{Data, Syn, SynAck};
    let tcp = "[transport]\nprofile = \"linux\"";
    // Each of the four links delays by 10 us: the SYN is on the way until 43 us, the SYN+ACK until 86 us.
    for (cut, heals, packet_type, direction) in [
        ("5 us", "1 ms", Syn, Direction::Forward),
        ("45 us", "1 ms", SynAck, Direction::Back),
        ("100 us", "1 ms", Data, Direction::Forward),
    ] {
        let found = losses_if_cut(tcp, cut, heals);
        let [loss] = *found else { panic!("{cut}: {found:?}") };
        assert_eq!((loss.packet_type, loss.direction), (packet_type, direction), "{cut}");
        assert!(loss.link.is_some(), "{loss:?}");
    }
}

/// The sizes of the window of the source of the first flow.
fn windows(parts: &[&str]) -> (Explanation, Vec<(Time, u64)>) {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"100 kB\" }]";
    let plan = plan(&[&[LINE, list, "[run]\nduration = \"20 ms\""], parts].concat());
    let explanation = all(&plan).remove(0);
    let windows = explanation.connection.windows.clone();
    (explanation, windows)
}

#[test]
fn the_window_is_the_initial_one_from_when_the_source_can_send() {
    let (tcp, found) = windows(&["[transport]\nprofile = \"linux\""]);
    let syn_ack = tcp.connection.journeys.iter().find(|journey| journey.packet_type == PacketType::SynAck);
    // Ten segments of at most 1460 bytes (RFC 6928).
    let (at, first) = found[0];
    assert_eq!(Some(at), syn_ack.and_then(|journey| journey.delivered()));
    assert!((14_000..=14_600).contains(&first), "{found:?}");
    assert!(found.iter().all(|(_, bytes)| *bytes >= first), "{found:?}");

    let (_, found) = windows(&["[transport]\nmptcp = \"ndiffports\"\nsubflows = 2"]);
    assert!((14_000..=14_600).contains(&found[0].1), "one subflow is open: {found:?}");
    assert!(found.iter().all(|(_, bytes)| *bytes >= 14_000), "{found:?}");

    for protocol in ["protocol = \"uec\"", "protocol = \"roce\"\nwindow = \"50 kB\""] {
        let (flow, found) = windows(&["[transport]", protocol]);
        assert_eq!(found[0].0, flow.record.flow.start, "{protocol}");
        assert!(found[0].1 > 10_000, "{protocol}: {found:?}");
    }
}

#[test]
fn a_sender_of_datagrams_waits_for_its_rate() {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"100 kB\" }]";
    let transport = "[transport]\nprotocol = \"udp\"\nrate = \"10 Mbps\"";
    let plan = plan(&[LINE, list, transport, "[run]\nduration = \"100 ms\""]);
    let [explanation] = &*all(&plan) else { panic!() };
    // 100 kB at 10 Mbps take about 80 ms.
    let paced = sums(explanation)[&Cause::Pacing];
    assert!(paced > Duration::from_ms(75) && paced < Duration::from_ms(90), "{paced}");
}

#[test]
fn a_flow_that_does_not_finish_is_explained_up_to_the_end_of_the_run() {
    let list = "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h2\", bytes = \"10 MB\" }]";
    let event = "[run]\nduration = \"50 ms\"\nlimit = \"500 ms\"\n[[event]]\nat = \"5 ms\"\nfail = \"l0-s0\"";
    let plan = plan(&[LINE, list, event]);
    let [explanation] = &*all(&plan) else { panic!() };
    assert_eq!(explanation.record.end, None);
    // The last retransmission before the limit.
    assert!(explanation.end > Time::ZERO + Duration::from_ms(200), "{}", explanation.end);
    let sums = sums(explanation);
    let ways = ways(&plan, "l0-s0");
    let lost = sums.iter().filter(|(cause, _)| {
        matches!(cause, Cause::Timeout(_)) && cause.link().is_some_and(|link| ways.contains(&link))
    });
    let waiting: Duration = lost.map(|(_, time)| *time).sum();
    assert!(waiting > Duration::from_ms(190), "{sums:?}");
}

#[test]
fn a_flow_that_did_not_start_is_named() {
    let list = r#"[traffic]
flow_list = [{ src = "h0", dst = "h2", bytes = "1 MB", start = "1 s" }]"#;
    let plan = plan(&[LINE, list, "[run]\nduration = \"5 ms\"\nlimit = \"20 ms\""]);
    let error = explain(&plan, &[0], None, &Progress::default()).map(|_| ());
    assert!(matches!(error, Err(WhyError::NotStarted(0))), "{error:?}");
}
