//! The border between Weft and a module: C functions with bytes in and bytes out. Text is UTF-8; requests and answers
//! are JSON (see `message.rs`).

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The name of the module's [`Table`].
pub const SYMBOL: &[u8] = b"WEFT_PLUGIN\0";

/// The start of every identity.
pub const MARK: &str = "module of Weft ";

/// Version and sources of Weft with which a module was built, and a NUL. Modules with another identity are refused.
pub const IDENTITY: &str =
    concat!("module of Weft ", env!("CARGO_PKG_VERSION"), " (sources ", env!("WEFT_SOURCES"), ")\0");

/// Bytes of the caller, valid during the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    start: *const u8,
    length: usize,
}

impl Bytes {
    /// The bytes of `slice`.
    pub fn of(slice: &[u8]) -> Self {
        Self { start: slice.as_ptr(), length: slice.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    /// They were made from a slice that exists for `'a`.
    pub unsafe fn get<'a>(self) -> &'a [u8] {
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// A file that a scenario names.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name, as written there.
    pub name: Bytes,
    /// Its contents.
    pub contents: Bytes,
}

/// The progress of a run, in Weft's memory; see `weft_sim::engine::Progress`.
#[repr(C)]
#[derive(Debug)]
pub struct Gauges<'a> {
    /// Simulated time.
    pub time_ps: &'a AtomicU64,
    /// Packet-hops.
    pub packet_hops: &'a AtomicU64,
    /// Packets with data.
    pub data_packets: &'a AtomicU64,
    /// Finished flows.
    pub flows: &'a AtomicU64,
    /// CPU time of helping threads.
    pub helpers_ns: &'a AtomicU64,
    /// Set by Weft to stop the run.
    pub stop: &'a AtomicBool,
}

/// Receives the answer to a call, before it returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Passed to `take`.
    pub context: *mut c_void,
    /// Copies the answer; called once.
    pub take: extern "C" fn(context: *mut c_void, answer: Bytes),
}

/// The functions of a module. Other fields must not be read if the identity differs. None of them unwinds.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// [`IDENTITY`] of the module, a C string.
    pub identity: *const c_char,
    /// Describes the scheme or congestion controller.
    pub describe: extern "C" fn(answer: Answer),
    /// Checks parameters of a scheme, and whether it runs on a fabric.
    pub check: extern "C" fn(request: Bytes, answer: Answer),
    /// Carries out a run. Several threads may call it at once.
    pub run:
        extern "C" fn(request: Bytes, files: *const File, count: usize, gauges: &Gauges<'_>, answer: Answer),
}

// SAFETY: the identity is a constant.
unsafe impl Sync for Table {}
