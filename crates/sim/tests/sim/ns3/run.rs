//! Runs Weft on a case, with the transport configured like ns-3's in the reference program.

use std::collections::BTreeMap;

use weft_sim::columns::FlowRecord;
use weft_sim::engine::{Progress, Setup};
use weft_sim::probe::Probe;
use weft_sim::record::MemoryRecorder;
use weft_sim::run::run_setup;
use weft_switching::SchemeSpec;
use weft_traffic::{Connections, Dependencies, InterfaceRule, Jobs, Parts};
use weft_transport::{Config, CongestionControl, ProtocolConfig as _};
use weft_units::{Bytes, Duration, FlowId, Time};

use crate::ns3::case::{CLASSES, Input, Outcome};

/// The attributes that `reference.cc` sets; the others are ns-3's defaults, as in the profile.
pub fn transport(tcp: &str) -> Config {
    let window = Bytes(16 << 20);
    let config = Config {
        mss: 1448,
        initial_window: 10,
        receive_buffer: window,
        initial_receive_window: window,
        send_buffer: window,
        sack: tcp != "newreno",
        congestion_control: match tcp {
            "cubic" => CongestionControl::Cubic,
            "newreno" | "newreno-sack" => CongestionControl::Reno,
            _ => panic!("{tcp}: expected newreno, newreno-sack or cubic"),
        },
        ..Config::profile("ns3-3.37").unwrap()
    };
    config.validate().unwrap();
    config
}

/// The outcome of each flow of `input`.
pub fn run(input: &Input) -> BTreeMap<FlowId, Outcome> {
    let setup = Setup {
        fabric: &input.fabric,
        flows: &input.flows,
        dependencies: &Dependencies::default(),
        jobs: &Jobs::default(),
        connections: &Connections::default(),
        parts: &Parts::default(),
        ring_steps: false,
        classes: CLASSES.len(),
        transport: &transport(&input.tcp).into(),
        interfaces: InterfaceRule::Hash,
        seed: input.seed,
        warm: false,
        limit: Time::ZERO + Duration::from_secs(1000),
        window: (Time::ZERO, Time::ZERO + Duration::from_secs(1)),
        probe: Probe::default(),
        faults: &[],
        reaction: weft_units::Duration::ZERO,
        threads: 1,
        rounds: None,
        rests: false,
    };
    let scheme = SchemeSpec { name: input.scheme.clone(), params: BTreeMap::new() };
    let mut kept = MemoryRecorder::default();
    run_setup(setup, &scheme, &Progress::default(), &mut kept).unwrap();
    let outcome = |record: &FlowRecord| Outcome {
        fct: record.end.map(|end| end.saturating_since(record.flow.start)),
        retransmitted: record.retransmissions,
        timeouts: record.timeouts,
    };
    kept.flows.iter().map(|record| (record.flow.id, outcome(record))).collect()
}
