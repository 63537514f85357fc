//! [`Turns`]: atomic replacement of a value that programs read. It has several places, one of which is current; the next
//! one is fully written before it becomes current.

use std::borrow::Borrow;
use std::io;

use aya::Pod;
use aya::maps::{Array, Map, MapData};

use super::layout::TABLES;
use crate::error::PlaneError;

/// `MEMBARRIER_CMD_GLOBAL`.
const GLOBAL: libc::c_long = 1;

/// The number of changes since no program could be reading an old place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turns {
    /// The index in the map `current`.
    pub which: u32,
    since: u32,
}

impl Turns {
    /// The tables of gates.
    pub const GATES: Self = Self { which: 0, since: TABLES };
    /// The tables of kinds of rules.
    pub const KINDS: Self = Self { which: 1, since: TABLES };

    /// The current place.
    pub fn current<T: Borrow<MapData>>(self, map: &Array<T, u32>) -> Result<u32, PlaneError> {
        Ok(map.get(&self.which, 0)? % TABLES)
    }

    /// Makes `value` current.
    pub fn set<V: Pod>(&mut self, current: &mut Map, places: &mut Map, value: V) -> Result<(), PlaneError> {
        let mut current = Array::<_, u32>::try_from(current)?;
        let next = (self.current(&current)? + 1) % TABLES;
        let mut places = Array::<_, V>::try_from(places)?;
        // A frame may still use the old value in this place until all running programs have ended.
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

/// Whether a value is still as created by the kernel, so that no frame can have used it: before the first change, only the
/// first place is current.
fn is_blank<V: Pod>(value: &V) -> bool {
    // SAFETY: the bytes of a value that has no padding.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size_of::<V>()) };
    bytes.iter().all(|byte| *byte == 0)
}

/// Waits until every program now running has ended: programs run as RCU readers, and this waits for an RCU grace period
/// (membarrier(2), Linux 4.3). Kernels without it need a pause.
fn outlast_programs() {
    // SAFETY: no pointers.
    if unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) } != 0 {
        let error = io::Error::last_os_error();
        tracing::debug!(%error, "membarrier");
        // Longer than the processing of any frame.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
