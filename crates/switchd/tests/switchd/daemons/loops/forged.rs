//! Hosts that forge or replay probes.

use std::time::Duration;

use weft_wire::{EtherType, Mac, Probe, SwitchId};

use super::{GUARDED, Loop, is_blocked};
use crate::daemons::hostile::send;
use crate::daemons::leaf_spine::Switches;
use crate::net::{Netns, host};
use crate::wait::{DEADLINE, comes};

/// A forged probe of this switch.
fn forged(switch: u64, blocked: bool) -> Vec<u8> {
    let mut frame = vec![0; 60];
    let probe = Probe { switch: SwitchId(switch), port: 3, blocked, hosts_only: true };
    probe.write(Mac([2, 0, 0, 0, 0, 3]), EtherType::HELLO, None, &mut frame).expect("room");
    frame
}

/// A time in which a forged probe has any effect that it has.
const SOON: Duration = Duration::from_secs(3);

/// A host on `x` of the first leaf sends what `frame` makes until the port is blocked or the time is over; returns whether it
/// is blocked. No other port ever is.
fn forges(
    network: &Loop,
    switches: &Switches<'_>,
    liar: &Netns,
    patience: Duration,
    frame: impl Fn(u64) -> Vec<u8>,
) -> bool {
    let socket = liar.packets("eth0", None);
    let mut number = 0;
    let blocked = comes(patience, || {
        for _ in 0..20 {
            number += 1;
            send(&socket, &frame(number));
        }
        is_blocked(&switches.leaves[0])
    });
    assert!(network.reach(), "{}", switches.log());
    for leaf in &switches.leaves {
        assert_eq!(leaf.role("host"), "host");
        leaf.wait_roles(&[("s0", "fabric"), ("s1", "fabric")]);
    }
    assert!(!is_blocked(&switches.leaves[1]));
    switches.leaves[0].wait_roles(&[("x", "host")]);
    blocked
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_that_forges_or_replays_probes_blocks_its_own_port_at_most() {
    let network = Loop::new();
    let liar = host(3, &network.network.leaves[0], "x");
    let switches = network.start("arp-path", GUARDED);
    switches.leaves[0].wait_roles(&[("x", "host")]);
    assert!(forges(&network, &switches, &liar, DEADLINE, |_| forged(0, false)), "the lesser end: blocked");
    assert!(
        forges(&network, &switches, &liar, DEADLINE, |_| forged(u64::MAX, false)),
        "a greater end that does not block"
    );
    assert!(!forges(&network, &switches, &liar, SOON, |_| forged(u64::MAX, true)), "a greater end that does");
    forges(&network, &switches, &liar, SOON, |number| {
        forged(number.wrapping_mul(0x9e37_79b9_7f4a_7c15), number % 2 == 0)
    });
    let lines = switches.log().lines().filter(|line| line.contains("a loop:")).count();
    assert!(lines <= 5, "{}", switches.log());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_without_the_key_cannot_forge_probes() {
    let network = Loop::new();
    let liar = host(3, &network.network.leaves[0], "x");
    let keys = format!("{GUARDED}\nhello_key = \"{}\"", "a1".repeat(16));
    let switches = network.start("arp-path", &keys);
    switches.leaves[0].wait_roles(&[("x", "host")]);
    assert!(!forges(&network, &switches, &liar, SOON, |_| forged(0, false)));
    assert!(switches.leaves[0].show("counters")["hello"]["refused"]["unsigned"].as_u64() > Some(100));
    assert!(!switches.log().contains("a loop:"));
}
