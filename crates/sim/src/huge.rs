//! Huge pages for the arrays that every hop touches: with pages of 4 kB, large fabrics would miss the processor's address
//! translation cache at almost every access.

/// The size of a huge page on x86-64 and most others.
const HUGE: usize = 2 << 20;

/// Makes room for `more` elements, at least doubling the capacity, on pages that are not in use yet.
#[cold]
pub fn reserve<T>(data: &mut Vec<T>, more: usize) {
    let mut larger = Vec::with_capacity(data.len() + more.max(data.len()));
    advise(&larger);
    larger.append(data);
    *data = larger;
}

/// Asks the kernel for huge pages behind the whole capacity of `data`, where it spans any; a hint without effect on
/// any result (madvise(2)).
fn advise<T>(data: &Vec<T>) {
    let (start, bytes) = (data.as_ptr().addr(), data.capacity() * size_of::<T>());
    let (from, to) = (start.next_multiple_of(HUGE), (start + bytes) / HUGE * HUGE);
    if from >= to {
        return;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the pages belong to `data`; the advice changes neither their contents nor their protection.
    unsafe {
        libc::madvise(data.as_ptr().with_addr(from).cast_mut().cast(), to - from, libc::MADV_HUGEPAGE);
    }
}
