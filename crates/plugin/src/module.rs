//! The side of the module: answers Weft's calls for one [`Content`].

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use weft_scenario::Scenario;
use weft_sim::engine::Progress;
use weft_sim::module::Ended;
use weft_switching::Schemes;

use crate::abi::{Answer, Bytes, File, Gauges, IDENTITY, Table};
use crate::content::Content;
pub use crate::content::{OfController, OfScheme};
use crate::message::{Extension, Reply, Run, RunOutcome, Source, json, parsed};
use crate::panics::caught;

/// How often progress crosses the border.
const TICK: Duration = Duration::from_millis(100);

/// Makes the crate a module with this [`Scheme`](crate::Scheme), or, behind `congestion`, with this
/// [`CongestionController`](crate::CongestionController). The crate must be a `cdylib`.
#[macro_export]
macro_rules! export {
    (congestion $controller:ty) => {
        $crate::export!(@ $crate::module::OfController<$controller>);
    };
    (@ $content:ty) => {
        /// The module, as Weft finds it.
        // SAFETY: no other symbol of a module has this name.
        #[unsafe(no_mangle)]
        pub static WEFT_PLUGIN: $crate::abi::Table = $crate::module::table::<$content>();
    };
    ($scheme:ty) => {
        $crate::export!(@ $crate::module::OfScheme<$scheme>);
    };
}

/// The functions of a module with `B`.
pub const fn table<B: Content>() -> Table {
    Table { identity: IDENTITY.as_ptr().cast(), describe: describe::<B>, check: check::<B>, run: run::<B> }
}

extern "C" fn describe<B: Content>(answer: Answer) {
    reply(answer, || Ok(B::describe()));
}

extern "C" fn check<B: Content>(request: Bytes, answer: Answer) {
    // SAFETY: the bytes are valid during the call.
    reply(answer, || B::check(&parsed(unsafe { request.get() })?));
}

extern "C" fn run<B: Content>(
    request: Bytes,
    files: *const File,
    count: usize,
    gauges: &Gauges<'_>,
    answer: Answer,
) {
    reply(answer, || {
        // SAFETY: `files` has `count` files, which are valid during the call like the request.
        let (request, files) = unsafe { (request.get(), std::slice::from_raw_parts(files, count)) };
        // SAFETY: the same.
        let files = files.iter().map(|file| unsafe { (file.name.get(), file.contents.get()) });
        let files: HashMap<&[u8], &[u8]> = files.collect();
        let request: Run = parsed(request)?;
        let progress = Progress::default();
        let ending = mirrored(&progress, gauges, || carry_out::<B>(&request, &files, &progress));
        Ok(match ending {
            Ok(Some(size)) => RunOutcome::Ended { size, alone: progress.alone.get().cloned() },
            Ok(None) => RunOutcome::Stopped,
            Err((why, is_disk_full)) => RunOutcome::Failed { why, is_disk_full },
        })
    });
}

/// Answers with the value of `work`; an error means that the two sides do not understand each other.
fn reply<T: Serialize>(answer: Answer, work: impl FnOnce() -> Result<T, String>) {
    let reply = match caught(work) {
        Ok(Ok(value)) => Reply::Answer(value),
        Ok(Err(error)) => Reply::Panic(error),
        Err(panic) => Reply::Panic(panic),
    };
    (answer.take)(answer.context, Bytes::of(&json(&reply)));
}

/// The run; an error comes with whether the disk was full.
fn carry_out<B: Content>(
    request: &Run,
    files: &HashMap<&[u8], &[u8]>,
    progress: &Progress,
) -> Result<Option<Ended>, (String, bool)> {
    let load = |file: &str| match files.get(file.as_bytes()) {
        Some(contents) => Ok(contents.to_vec()),
        None => Err("the scenario does not name this file".to_owned()),
    };
    let failed = |why: String| (why, false);
    let scenario = scenario::<B>(&request.scenario).map_err(failed)?;
    let point = scenario.point(&request.point).map_err(failed)?;
    let plan = scenario.plan(point, &load).map_err(|wrong| failed(wrong.to_string()))?;
    let target = Path::new(&request.target);
    let report = B::write(&plan, target, scenario.text(), request.threads, progress);
    report
        .map(|report| report.as_ref().map(Ended::from))
        .map_err(|error| (error.to_string(), error.is_disk_full()))
}

/// The scenario of a request. The last one is kept: the runs of a sweep share it.
fn scenario<B: Content>(source: &Source) -> Result<Arc<Scenario>, String> {
    static LAST: Mutex<Option<(Vec<u8>, Arc<Scenario>)>> = Mutex::new(None);
    let key = json(source);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, scenario)) = last.as_ref().filter(|(known, _)| *known == key) {
        return Ok(Arc::clone(scenario));
    }
    let mut schemes = Schemes::default();
    B::add(&mut schemes);
    for other in source.others.iter().cloned() {
        match other {
            Extension::Scheme(scheme) => schemes.modules.push(Box::leak(Box::new(scheme.leak()))),
            Extension::Controller(controller) => schemes.controllers.push(controller.leak("")),
        }
    }
    let scenario = Scenario::parse_among(&source.text, &source.file, &source.sets, schemes);
    let scenario = Arc::new(scenario.map_err(|wrong| wrong.to_string())?);
    *last = Some((key, Arc::clone(&scenario)));
    Ok(scenario)
}

/// Runs `work`. Meanwhile, copies its progress to `gauges`, and a stop request from `gauges` to it.
fn mirrored<T>(progress: &Progress, gauges: &Gauges<'_>, work: impl FnOnce() -> T) -> T {
    struct Over<'a>(&'a AtomicBool, std::thread::Thread);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
            self.1.unpark();
        }
    }
    let copy = || {
        let pairs = [
            (&progress.time_ps, gauges.time_ps),
            (&progress.packet_hops, gauges.packet_hops),
            (&progress.data_packets, gauges.data_packets),
            (&progress.flows, gauges.flows),
            (&progress.helpers_ns, gauges.helpers_ns),
        ];
        pairs.iter().for_each(|(from, to)| to.store(from.load(Ordering::Relaxed), Ordering::Relaxed));
        progress.stop.store(gauges.stop.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    let is_over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let mirror = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                copy();
                std::thread::park_timeout(TICK);
            }
        });
        let _over = Over(&is_over, mirror.thread().clone());
        work()
    });
    copy();
    done
}
