//! [`dependency_in_circle`]: whether nodes of one rank wait for each other.

/// A dependency of a circle, as the waiting node and the one that it waits for; `None` if there is no circle among
/// `count` nodes.
pub fn dependency_in_circle(
    count: usize,
    dependencies: impl Iterator<Item = (u32, u32)> + Clone,
) -> Option<(u32, u32)> {
    let mut open = vec![0_usize; count];
    let mut waiting = vec![Vec::new(); count];
    for (of, on) in dependencies.clone() {
        open[of as usize] += 1;
        waiting[on as usize].push(of);
    }
    let mut free: Vec<u32> = (0..count as u32).filter(|node| open[*node as usize] == 0).collect();
    while let Some(node) = free.pop() {
        for of in std::mem::take(&mut waiting[node as usize]) {
            open[of as usize] -= 1;
            if open[of as usize] == 0 {
                free.push(of);
            }
        }
    }
    // Each node that is left waits for one that is left, so that a walk along them comes to a circle.
    let mut on_left: Vec<Option<u32>> = vec![None; count];
    for (of, on) in dependencies.filter(|(_, on)| open[*on as usize] > 0) {
        on_left[of as usize].get_or_insert(on);
    }
    let mut node = (0..count as u32).find(|node| open[*node as usize] > 0)?;
    let mut seen = vec![false; count];
    loop {
        let on = on_left[node as usize]?;
        if seen[node as usize] {
            return Some((node, on));
        }
        seen[node as usize] = true;
        node = on;
    }
}
