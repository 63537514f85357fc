//! [`PlaneError`]: why the data plane could not be loaded, read or written; [`as_line`]: how programs print errors.

use std::io;
use std::path::PathBuf;

use aya::EbpfError;
use aya::maps::MapError;
use aya::programs::ProgramError;
use aya::programs::links::LinkError;
use thiserror::Error;
use weft_units::reason;

/// An error as printed by programs, with the prefix `error: `, which configuration errors already have.
pub fn as_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    if text.starts_with("error:") { text } else { format!("error: {text}") }
}

/// Why the data plane could not be loaded, read or written.
#[derive(Debug, Error)]
pub enum PlaneError {
    /// The object was refused.
    #[error("loading the data plane: {0}")]
    Load(#[from] EbpfError),
    /// The program was refused, or did not run.
    #[error("data plane program: {0}")]
    Program(#[from] ProgramError),
    /// An attachment could not be made, kept or removed.
    #[error("attaching the data plane: {0}")]
    Link(#[from] LinkError),
    /// A map could not be read or written.
    #[error("data plane map: {0}")]
    Map(#[from] MapError),
    /// Entries of a map could not be read or written.
    #[error("data plane map: {0}")]
    Entries(#[from] io::Error),
    /// The object lacks a required part.
    #[error("the data plane has no `{0}`")]
    Missing(&'static str),
    /// A pin could not be read or written.
    #[error("{path}: {}", reason(error), path = path.display())]
    Pin {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A foreign entry in the pin directory, which is left alone.
    #[error("{path} was not created by Weft: {why}; nothing was changed or removed", path = path.display())]
    NotOurs {
        /// The foreign entry.
        path: PathBuf,
        /// Why it is considered foreign.
        why: String,
    },
    /// The object cannot be parsed.
    #[error("the data plane is not a valid object file: {0}")]
    Object(#[from] aya_obj::ParseError),
}

impl PlaneError {
    /// Whether the kernel lacks a feature or its verifier refuses the program, as opposed to missing memory or
    /// privileges, or a conflict.
    pub fn is_of_kernel(&self) -> bool {
        /// The kernel-internal `ENOTSUPP`, which is in no user-space header.
        const UNSUPPORTED: i32 = 524;
        let unknown = [libc::EINVAL, libc::E2BIG, libc::ENOSYS, libc::EOPNOTSUPP, UNSUPPORTED];
        os_error(self).is_some_and(|code| {
            unknown.contains(&code)
                // From the verifier; missing privileges give EPERM.
                || code == libc::EACCES
                // No such qdisc or filter.
                || code == libc::ENOENT
        })
    }
}

/// The error number of the system call that caused an error, if one did.
pub(crate) fn os_error(error: &(dyn std::error::Error + 'static)) -> Option<i32> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|error| error.downcast_ref::<io::Error>()).find_map(io::Error::raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_with_error_once() {
        for text in ["there is no switch", "error: there is no switch"] {
            assert_eq!(as_line(&text), "error: there is no switch");
        }
    }

    #[test]
    fn a_kernel_that_is_too_old_is_distinguished_from_one_that_has_no_memory() {
        let create = |code| {
            let io_error = io::Error::from_raw_os_error(code);
            PlaneError::Load(EbpfError::MapError(MapError::CreateError { name: "paths".into(), io_error }))
        };
        assert!(create(libc::EINVAL).is_of_kernel());
        assert!(!create(libc::ENOMEM).is_of_kernel());
        assert!(!create(libc::EPERM).is_of_kernel());
        let missing = PlaneError::Missing("program");
        assert!(!missing.is_of_kernel());
    }
}
