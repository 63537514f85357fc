//! Loading programs into the kernel.

use std::fs::File;
use std::io;

use aya::programs::{ProgramError, SchedClassifier};
use aya_obj::VerifierLog;

/// Attempts to load a program that signals interrupt, the same number as in libbpf.
const TRIES: usize = 5;

/// Checks that this many file descriptors are free.
///
/// # Errors
/// The limit that is reached, of the process or of the system.
pub fn check_descriptors(count: usize) -> io::Result<()> {
    (0..count).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>().map(drop)
}

/// Loads a program into the kernel, retrying if a signal interrupts the verifier (EAGAIN).
///
/// # Errors
/// The verifier's error, with its log; without a log if the process has no file descriptor left for the program.
pub fn load(program: &mut SchedClassifier) -> Result<(), ProgramError> {
    // Fails as loading would: the kernel allocates the program's descriptor last, and the verifier would run again for its
    // log, which does not name the cause.
    check_descriptors(1).map_err(|io_error| ProgramError::LoadError {
        io_error,
        verifier_log: VerifierLog::new(String::new()),
    })?;
    insist(
        || program.load(),
        |error| match error {
            ProgramError::LoadError { io_error, .. } => io_error.raw_os_error(),
            _ => None,
        },
    )
}

/// Retries a few times on EAGAIN.
fn insist<E>(mut load: impl FnMut() -> Result<(), E>, errno: impl Fn(&E) -> Option<i32>) -> Result<(), E> {
    for _ in 1..TRIES {
        match load() {
            Err(error) if errno(&error) == Some(libc::EAGAIN) => {}
            done => return done,
        }
    }
    load()
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    /// The number of attempts if the first `ends` fail with `errno`, and whether the last one succeeds.
    fn tried(ends: usize, errno: i32) -> (usize, bool) {
        let mut tries = 0;
        let load = || {
            tries += 1;
            if tries > ends { Ok(()) } else { Err(Error::from_raw_os_error(errno)) }
        };
        let done = insist(load, Error::raw_os_error);
        (tries, done.is_ok())
    }

    #[test]
    fn a_program_is_loaded_again_after_a_signal_and_after_nothing_else() {
        assert_eq!(tried(0, libc::EAGAIN), (1, true));
        assert_eq!(tried(4, libc::EAGAIN), (5, true));
        assert_eq!(tried(5, libc::EAGAIN), (5, false));
        assert_eq!(tried(1, libc::EACCES), (1, false));
    }
}
