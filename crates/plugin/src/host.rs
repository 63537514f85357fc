//! The side of Weft: loads modules, and passes runs to them.
//!
//! A module is native code: loading it gives it all rights of the process. So only a file whose path somebody typed is
//! loaded, never one that is named in a scenario or found on a search path.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use serde::de::DeserializeOwned;
use thiserror::Error;
use weft_fabric::{Fabric, write};
use weft_scenario::{Plan, sha256};
use weft_sim::engine::Progress;
use weft_sim::module::{Ended, Job};
use weft_sim::run::RunError;
use weft_switching::{Checks, Contradiction, Descriptor, ParamInfo, SchemeSpec, Schemes, descriptor};
use weft_transport::{Config, CongestionControl, ControllerInfo};
use weft_units::reason;

use crate::abi::{Answer, Bytes, File, Gauges, IDENTITY, MARK, SYMBOL, Table};
use crate::message::{Check, Extension, ParamError, Reply, Run, RunOutcome, Source, json, parsed};

/// All modules of this process. They stay loaded: their code may be in use.
static LOADED: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());

/// The longest name of a scheme or parameter.
const LONGEST_NAME: usize = 60;

/// Why a module was not loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {}", path.display(), reason(why))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: io::Error,
    },
    /// The file is not a module.
    #[error("{} is not a plugin of Weft: {why}", path.display())]
    NotAModule {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The module was built with another version.
    #[error("{} is a plugin of another version: it was built with {found}, and this is {}", path.display(), own_version())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version, with a hash of its sources.
        found: String,
    },
    /// The extension of the module cannot be used.
    #[error("the plugin {}: {why}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file has changed since this process loaded it.
    #[error("{} has changed since this process loaded it: start a new process", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// A loaded module.
#[derive(Debug)]
pub struct Loaded {
    /// Its file, an absolute path.
    pub path: PathBuf,
    /// The extension it provides.
    pub known: Known,
    extension: Extension,
    interface: &'static ModuleInterface,
}

/// The extension that a module provides, as scenarios know it.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// A scheme.
    Scheme(&'static Descriptor),
    /// A congestion controller.
    Controller(&'static ControllerInfo),
}

impl Known {
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scheme(scheme) => scheme.name,
            Self::Controller(info) => info.name,
        }
    }
}

/// The functions of a module.
#[derive(Debug)]
struct ModuleInterface {
    table: &'static Table,
    sha256: String,
    params: Vec<&'static str>,
    is_choosy: bool,
    _library: Library,
}

/// Loads the module in a file, or returns it if it is loaded already.
///
/// # Errors
/// [`LoadError`]. Code of the file is executed only if it is a module of this version.
pub fn load(path: &Path) -> Result<&'static Loaded, LoadError> {
    let unreadable = |why| LoadError::Unreadable { path: path.to_owned(), why };
    // An absolute path: the linker would look for a bare name elsewhere.
    let path = &fs::canonicalize(path).map_err(unreadable)?;
    let bytes = fs::read(path).map_err(|why| LoadError::Unreadable { path: path.clone(), why })?;
    let sha256 = sha256(&bytes);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(module) = loaded.iter().find(|module| module.path == *path) {
        return match module.interface.sha256 == sha256 {
            true => Ok(module),
            false => Err(LoadError::Changed { path: path.clone() }),
        };
    }
    if is_cut_off(&bytes) {
        return Err(LoadError::NotAModule {
            path: path.clone(),
            why: "the end of the file is missing".to_owned(),
        });
    }
    check_version(path, &bytes)?;
    let (library, table) = open(path)?;
    let refused = |why| LoadError::Content { path: path.clone(), why };
    let extension: Extension = asked(|answer| (table.describe)(answer)).map_err(refused)?;
    check_names(&extension, &loaded).map_err(refused)?;
    let interface = |params: &[ParamInfo], is_choosy| -> &'static ModuleInterface {
        let params = params.iter().map(|param| param.name).collect();
        Box::leak(Box::new(ModuleInterface {
            table,
            sha256: sha256.clone(),
            params,
            is_choosy,
            _library: library,
        }))
    };
    let (known, interface) = match extension.clone() {
        Extension::Scheme(described) => {
            let is_choosy = described.is_choosy;
            let scheme = described.leak();
            let interface = interface(scheme.params, is_choosy);
            (Known::Scheme(Box::leak(Box::new(Descriptor { module: Some(interface), ..scheme }))), interface)
        }
        Extension::Controller(described) => {
            let info = described.leak(&sha256);
            (Known::Controller(info), interface(info.params, false))
        }
    };
    let module = Box::leak(Box::new(Loaded { path: path.clone(), known, extension, interface }));
    loaded.push(module);
    Ok(module)
}

/// All modules that this process has loaded.
pub fn loaded() -> Vec<&'static Loaded> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The schemes and congestion controllers that this process knows.
pub fn schemes() -> Schemes {
    let mut schemes = Schemes::default();
    for module in loaded() {
        match module.known {
            Known::Scheme(scheme) => schemes.modules.push(scheme),
            Known::Controller(info) => schemes.controllers.push(info),
        }
    }
    schemes
}

/// Version and hash of sources of this Weft.
fn own_version() -> &'static str {
    version(IDENTITY)
}

/// The version in an identity.
fn version(identity: &str) -> &str {
    identity.trim_end_matches('\0').trim_start_matches("module of ")
}

/// Refuses a file that does not contain [`IDENTITY`], before any of its code is executed.
fn check_version(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    let mut other = None;
    for at in memchr::memmem::find_iter(bytes, MARK) {
        let rest = &bytes[at..bytes.len().min(at + 100)];
        let identity = rest.split_inclusive(|&byte| byte == 0).next().unwrap_or_default();
        if identity == IDENTITY.as_bytes() {
            return Ok(());
        }
        let is_one = identity.ends_with(b")\0")
            && identity[..identity.len() - 1].iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        other = other.or(is_one.then(|| String::from_utf8_lossy(identity).into_owned()));
    }
    Err(match other {
        Some(identity) => {
            LoadError::OtherVersion { path: path.to_owned(), found: version(&identity).to_owned() }
        }
        None => {
            let why = "expected the module that `cargo build --release` makes of a plugin's crate".to_owned();
            LoadError::NotAModule { path: path.to_owned(), why }
        }
    })
}

/// Whether an ELF file ends before its section headers, which linkers write last. The dynamic linker maps such a file,
/// and the process dies when it touches the missing part.
fn is_cut_off(bytes: &[u8]) -> bool {
    let number = |at: usize, length: usize| {
        let bytes = bytes.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
    };
    // ELFCLASS64, ELFDATA2LSB; e_shoff, e_shentsize, e_shnum.
    let end = number(0x28, 8).saturating_add(number(0x3a, 2) * number(0x3c, 2));
    bytes.starts_with(b"\x7fELF\x02\x01") && end > bytes.len() as u64
}

/// Loads a file that contains [`IDENTITY`].
fn open(path: &Path) -> Result<(Library, &'static Table), LoadError> {
    let refused =
        |why: libloading::Error| LoadError::NotAModule { path: path.to_owned(), why: why.to_string() };
    // SAFETY: executes the file's initialisers, as the user asked.
    let library = unsafe { Library::new(path) }.map_err(refused)?;
    // SAFETY: the symbol is a table if the file is a module.
    let table = unsafe { library.get::<*const Table>(SYMBOL) }.map_err(refused)?;
    // SAFETY: as above; the library stays loaded for ever.
    let identity = unsafe { CStr::from_ptr((**table).identity) };
    if identity.to_bytes_with_nul() != IDENTITY.as_bytes() {
        let found = version(&identity.to_string_lossy()).to_owned();
        return Err(LoadError::OtherVersion { path: path.to_owned(), found });
    }
    // SAFETY: a module of this identity has a table like ours.
    let table: &'static Table = unsafe { &**table };
    Ok((library, table))
}

/// Refuses names that scenarios cannot use, and those of other schemes, controllers and parameters.
fn check_names(extension: &Extension, loaded: &[&Loaded]) -> Result<(), String> {
    let (name, names) = (extension.name(), || extension.params());
    let is_word = |name: &str| {
        let letters = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        letters && name.len() <= LONGEST_NAME && name.starts_with(|first: char| first.is_ascii_lowercase())
    };
    if let Some(name) = std::iter::once(name).chain(names()).find(|name| !is_word(name)) {
        return Err(format!("`{name:.60}` is not a name: use lower-case letters, digits and _"));
    }
    let is_of_scheme = |key: &str| key == "name";
    let is_of_transport = |key: &str| {
        ["profile", "protocol"].contains(&key) || Config::PARAMS.iter().any(|param| param.name == key)
    };
    let (kind, is_taken, has): (_, _, &dyn Fn(&str) -> bool) = match extension {
        Extension::Scheme(_) => ("scheme", descriptor(name).is_some(), &is_of_scheme),
        Extension::Controller(_) => {
            ("congestion controller", CongestionControl::WORDS.contains(&name), &is_of_transport)
        }
    };
    let mut seen = BTreeSet::new();
    if let Some(name) = names().find(|name| has(name) || !seen.insert(name.to_owned())) {
        return Err(format!("it cannot have a parameter `{name}`, which is taken"));
    }
    if is_taken {
        return Err(format!("Weft has a {kind} `{name}`: change the name in the plugin"));
    }
    match loaded.iter().find(|module| module.known.name() == name) {
        Some(other) => Err(format!("its {kind} `{name}` is that of {}, too", other.path.display())),
        None => Ok(()),
    }
}

/// The answer of a module to a call.
fn asked<T: DeserializeOwned>(call: impl FnOnce(Answer)) -> Result<T, String> {
    extern "C" fn take(context: *mut c_void, answer: Bytes) {
        // SAFETY: the context is the vector below, and the answer is valid during the call.
        unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(answer.get()) };
    }
    let mut bytes = Vec::<u8>::new();
    call(Answer { context: (&raw mut bytes).cast(), take });
    match parsed(&bytes)? {
        Reply::Answer(answer) => Ok(answer),
        Reply::Panic(panic) => Err(format!("the plugin panicked: {panic}")),
    }
}

impl ModuleInterface {
    fn check(&self, spec: &SchemeSpec, fabric: Option<String>) -> Option<Contradiction> {
        let request = json(&Check { spec: spec.clone(), fabric });
        let answer = asked(|answer| (self.table.check)(Bytes::of(&request), answer));
        let wrong: ParamError = answer.unwrap_or_else(|panic| {
            let expected = "correct the plugin's checks".to_owned();
            Some(ParamError { param: "name".to_owned(), message: panic, expected })
        })?;
        let param = self.params.iter().find(|param| **param == wrong.param).copied();
        Some(Contradiction {
            param: param.unwrap_or("name"),
            message: wrong.message,
            expected: wrong.expected,
        })
    }
}

impl Checks for ModuleInterface {
    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn contradiction(&self, spec: &SchemeSpec) -> Option<Contradiction> {
        self.check(spec, None)
    }

    fn is_choosy(&self) -> bool {
        self.is_choosy
    }

    fn misfit(&self, spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
        self.is_choosy.then(|| self.check(spec, Some(write::toml(fabric)))).flatten()
    }
}

impl weft_sim::module::Module for Loaded {
    fn name(&self) -> &'static str {
        self.known.name()
    }

    fn has(&self, plan: &Plan) -> bool {
        match self.known {
            Known::Scheme(scheme) => plan.scheme.name == scheme.name,
            Known::Controller(info) => plan.transport.protocol.controller() == Some(info),
        }
    }

    fn run(&self, job: &Job<'_>, progress: &Progress) -> Result<Option<Ended>, RunError> {
        let others = loaded().into_iter().filter(|other| other.known.name() != self.known.name());
        let request = json(&Run {
            scenario: Source {
                text: job.scenario.text().to_owned(),
                file: job.scenario.file().to_owned(),
                sets: job.scenario.given().to_vec(),
                others: others.map(|other| other.extension.clone()).collect(),
            },
            point: job.point.id.clone(),
            target: job.target.to_string_lossy().into_owned(),
            threads: job.threads,
        });
        let file = |(name, contents): (&String, &Vec<u8>)| File {
            name: Bytes::of(name.as_bytes()),
            contents: Bytes::of(contents),
        };
        let files: Vec<File> = job.files.iter().map(file).collect();
        let gauges = Gauges {
            time_ps: &progress.time_ps,
            packet_hops: &progress.packet_hops,
            data_packets: &progress.data_packets,
            flows: &progress.flows,
            helpers_ns: &progress.helpers_ns,
            stop: &progress.stop,
        };
        let run = |answer| {
            (self.interface.table.run)(Bytes::of(&request), files.as_ptr(), files.len(), &gauges, answer);
        };
        let failed = |why| RunError::Module { why, is_disk_full: false };
        match asked(run).map_err(failed)? {
            RunOutcome::Ended { size, alone } => {
                alone.map(|why| progress.alone.set(why));
                Ok(Some(size))
            }
            RunOutcome::Stopped => Ok(None),
            RunOutcome::Failed { why, is_disk_full } => Err(RunError::Module { why, is_disk_full }),
        }
    }
}
