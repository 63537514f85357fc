//! Waits in the queues of schemes that place single packets, compared with queueing theory.
//!
//! A leaf with 8 uplinks receives packets as a Poisson stream. The scheme's switch chooses a queue for each; the queues
//! serve a packet in one unit of time, so that times below are in units of the service time.

use rand_core::RngCore;
use weft_fabric::LinkSpec;
use weft_fabric::build::spine_leaf;
use weft_switching::{Action, ParamValue, SchemeSpec, stream};
use weft_units::{Duration, PortId, Time};

use crate::common::{SEED, frame, network, scheme, scheme_with};

const UPLINKS: usize = 8;
const SERVICE: Duration = Duration::from_us(1);
/// Of one packet.
const BYTES: f64 = 1_500.0;
const PACKETS: u32 = 400_000;

/// Mean waits of the same arrivals.
struct Waits {
    /// In the queues that the scheme chooses.
    scheme: f64,
    /// In one queue before all uplinks, whose sum no choice of queues is below: an uplink never idles while packets wait.
    central: f64,
}

fn waits(spec: &SchemeSpec, load: f64) -> Waits {
    let fabric = spine_leaf(UPLINKS as u32, 2, 1, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let first = fabric.link(fabric.ports(fabric.hosts()[0])[0]);
    let (leaf, ingress) = (first.to, first.to_port);
    let ups: Vec<PortId> =
        (0..fabric.ports(leaf).len() as u16).map(PortId).filter(|up| *up != ingress).collect();
    assert_eq!(ups.len(), UPLINKS);
    let mut random = stream(SEED, "arrivals", 0);
    let gap = 1.0 / (load * UPLINKS as f64);
    network(&fabric, spec, SEED, |net| {
        // When each server becomes idle: of the scheme's queues, and of the one queue.
        let (mut idle, mut pooled) = ([0.0_f64; UPLINKS], [0.0_f64; UPLINKS]);
        let (mut now, mut scheme, mut central) = (0.0_f64, 0.0, 0.0);
        for packet in 0..PACKETS {
            let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            now -= (1.0 - unit).ln() * gap;
            let left = |idle: f64| (idle - now).max(0.0);
            net.set_queues(
                leaf,
                ups.iter().zip(idle).map(|(up, idle)| (*up, (left(idle) * BYTES).ceil() as u64)).collect(),
            );
            let time = Time::ZERO + Duration::from_secs_f64(now * SERVICE.as_secs_f64());
            let port = match net.receive(time, leaf, ingress, &frame(0, 1, packet as u16, 80))[..] {
                [Action::Send(port)] => port,
                ref other => panic!("not sent once: {other:?}"),
            };
            let place = ups.iter().position(|up| *up == port).expect("an uplink");
            scheme += left(idle[place]);
            idle[place] = idle[place].max(now) + 1.0;
            let next = pooled.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("uplinks");
            central += left(*next);
            *next = next.max(now) + 1.0;
        }
        Waits { scheme: scheme / f64::from(PACKETS), central: central / f64::from(PACKETS) }
    })
}

/// The mean wait of M/D/1: independent draws split a Poisson stream into Poisson streams.
fn of_one_queue(load: f64) -> f64 {
    load / (2.0 * (1.0 - load))
}

/// The mean wait in many queues with exponential service if each packet takes the shorter of two random ones
/// (Mitzenmacher, "The power of two choices in randomized load balancing", 2001, theorem 3).
fn of_two_choices(load: f64) -> f64 {
    (2..8).map(|choice| load.powi((1 << choice) - 2)).sum()
}

#[test]
fn random_spraying_waits_as_long_as_m_d_1() {
    for load in [0.5, 0.8] {
        let (found, expected) = (waits(&scheme("spray"), load).scheme, of_one_queue(load));
        println!("load {load}: {found:.4}, expected {expected:.4}");
        assert!((found / expected - 1.0).abs() < 0.03, "load {load}: {found}, expected {expected}");
    }
}

#[test]
fn drill_waits_at_least_as_long_as_one_central_queue_and_less_than_theory_allows_two_choices() {
    for load in [0.5, 0.8, 0.9] {
        let found = waits(&scheme("drill"), load);
        println!(
            "load {load}: {:.4}, one queue {:.4}, at most {:.4}",
            found.scheme,
            found.central,
            of_two_choices(load)
        );
        assert!(found.central <= found.scheme, "load {load}: below the least possible wait");
        assert!(found.scheme < of_two_choices(load), "load {load}: {}", found.scheme);
    }
}

#[test]
fn drill_with_one_sample_and_one_remembered_queue_waits_less_than_a_random_choice() {
    for load in [0.5, 0.8] {
        let found = waits(&scheme_with("drill", "samples", ParamValue::Count(1)), load).scheme;
        println!("load {load}: {found:.4}, at random {:.4}", of_one_queue(load));
        assert!(found < of_one_queue(load), "load {load}: {found}");
    }
}
