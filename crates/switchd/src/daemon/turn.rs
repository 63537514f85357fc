//! Serializes starting daemons: one at a time checks the owners of interfaces and attaches its program.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::refusal::Refusal;

/// How long to wait for one other starting daemon, however many are ahead. A start takes about 0.3 s, on a busy machine
/// seconds.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A wait for the lock, which ends when one holder keeps it for too long.
struct Wait {
    /// When the present holder took the lock, by its clock.
    taken: SystemTime,
    /// Until when to wait for this holder.
    until: Instant,
    patience: Duration,
}

impl Wait {
    /// Starts again if the lock has a new holder, who took it at `taken`. Returns whether to wait longer at `now`.
    fn renew(&mut self, taken: SystemTime, now: Instant) -> bool {
        if taken != self.taken {
            (self.taken, self.until) = (taken, now + self.patience);
        }
        now < self.until
    }
}

/// Takes the lock shared by all daemons, under a name that no switch can have; released when dropped.
///
/// # Errors
/// [`Refusal::File`] if one other daemon holds it for longer than `patience`.
pub async fn take(run: &Path, patience: Duration) -> Result<File, Refusal> {
    let path = run.join(".attach.lock");
    let failed = |error| Refusal::File { path: path.clone(), error };
    let options = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let mut file = options.map_err(failed)?;
    // Each holder writes to the file, so the others see when the holder changes.
    let turn = |file: &File| file.metadata().and_then(|data| data.modified());
    let mut wait = Wait { taken: turn(&file).map_err(failed)?, until: Instant::now() + patience, patience };
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if !wait.renew(turn(&file).map_err(failed)?, Instant::now()) {
            let why = format!(
                "another weft-switchd holds it and has been starting for {} s: find it with `fuser {}` and stop it",
                patience.as_secs(),
                path.display()
            );
            return Err(failed(io::Error::new(io::ErrorKind::TimedOut, why)));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_turns_are_waited_for_and_one_that_does_not_end_is_not() {
        let (patience, each) = (Duration::from_millis(600), Duration::from_millis(100));
        let (start, taken) = (Instant::now(), SystemTime::UNIX_EPOCH);
        let mut wait = Wait { taken, until: start + patience, patience };
        for turn in 0..10 {
            assert!(wait.renew(taken + each * turn, start + each * turn), "turn {turn}");
        }
        let last = taken + each * 9;
        assert!(wait.renew(last, start + each * 14));
        assert!(!wait.renew(last, start + each * 15), "600 ms after it began");
    }

    #[tokio::test]
    async fn one_at_a_time_has_the_lock() {
        let run = std::env::temp_dir().join(format!("weft-turn-{}", std::process::id()));
        std::fs::create_dir_all(&run).unwrap();
        let held = take(&run, PATIENCE).await.unwrap();
        let refused = take(&run, Duration::ZERO).await.unwrap_err().to_string();
        assert!(refused.contains("another weft-switchd holds it"), "{refused}");
        let next = tokio::spawn({
            let run = run.clone();
            async move { take(&run, PATIENCE).await.is_ok() }
        });
        drop(held);
        assert!(next.await.unwrap());
        std::fs::remove_dir_all(run).unwrap();
    }
}
