//! Programs into the kernel.

use aya::programs::{ProgramError, SchedClassifier};

/// How often a program is loaded where signals come in between, as often as libbpf does.
const TRIES: usize = 5;

/// Has the kernel verify a program and take it. The verifier gives up with EAGAIN when a signal arrives; it is asked again.
///
/// # Errors
/// The verifier's, with its log.
pub fn load(program: &mut SchedClassifier) -> Result<(), ProgramError> {
    insist(
        || program.load(),
        |error| match error {
            ProgramError::LoadError { io_error, .. } => io_error.raw_os_error(),
            _ => None,
        },
    )
}

/// Does again, a few times, what a signal has ended.
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

    /// How often it is tried where `ends` of the tries end with `errno`, and whether it is done then.
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
