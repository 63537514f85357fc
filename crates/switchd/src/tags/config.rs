//! `[tags]`: fixed settings of the modes with gates.

use weft_switching::exploration::Exploration;
use weft_wire::{EtherType, TagWidth};

use super::{NoLoad, Tagging};
use crate::config::table::Table;

/// Lowest EtherType (IEEE 802.3, clause 3.2.6).
const LEAST_ETHERTYPE: u16 = 0x0600;

/// Reads the section; the rate limit of misses is stored as that of explorations.
pub fn read(table: Table<'_>, exploration: &mut Exploration) -> Tagging {
    let width = match table.word("width", &["narrow", "wide"]) {
        Some(("wide", _)) => TagWidth::Wide,
        _ => TagWidth::Narrow,
    };
    let mut tagging = Tagging { width, ethertype: width.ethertype(), ..Tagging::default() };
    if let Some((ethertype, _)) = table.parsed("ethertype", ethertype) {
        tagging.ethertype = ethertype;
    }
    match table.word("choice", &["ecmp", "spray", "least-loaded"]) {
        Some(("least-loaded", span)) => {
            table.problem(span, "`choice` is \"least-loaded\"".to_owned(), NoLoad.to_string());
        }
        Some((choice, _)) => tagging.sprays = choice == "spray",
        None => {}
    }
    tagging.queue_major = table.number("queue_major", 1..0xffff).map(|(major, _)| major as u16);
    if let Some((rate, _)) = table.number("miss_rate", 1..1_000_001) {
        exploration.rate = rate;
    }
    if let Some((burst, _)) = table.number("miss_burst", 1..1_000_001) {
        exploration.burst = burst;
    }
    table.finish();
    tagging
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
