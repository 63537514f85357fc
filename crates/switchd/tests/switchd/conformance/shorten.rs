//! Shortens a sequence that shows a difference.

/// Removes steps from a sequence as long as it still `fails`: halves first, single steps last. `merge` adds what has to
/// stay of removed steps to the one after them.
pub fn shorten<S: Clone>(
    mut steps: Vec<S>,
    merge: impl Fn(&mut S, &[S]),
    fails: impl Fn(&[S]) -> bool,
) -> Vec<S> {
    let mut chunk = steps.len().div_ceil(2);
    while chunk > 0 {
        let mut end = steps.len().saturating_sub(1);
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut fewer = steps.clone();
            let gone: Vec<S> = fewer.drain(start..end).collect();
            merge(&mut fewer[start], &gone);
            if fails(&fewer) {
                steps = fewer;
            }
            end = start;
        }
        chunk /= 2;
    }
    steps
}
