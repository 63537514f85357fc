//! The performance of each profile on each network, as a table under version control: a change of TCP changes this
//! table, to be reviewed and committed with it. To update it: `WEFT_UPDATE_SNAPSHOTS=1 cargo test -p weft-transport
//! --test transport snapshot`.

use std::fmt::Write;
use std::path::Path;

use crate::common::{Link, transfer};
use weft_transport::profile::PROFILES;
use weft_transport::{Config, EcnMode};
use weft_units::{Duration, Rate};

/// A network, the size of a transfer, and the number of seeds to average.
struct Condition {
    name: &'static str,
    link: Link,
    bytes: u64,
    seeds: u64,
}

fn conditions() -> Vec<Condition> {
    let plain = Link::default();
    let fast =
        Link { rate: Rate::from_gbps(10), delay: Duration::from_us(20), queue: 300, ..Link::default() };
    let long = Link {
        rate: Rate::from_bps(100_000_000),
        delay: Duration::from_ms(20),
        queue: 350,
        ..Link::default()
    };
    let one = |name, link: &Link, bytes| Condition { name, link: link.clone(), bytes, seeds: 1 };
    let ten = |name, link: Link, bytes| Condition { name, link, bytes, seeds: 10 };
    let jitter = Duration::from_us(150);
    vec![
        one("1 Gbps, 20 kB", &plain, 20_000),
        one("1 Gbps, 20 MB", &plain, 20_000_000),
        one("1 Gbps, 20 MB, marks at 30", &Link { mark: 30, ..plain.clone() }, 20_000_000),
        one("1 Gbps, 20 MB, own interface", &Link { own: true, ..plain.clone() }, 20_000_000),
        one("1 Gbps, 20 MB, queue 10", &Link { queue: 10, ..plain.clone() }, 20_000_000),
        one("10 Gbps, 100 MB", &fast, 100_000_000),
        one("100 Mbps, 40 ms, 20 MB", &long, 20_000_000),
        ten("loss 0.1 %, 5 MB", Link { loss: 1, ..plain.clone() }, 5_000_000),
        ten("loss 1 %, 1 MB", Link { loss: 10, ..plain.clone() }, 1_000_000),
        ten("loss 2 %, 20 kB", Link { loss: 20, ..plain.clone() }, 20_000),
        ten("2 % late, 5 MB", Link { reorder: 20, jitter, ..plain.clone() }, 5_000_000),
        ten("50 % late, 5 MB", Link { reorder: 500, jitter, ..plain.clone() }, 5_000_000),
        ten("20 % late, loss 0.5 %, 1 MB", Link { reorder: 200, jitter, loss: 5, ..plain }, 1_000_000),
    ]
}

fn table() -> String {
    let mut text = String::from(
        "| condition | profile | mean FCT ms | goodput Mbps | retransmitted | timeouts | recoveries | out of order % |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for condition in conditions() {
        for (profile, _) in PROFILES {
            let cfg = Config { data_retries: u8::MAX, ..Config::profile(profile).unwrap() };
            row(&mut text, &condition, profile, &cfg);
            if *profile == "linux" && condition.link.mark != usize::MAX {
                row(&mut text, &condition, "linux, ecn", &Config { ecn: EcnMode::Classic, ..cfg });
            }
        }
    }
    text
}

fn row(text: &mut String, condition: &Condition, profile: &str, cfg: &Config) {
    let (mut fct, mut again, mut timeouts, mut recoveries, mut late, mut received) = (0.0, 0, 0, 0, 0, 0);
    for seed in 1..=condition.seeds {
        let outcome = transfer(cfg, &Link { seed, ..condition.link.clone() }, condition.bytes);
        fct += outcome.fct.expect("all bytes arrive").as_secs_f64() / condition.seeds as f64;
        again += outcome.client.retransmissions;
        timeouts += outcome.client.timeouts;
        recoveries += outcome.client.fast_recoveries;
        late += outcome.server.out_of_order;
        received += outcome.server.first_transmissions_received;
    }
    writeln!(
        text,
        "| {} | {profile} | {:.3} | {:.1} | {again} | {timeouts} | {recoveries} | {:.2} |",
        condition.name,
        fct * 1e3,
        condition.bytes as f64 * 8e-6 / fct,
        100.0 * f64::from(late) / f64::from(received.max(1)),
    )
    .unwrap();
}

#[test]
fn transfers_take_what_they_took() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/transfers.md");
    let now = table();
    if std::env::var_os("WEFT_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
        return;
    }
    let before = std::fs::read_to_string(&path).expect("the snapshot exists");
    let changed: Vec<_> = now.lines().zip(before.lines()).filter(|(now, before)| now != before).collect();
    assert!(
        now == before,
        "{} lines changed, the first (now, before): {:#?}\nset WEFT_UPDATE_SNAPSHOTS=1 to accept them",
        changed.len(),
        changed.first()
    );
}
