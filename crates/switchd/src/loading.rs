//! Programs into the kernel.

use aya::programs::{ProgramError, SchedClassifier};

/// How often a program is loaded where signals come in between, as often as libbpf does.
const TRIES: usize = 5;

/// Has the kernel verify a program and take it. The verifier gives up with EAGAIN when a signal arrives; it is asked again.
///
/// # Errors
/// The verifier's, with its log.
pub fn load(program: &mut SchedClassifier) -> Result<(), ProgramError> {
    for _ in 1..TRIES {
        match program.load() {
            Err(ProgramError::LoadError { io_error, .. })
                if io_error.raw_os_error() == Some(libc::EAGAIN) => {}
            done => return done,
        }
    }
    program.load()
}
