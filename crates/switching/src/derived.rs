//! [`Derived`]: the results that a scheme computes from the routes of a whole fabric, once for all switches.

use std::sync::{Arc, Mutex, PoisonError};

use crate::forwarding::Forwarding;

/// Routes and their results: the first ones requested (the fabric as built) and the latest ones. Path finders alternate
/// between the two.
type Known<T> = Vec<(Arc<Forwarding>, Arc<T>)>;

/// The results of `compute`.
pub(crate) struct Derived<T> {
    compute: fn(&Forwarding) -> T,
    known: Mutex<Known<T>>,
}

impl<T> Derived<T> {
    /// Creates a value that is computed on first use.
    pub(crate) fn new(compute: fn(&Forwarding) -> T) -> Arc<Self> {
        Arc::new(Self { compute, known: Mutex::new(Vec::new()) })
    }

    /// The result for `routes`.
    pub(crate) fn of(&self, routes: &Arc<Forwarding>) -> Arc<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = known.iter().find(|(of, _)| Arc::ptr_eq(of, routes)) {
            return Arc::clone(result);
        }
        let result = Arc::new((self.compute)(routes));
        known.truncate(1);
        known.push((Arc::clone(routes), Arc::clone(&result)));
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use weft_fabric::{LinkSpec, build};

    use super::*;

    static COMPUTED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn nothing_is_computed_twice_for_the_fabric_as_built_and_the_latest_routes() {
        let spec = LinkSpec::default();
        let fabric = build::spine_leaf(2, 2, 1, &spec, &spec).expect("the sizes are positive");
        let routes = || Arc::new(Forwarding::new(&fabric, |_| true));
        let derived = Derived::new(|_| COMPUTED.fetch_add(1, Ordering::Relaxed));
        let (built, first, second) = (routes(), routes(), routes());
        for (of, result) in
            [(&built, 0), (&first, 1), (&built, 0), (&first, 1), (&second, 2), (&built, 0), (&second, 2)]
        {
            assert_eq!(*derived.of(of), result);
        }
        assert_eq!(COMPUTED.load(Ordering::Relaxed), 3);
    }
}
