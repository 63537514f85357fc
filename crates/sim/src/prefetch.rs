//! Hints to the processor: data that is needed soon.

/// Prefetches `data` into the cache; a hint without effect on any result.
#[inline(always)]
pub fn prefetch<T>(data: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address has no effect that a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(data.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}
