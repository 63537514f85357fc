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

/// Prefetches all cache lines of `data`.
#[inline(always)]
pub fn prefetch_all<T>(data: &T) {
    let start: *const u8 = std::ptr::from_ref(data).cast();
    for line in (0..size_of::<T>()).step_by(64) {
        prefetch(start.wrapping_add(line));
    }
}
