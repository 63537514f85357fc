//! Serializes starting daemons: one at a time checks the owners of interfaces and attaches its program.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::refusal::Refusal;

/// How long to wait for one other starting daemon, however many are ahead. A start takes about 0.3 s, on a busy machine
/// seconds.
pub const PATIENCE: Duration = Duration::from_secs(30);

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
    let mut seen = turn(&file).map_err(failed)?;
    let mut until = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let now = turn(&file).map_err(failed)?;
        if now != seen {
            (seen, until) = (now, Instant::now() + patience);
        } else if Instant::now() >= until {
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

    #[tokio::test]
    async fn many_turns_are_waited_for_and_one_that_does_not_end_is_not() {
        let run = std::env::temp_dir().join(format!("weft-turn-{}", std::process::id()));
        std::fs::create_dir_all(&run).unwrap();
        let (patience, each) = (Duration::from_millis(600), Duration::from_millis(100));
        let start = Instant::now();
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let run = run.clone();
            waiting.spawn(async move {
                let _turn = take(&run, patience).await.map_err(|error| error.to_string())?;
                tokio::time::sleep(each).await;
                Ok::<_, String>(())
            });
        }
        assert_eq!(waiting.join_all().await, vec![Ok(()); 10]);
        assert!(start.elapsed() > patience, "the last one waits longer than for a single holder");
        let _held = take(&run, patience).await.unwrap();
        let refused = take(&run, patience).await.unwrap_err().to_string();
        assert!(refused.contains("another weft-switchd holds it"), "{refused}");
        std::fs::remove_dir_all(run).unwrap();
    }
}
