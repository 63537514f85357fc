//! [`Loads`]: how much several threads could gain, counted while a run is divided.
//!
//! A model: it knows the events of each partition in each window, and nothing of caches, barriers and packets that
//! cross. A window takes as long as the thread with the most events.

/// Numbers of threads for which the gain is counted.
pub const THREADS: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// The events of all windows so far.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// The events of each partition at the end of the last window.
    before: Vec<u64>,
    /// All events.
    total: u64,
    /// Windows.
    windows: u64,
    /// For each number of threads, the sum over windows of the most events of one thread.
    longest: [u64; THREADS.len()],
}

impl Loads {
    /// Adds a window; `events` are those of each partition since the start.
    pub fn add(&mut self, events: &[u64]) {
        self.before.resize(events.len(), 0);
        let mut window: Vec<u64> =
            events.iter().zip(&self.before).map(|(now, before)| now - before).collect();
        self.before.copy_from_slice(events);
        self.total += window.iter().sum::<u64>();
        self.windows += 1;
        window.sort_unstable_by(|a, b| b.cmp(a));
        for (threads, longest) in THREADS.iter().zip(&mut self.longest) {
            // Each partition to the thread with the least events so far, the largest first (Graham 1969).
            let mut loads = vec![0; *threads];
            for part in &window {
                *loads.iter_mut().min().expect("there is a thread") += part;
            }
            *longest += loads.into_iter().max().unwrap_or(0);
        }
    }

    /// For each number of threads, all events relative to those of the busiest threads.
    pub fn gains(&self) -> Vec<(usize, f64)> {
        let gain = |longest: u64| self.total as f64 / longest.max(1) as f64;
        THREADS.into_iter().zip(self.longest.map(gain)).collect()
    }

    /// The mean number of events in a window.
    pub fn events_per_window(&self) -> f64 {
        self.total as f64 / self.windows.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_as_long_as_its_longest_thread() {
        let mut loads = Loads::default();
        loads.add(&[6, 2, 2, 2]);
        loads.add(&[6, 6, 6, 6]);
        // Two threads: 6 | 2 2 2, then 4 4 | 4 0. Four: 6, then 4.
        assert_eq!(loads.gains()[..2], [(2, 24.0 / 14.0), (4, 24.0 / 10.0)]);
        assert!((loads.events_per_window() - 12.0).abs() < 1e-9);
    }
}
