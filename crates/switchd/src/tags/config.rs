//! `[tags]`: fixed settings of the modes with gates.

use weft_switching::{SchemeSpec, tag_forward};
use weft_units::params;
use weft_wire::EtherType;

use super::Tagging;
use crate::config::table::Table;

/// Lowest EtherType (IEEE 802.3, clause 3.2.6).
const LEAST_ETHERTYPE: u16 = 0x0600;

/// Parameters of the scheme that are keys here.
pub(crate) const OF_SCHEME: [&str; 2] = ["choice", "width"];

params! {
    /// The other keys, except `ethertype`.
    pub(crate) struct Tags {
        /// handle of the ports' HTB, whose classes 1 to 8 receive frames of queues 0 to 7; 0: none
        queue_major: u16 = 0, in 0..=0xfffe;
        /// packets without a rule passed to the daemon, per second and port
        miss_rate: u64 = 10_000, in 1..=1_000_000;
        /// packets of one port that are passed at once
        miss_burst: u64 = 1_000, in 1..=1_000_000;
    }
}

/// Reads the section; also returns rate and burst of misses.
pub(crate) fn read(table: Table<'_>) -> (Tagging, (u64, u64)) {
    let scheme = &tag_forward::DESCRIPTOR;
    let (params, places) = table.params(scheme.params.iter().filter(|param| OF_SCHEME.contains(&param.name)));
    let tagging = Tagging::from_spec(&SchemeSpec { name: scheme.name.to_owned(), params });
    let mut tagging = tagging.unwrap_or_else(|refused| {
        table.problem(places["choice"].clone(), "`choice` is \"least-loaded\"", refused.to_string());
        Tagging::default()
    });
    if let Some((ethertype, _)) = table.parsed("ethertype", ethertype) {
        tagging.ethertype = ethertype;
    }
    let Tags { queue_major, miss_rate, miss_burst } = Tags::of(&table.params(Tags::PARAMS).0);
    tagging.queue_major = queue_major;
    table.finish();
    (tagging, (miss_rate, miss_burst))
}

fn ethertype(text: &str) -> Result<EtherType, String> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let taken = [
        EtherType::HELLO,
        EtherType::PATH,
        EtherType::IPV4,
        EtherType::IPV6,
        EtherType::ARP,
        EtherType::VLAN,
        EtherType::SERVICE_VLAN,
    ];
    match number.filter(|number| *number >= LEAST_ETHERTYPE).map(EtherType) {
        Some(ethertype) if taken.contains(&ethertype) => {
            Err("used by other frames: choose an EtherType that is unused in this network".to_owned())
        }
        Some(ethertype) => Ok(ethertype),
        None => Err("expected a number from 0x0600 to 0xffff in hexadecimal, such as \"0xff1f\"".to_owned()),
    }
}
