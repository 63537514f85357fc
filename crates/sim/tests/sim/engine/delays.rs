//! Delay and jitter of flows, compared with sums over a trace by the formulas of ns-3's FlowMonitor
//! (`flow-monitor.cc`, `ReportLastRx`), and with a delay calculated by hand.

use std::collections::HashMap;

use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::packet::PacketId;
use weft_sim::record::Recorder;
use weft_sim::run::run;
use weft_sim::sample::Sample;
use weft_sim::trace::{Seen, TraceEvent};
use weft_switching::{Header, Kind};
use weft_units::Time;

/// One flow at a time over two switches; a burst of other flows follows.
const SCENARIO: &str = r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "1 us"
queue = "30 packets"
host_queue = "as-switches"

[traffic]
flow_list = [
    { src = "h0", dst = "h2", bytes = "300 kB", start = "0 s" },
    { src = "h1", dst = "h2", bytes = "2 MB", start = "1 ms" },
    { src = "h3", dst = "h2", bytes = "1 MB", start = "1 ms" },
    { src = "h1", dst = "h3", bytes = "10 B", start = "300 ms" },
]

[run]
duration = "1 s"
"#;

/// FlowMonitor's statistics of a flow.
#[derive(Default)]
struct Monitored {
    delay_sum: u64,
    jitter_sum: u64,
    last_delay: u64,
    rx_packets: u64,
}

/// A flow of FlowMonitor: addresses and ports of one direction of a connection or subflow.
type Tuple = [u64; 4];

fn tuple(header: &Header) -> Tuple {
    [header.src.bits(), header.dst.bits(), header.sport.into(), header.dport.into()]
}

/// Watches hosts send and receive packets.
#[derive(Default)]
struct Monitor {
    flows: Vec<FlowRecord>,
    sent: HashMap<PacketId, (Time, Tuple)>,
    monitored: HashMap<Tuple, Monitored>,
    delays: Vec<(Tuple, u64)>,
}

impl Recorder for Monitor {
    fn traces(&self) -> bool {
        true
    }

    fn flow(&mut self, record: &FlowRecord) {
        self.flows.push(record.clone());
    }

    fn sample(&mut self, _: &Sample) {}

    fn trace(&mut self, time: Time, event: TraceEvent) {
        match event {
            TraceEvent::Sent { frame, seen: Seen { header, .. }, .. } if header.kind == Kind::Tcp => {
                self.sent.entry(frame).or_insert((time, tuple(&header)));
            }
            TraceEvent::Delivered { frame } => {
                let Some((sent, tuple)) = self.sent.remove(&frame) else { return };
                let delay = time.saturating_since(sent).ps();
                let flow = self.monitored.entry(tuple).or_default();
                flow.delay_sum += delay;
                if flow.rx_packets > 0 {
                    flow.jitter_sum += flow.last_delay.abs_diff(delay);
                }
                (flow.last_delay, flow.rx_packets) = (delay, flow.rx_packets + 1);
                self.delays.push((tuple, delay));
            }
            TraceEvent::Dropped { frame, .. } | TraceEvent::Consumed { frame } => {
                self.sent.remove(&frame);
            }
            _ => {}
        }
    }
}

/// A quotient to the nearest whole number.
fn rounded(sum: u64, count: u64) -> Option<u64> {
    (count > 0).then(|| (sum + count / 2) / count)
}

#[test]
fn delay_and_jitter_are_those_of_flow_monitor() {
    for (transport, subflows) in [("", 1), ("[transport]\nmptcp = \"ndiffports\"\nsubflows = 3\n", 3)] {
        let scenario = format!("{SCENARIO}[scheme]\nname = \"ecmp\"\n{transport}");
        let plan = crate::common::plan(&crate::common::parsed(&scenario), &[]);
        let mut monitor = Monitor::default();
        let report = run(&plan, &Progress::default(), &mut monitor).unwrap();
        assert_eq!(report.flows_finished, 4);
        assert!(monitor.flows.iter().any(|flow| flow.drops > 0));
        let mut most = 0;
        for flow in &monitor.flows {
            let [src, dst] = [flow.flow.src, flow.flow.dst].map(|host| address(host.0));
            let of_flow = |tuple: &Tuple| tuple[..2] == [src, dst] && tuple[3] == u64::from(flow.flow.dport);
            let found: Vec<&Monitored> =
                monitor.monitored.iter().filter(|(tuple, _)| of_flow(tuple)).map(|(_, of)| of).collect();
            let sum = |of: fn(&Monitored) -> u64| found.iter().map(|flow| of(flow)).sum::<u64>();
            let packets = sum(|flow| flow.rx_packets);
            most = most.max(found.len());
            assert_eq!(flow.delay.map(|delay| delay.ps()), rounded(sum(|flow| flow.delay_sum), packets));
            let differences = packets - found.len() as u64;
            assert_eq!(
                flow.jitter.map(|jitter| jitter.ps()),
                rounded(sum(|flow| flow.jitter_sum), differences)
            );
        }
        assert_eq!(most, subflows);
        // The SYN of the last flow on the idle fabric: IP packets of 60 bytes (with MP_CAPABLE 64), 38 more on the wire
        // at 8 ns each, and 1 us of delay, over four links.
        let lone = monitor.flows.iter().find(|flow| flow.flow.bytes == 10).unwrap();
        let [src, dst] = [lone.flow.src, lone.flow.dst].map(|host| address(host.0));
        let first = monitor.delays.iter().find(|(tuple, _)| tuple[..2] == [src, dst]).unwrap();
        let bytes = if subflows == 1 { 60 + 38 } else { 64 + 38 };
        assert_eq!(first.1, 4 * (bytes * 8_000 + 1_000_000));
    }
}

/// The address of a host as a number.
fn address(host: u32) -> u64 {
    weft_switching::Mac::of_host(host).bits()
}
