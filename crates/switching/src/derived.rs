//! [`Derived`]: what a scheme computes from the routes of a whole fabric, once for all switches.

use std::sync::{Arc, Mutex, PoisonError};

use crate::forwarding::Forwarding;

/// The result of `compute` for the latest routes.
pub(crate) struct Derived<T> {
    compute: fn(&Forwarding) -> T,
    latest: Mutex<Option<(Arc<Forwarding>, Arc<T>)>>,
}

impl<T> Derived<T> {
    /// Nothing is computed yet.
    pub(crate) fn new(compute: fn(&Forwarding) -> T) -> Arc<Self> {
        Arc::new(Self { compute, latest: Mutex::new(None) })
    }

    /// The result for `routes`.
    pub(crate) fn of(&self, routes: &Arc<Forwarding>) -> Arc<T> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((known, result)) if Arc::ptr_eq(known, routes) => Arc::clone(result),
            _ => {
                let result = Arc::new((self.compute)(routes));
                *latest = Some((Arc::clone(routes), Arc::clone(&result)));
                result
            }
        }
    }
}
