//! Whole transfers over the simulated network.

use crate::common::{Link, transfer};
use weft_transport::Config;
use weft_transport::profile::PROFILES;

#[test]
fn every_profile_delivers_all_bytes_and_closes_on_a_good_link() {
    for (name, _) in PROFILES {
        let cfg = Config::profile(name).unwrap();
        for bytes in [0, 1, 1448, 100_000, 5_000_000] {
            let outcome = transfer(&cfg, &Link::default(), bytes);
            assert!(outcome.fct.is_some() && outcome.closed, "{name} {bytes}: {outcome:?}");
            eprintln!("{name} {bytes} {:?} {:?}", outcome.fct.map(|f| f.to_string()), outcome.client);
        }
    }
}
