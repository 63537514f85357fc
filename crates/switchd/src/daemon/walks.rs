//! [`Walks`]: which ports' flows are being walked (`background.rs`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Dead ports whose flows are being walked, and whether another walk has to follow: at most one thread per port,
/// however often it goes down.
#[derive(Default)]
pub struct Walks(Mutex<HashMap<u16, bool>>);

impl Walks {
    fn ports(&self) -> MutexGuard<'_, HashMap<u16, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to start a walk; if one is running, another will follow it.
    pub fn begin(&self, port: u16) -> bool {
        match self.ports().entry(port) {
            Entry::Occupied(mut again) => {
                again.insert(true);
                false
            }
            Entry::Vacant(free) => {
                free.insert(false);
                true
            }
        }
    }

    /// Whether another walk has to follow the one that has finished.
    pub fn again(&self, port: u16) -> bool {
        let mut ports = self.ports();
        let again = ports.insert(port, false) == Some(true);
        if !again {
            ports.remove(&port);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_breaks_often_is_looked_at_by_one_and_once_more() {
        let walks = Walks::default();
        assert_eq!((0..1000).filter(|_| walks.begin(3)).count(), 1);
        assert!(walks.begin(4), "ports are independent");
        assert!(walks.again(3), "it broke during the walk");
        assert!(!walks.again(3), "and not since");
        assert!(walks.begin(3), "it breaks again, with no walk running");
    }
}
