//! The default switch id. It is formed from the address of a port and stored, so that it stays the same while that port is
//! missing.

use std::fs;
use std::path::PathBuf;

use weft_wire::Mac;

use super::links::Interface;
use super::places::Places;
use crate::names::SwitchName;
use crate::sys::random;

/// A bit that no address has.
const MARK: u64 = 1 << 63;

/// The file that stores the id.
fn file(places: &Places, name: &SwitchName) -> PathBuf {
    places.state.join(format!("{name}.id"))
}

/// The id of a switch without `switch_id`. With `adopts` it takes over a data plane, which a daemon with the stored id left
/// behind.
pub fn id_of(places: &Places, name: &SwitchName, interfaces: &[Option<Interface>], adopts: bool) -> u64 {
    let stored = fs::read_to_string(file(places, name)).ok();
    let stored = stored.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    let macs: Vec<_> = interfaces.iter().map(|one| one.as_ref().map(|interface| interface.mac)).collect();
    choose(stored, &macs, adopts, random)
}

/// Stores the id for the next daemon.
pub fn store(places: &Places, name: &SwitchName, id: u64) {
    let path = file(places, name);
    // A crash in the middle of a write would lose the id.
    let temporary = path.with_extension("id.partial");
    let written = fs::write(&temporary, format!("{id:016x}\n")).and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        tracing::warn!(path = %path.display(), %error, "cannot store the id of the switch");
    }
}

/// The stored id, unless it belongs to another machine: every port exists and none has its address, as on a copy of a disk.
/// Otherwise the id of the first port that exists. Without any port it is random.
fn choose(stored: Option<u64>, macs: &[Option<Mac>], adopts: bool, random: impl FnOnce() -> u64) -> u64 {
    let id = |mac: Mac| MARK | mac.bits();
    let may_own = |stored: u64| macs.iter().any(|mac| mac.is_none_or(|mac| id(mac) == stored));
    let stored = stored.filter(|stored| adopts || may_own(*stored));
    let first = || macs.iter().flatten().next().map(|mac| id(*mac));
    stored.or_else(first).unwrap_or_else(|| MARK | random())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Mac = Mac([2, 0, 0, 0, 0, 0xa]);
    const B: Mac = Mac([2, 0, 0, 0, 0, 0xb]);
    const ID_A: u64 = MARK | 0x02_00_00_00_00_0a;
    const ID_B: u64 = MARK | 0x02_00_00_00_00_0b;

    fn never() -> u64 {
        unreachable!("a port exists")
    }

    #[test]
    fn the_first_port_that_exists_gives_the_id() {
        assert_eq!(choose(None, &[Some(A), Some(B)], false, never), ID_A);
        assert_eq!(choose(None, &[None, Some(B)], false, never), ID_B);
    }

    #[test]
    fn without_any_port_the_id_is_random_and_no_port_has_it() {
        let id = choose(None, &[None, None], false, || 7);
        assert_eq!(id, MARK | 7);
        assert_eq!(choose(Some(id), &[None, Some(A)], false, never), id, "kept until the next start");
    }

    #[test]
    fn the_id_stays_while_its_port_is_missing_and_after_it_is_back() {
        for macs in [[None, Some(B)], [Some(A), Some(B)], [Some(B), Some(A)], [None, None]] {
            assert_eq!(choose(Some(ID_A), &macs, false, never), ID_A, "{macs:?}");
        }
        let others = [Some(B), Some(Mac([2; 6]))];
        assert_eq!(choose(Some(ID_A), &others, true, never), ID_A, "the data plane is the same");
    }

    #[test]
    fn a_copy_of_a_disk_has_an_id_of_its_own() {
        assert_eq!(choose(Some(ID_A), &[Some(B), Some(Mac([2; 6]))], false, never), ID_B);
    }
}
