//! [`Turns`]: a value that programs read while it changes. There are several places for it, one of which counts;
//! the next one is written whole before it does.

use std::borrow::Borrow;
use std::io;

use aya::Pod;
use aya::maps::{Array, Map, MapData};

use super::layout::TABLES;
use crate::error::PlaneError;

/// `MEMBARRIER_CMD_GLOBAL`.
const GLOBAL: libc::c_long = 1;

/// How often the place has changed since no program could be reading another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turns {
    /// The place in the map `current`.
    pub which: u32,
    since: u32,
}

impl Turns {
    /// Of gates.
    pub const GATES: Self = Self { which: 0, since: TABLES };
    /// Of kinds of rules.
    pub const KINDS: Self = Self { which: 1, since: TABLES };

    /// Which place counts.
    pub fn current<T: Borrow<MapData>>(self, map: &Array<T, u32>) -> Result<u32, PlaneError> {
        Ok(map.get(&self.which, 0)? % TABLES)
    }

    /// Has `value` be the one that counts.
    pub fn set<V: Pod>(&mut self, current: &mut Map, places: &mut Map, value: V) -> Result<(), PlaneError> {
        let mut current = Array::<_, u32>::try_from(current)?;
        let next = (self.current(&current)? + 1) % TABLES;
        let mut places = Array::<_, V>::try_from(places)?;
        // A frame that has begun with the value that was here is done when all programs have been outside once.
        if self.since + 1 >= TABLES && (next == 0 || !is_blank(&places.get(&next, 0)?)) {
            outlast_programs();
            self.since = 0;
        }
        places.set(next, value, 0)?;
        current.set(self.which, next, 0)?;
        self.since = (self.since + 1).min(TABLES);
        Ok(())
    }
}

/// Whether a value is as the kernel makes it. In its place no frame has found any: only the first place counts
/// before something is set.
fn is_blank<V: Pod>(value: &V) -> bool {
    // SAFETY: the bytes of a value that has no padding.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size_of::<V>()) };
    bytes.iter().all(|byte| *byte == 0)
}

/// Returns when every program that was running has ended: they run where RCU is being read, and this waits
/// for the readers of RCU (membarrier(2), Linux 4.3). A kernel without it has programs end anyway.
fn outlast_programs() {
    // SAFETY: no pointers.
    if unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) } != 0 {
        let error = io::Error::last_os_error();
        tracing::debug!(%error, "membarrier");
        // Longer than any frame takes.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
