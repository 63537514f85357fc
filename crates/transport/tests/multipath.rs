//! Whole transfers over several paths.

mod common;

use common::world::{Cable, World};
use weft_transport::profile::PROFILES;
use weft_transport::{Config, Mptcp};
use weft_units::Duration;

fn multipath(profile: &str, subflows: u8) -> Config {
    Config { mptcp: Mptcp::Ndiffports, subflows, ..Config::profile(profile).unwrap() }
}

#[test]
fn every_profile_delivers_all_bytes_and_closes_over_two_good_paths() {
    for (name, _) in PROFILES {
        for version in [0, 1] {
            for bytes in [0, 1, 1448, 100_000, 5_000_000] {
                let cfg = Config { mptcp_version: version, ..multipath(name, 2) };
                let mut world = World::new(vec![Cable::default(), Cable::default()]);
                let flow = world.open(&cfg, &[0, 1], bytes);
                let limit = Duration::from_secs(1000);
                let closed = world.run_until(limit, |world| world.flows[flow].is_closed());
                let (client, server) = (world.flows[flow].connection(0), world.flows[flow].connection(1));
                assert!(closed, "{name} {version} {bytes}: {client:#?} {server:#?}");
                assert_eq!(server.delivered(), bytes, "{name} {version}");
                assert_eq!(
                    (client.is_aborted(), server.is_aborted()),
                    (false, false),
                    "{name} {version} {bytes}"
                );
                assert_eq!(client.totals().timeouts, 0, "{name} {version} {bytes}");
                eprintln!(
                    "{name} {version} {bytes} {} packets {:?} {:?}",
                    world.packets,
                    client.stats(),
                    client.totals()
                );
            }
        }
    }
}
