//! Captures of a run's frames in pcapng files.
//!
//! A [`Request`] names links and flows. [`Request::of`] finds them in a run, [`Captures`] writes its files. A run that is
//! captured has one thread, and otherwise the same results: frames are traced as for `weft explore`.

mod file;
mod frames;
mod options;
mod recorder;
mod target;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use weft_pcapng::section;
use weft_scenario::Plan;
use weft_units::Bytes;

pub use file::Captured;
pub use recorder::Capturing;
pub use target::{Frames, Subject, Target};

use crate::record::Recorder;
use crate::results::ResultError;
use file::{CaptureFile, is_capture};

/// The program, as captures name it.
const APPLICATION: &str = concat!("weft ", env!("CARGO_PKG_VERSION"));

/// The frames to capture in every run of a sweep.
#[derive(Clone, Debug)]
pub struct Request {
    /// The links and flows.
    pub targets: Vec<Target>,
    /// The directory with a subdirectory of captures for each run.
    pub directory: PathBuf,
    /// The size after which a file takes no more frames.
    pub limit: Bytes,
    /// Identifies the scenario and its input files, so that no capture is mistaken for that of another one.
    pub scenario: String,
}

/// Why a capture is not possible.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The run has no such link or flow.
    #[error("cannot capture `{target}` in run {run}: {why}")]
    Unknown {
        /// The given name.
        target: String,
        /// The run's label.
        run: String,
        /// Why.
        why: String,
    },
    /// Two targets would be written to the same file.
    #[error("`{}` and `{}` would be captured in the same file, {file}: capture one of them", targets[0], targets[1])]
    SameFile {
        /// The targets.
        targets: [String; 2],
        /// The file's name.
        file: String,
    },
    /// There is another file in place of the capture.
    #[error(
        "{} holds another capture (another scenario, version or --capture-limit): remove it, or choose another \
         --capture-dir", path.display()
    )]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// Its frames are a plugin's.
    #[error("cannot capture frames of `{name}`, which is a plugin's: leave out --capture, or `{name}`")]
    OfModule {
        /// The scheme or congestion controller.
        name: &'static str,
    },
    /// A file that exists cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ResultError),
}

/// A capture of a run that has to be made: the file, its first block, and its frames.
struct Missing {
    path: PathBuf,
    section: Vec<u8>,
    frames: Frames,
}

/// The captures of a run that do not exist yet.
#[derive(Default)]
pub struct RunCaptures {
    missing: Vec<Missing>,
    limit: Bytes,
    /// The number of captures that exist already.
    pub existing: usize,
}

impl Request {
    /// The captures of a run of `plan`.
    ///
    /// # Errors
    /// [`CaptureError`]; nothing has been written.
    pub fn of(&self, plan: &Plan) -> Result<RunCaptures, CaptureError> {
        let mut captures = RunCaptures { missing: Vec::new(), limit: self.limit, existing: 0 };
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for target in &self.targets {
            let name = target.to_string();
            let subjects = target.resolve(plan).map_err(|why| CaptureError::Unknown {
                target: name.clone(),
                run: plan.label.clone(),
                why,
            })?;
            for Subject { file, description, frames } in subjects {
                match files.insert(file.clone(), name.clone()) {
                    Some(other) if other == name => continue,
                    Some(other) => return Err(CaptureError::SameFile { targets: [other, name], file }),
                    None => {}
                }
                let path = self.directory.join(&plan.id).join(file);
                let (run, scenario) = (&plan.id, &self.scenario);
                let comment =
                    format!("{description}; run {run} of scenario {scenario}; up to {} bytes", self.limit.0);
                let section = section(APPLICATION, &comment);
                match is_capture(&path, &section)? {
                    None => captures.missing.push(Missing { path, section, frames }),
                    Some(true) => captures.existing += 1,
                    Some(false) => return Err(CaptureError::Occupied { path }),
                }
            }
        }
        Ok(captures)
    }
}

impl RunCaptures {
    /// Whether there is nothing to capture.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// Starts the files, for a run of `plan` whose other output goes to `inner`.
    ///
    /// # Errors
    /// A file cannot be created; the others are removed.
    pub fn begin<'a, 'r>(
        self,
        plan: &'a Plan,
        inner: &'r mut dyn Recorder,
    ) -> Result<Capturing<'a, 'r>, ResultError> {
        let mut files: Vec<(CaptureFile<'a>, Frames)> = Vec::new();
        for Missing { path, section, frames } in self.missing {
            create_parent(&path)?;
            files.push((CaptureFile::create(&plan.fabric, &path, &section, self.limit)?, frames));
        }
        Ok(Capturing::new(plan, files.into_iter(), inner))
    }
}

fn create_parent(path: &Path) -> Result<(), ResultError> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|source| ResultError { path: parent.to_owned(), source })
}

/// Completes the captures of a run, or removes them if it was stopped.
///
/// # Errors
/// The first error; the captures that could not be completed are removed.
pub fn finish(capturing: Capturing<'_, '_>, stopped: bool) -> Result<Vec<Captured>, ResultError> {
    let (mut finished, mut failure) = (Vec::new(), None);
    for file in capturing.into_files().filter(|_| !stopped) {
        match file.finish() {
            Ok(captured) => finished.push(captured),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(finished), Err)
}
