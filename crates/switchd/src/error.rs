//! [`PlaneError`]: why the data plane could not be loaded, read or written, and whose fault that is; [`as_line`]: how
//! programs print errors.

use std::io;
use std::path::PathBuf;

use aya::EbpfError;
use aya::maps::MapError;
use aya::programs::ProgramError;
use aya::programs::links::LinkError;
use thiserror::Error;

/// An error as a program prints it: `error: ` and what was wrong. What is said about a configuration begins so already.
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
    #[error("the program of the data plane: {0}")]
    Program(#[from] ProgramError),
    /// An attachment could not be made, kept or taken away.
    #[error("attaching the data plane: {0}")]
    Link(#[from] LinkError),
    /// A map could not be read or written.
    #[error("a map of the data plane: {0}")]
    Map(#[from] MapError),
    /// Entries of a map could not be read or written.
    #[error("a map of the data plane: {0}")]
    Entries(#[from] io::Error),
    /// The object lacks what belongs to every mode.
    #[error("the data plane has no `{0}`")]
    Missing(&'static str),
    /// What is pinned could not be read or written.
    #[error("{path}: {error}", path = path.display())]
    Pin {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something that Weft did not make is where its pins are: it is left alone.
    #[error("{path} is not Weft's: {why}; nothing is changed or removed", path = path.display())]
    NotOurs {
        /// What is not Weft's.
        path: PathBuf,
        /// How that is seen.
        why: String,
    },
    /// The object cannot be read.
    #[error("the data plane is no object: {0}")]
    Object(#[from] aya_obj::ParseError),
}

impl PlaneError {
    /// Whether the kernel does not know what it was asked for, or its verifier says no; rather than that
    /// memory or a privilege was missing, or that something is in the way.
    pub fn is_of_kernel(&self) -> bool {
        /// `ENOTSUPP` of the kernel's own, which no header has.
        const UNSUPPORTED: i32 = 524;
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if let Some(code) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
                let unknown = [libc::EINVAL, libc::E2BIG, libc::ENOSYS, libc::EOPNOTSUPP, UNSUPPORTED];
                return unknown.contains(&code)
                    // That is how the verifier refuses; whoever lacks a privilege gets EPERM.
                    || code == libc::EACCES
                    // There is no such qdisc, or no such filter.
                    || code == libc::ENOENT;
            }
            cause = error.source();
        }
        false
    }
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
    fn a_kernel_that_is_too_old_is_told_from_one_that_has_no_memory() {
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
