//! The side of the module: answers Weft's calls for one [`Scheme`].

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use weft_fabric::{LinkSpec, read};
use weft_scenario::Scenario;
use weft_sim::engine::Progress;
use weft_sim::module::Ended;
use weft_sim::run::run_own_to_directory;
use weft_switching::{Descriptor, Schemes};

use crate::abi::{Answer, Bytes, File, Gauges, IDENTITY, Table};
use crate::message::{Check, Described, Ending, Reply, Run, Source, Wrong, json, parsed};
use crate::panics::caught;
use crate::scheme::{Scheme, Setting};

/// How often progress crosses the border.
const TICK: Duration = Duration::from_millis(100);

/// Makes the crate a module with this [`Scheme`]. The crate must be a `cdylib`.
#[macro_export]
macro_rules! export {
    ($scheme:ty) => {
        /// The module, as Weft finds it.
        // SAFETY: no other symbol of a module has this name.
        #[unsafe(no_mangle)]
        pub static WEFT_PLUGIN: $crate::abi::Table = $crate::module::table::<$scheme>();
    };
}

/// The functions of a module with `S`.
pub const fn table<S: Scheme>() -> Table {
    Table { identity: IDENTITY.as_ptr().cast(), describe: describe::<S>, check: check::<S>, run: run::<S> }
}

extern "C" fn describe<S: Scheme>(answer: Answer) {
    reply(answer, || Ok(Described::from(&S::DESCRIPTOR)));
}

extern "C" fn check<S: Scheme>(request: Bytes, answer: Answer) {
    reply(answer, || {
        // SAFETY: the bytes are valid during the call.
        let Check { spec, fabric } = parsed(unsafe { request.get() })?;
        let scheme = S::DESCRIPTOR;
        let wrong = match fabric {
            None => scheme.contradiction_of(&spec),
            Some(text) => {
                let fabric = read::file("fabric.toml", text.as_bytes(), &LinkSpec::default());
                scheme.misfit_of(&spec, &fabric.map_err(|error| error.to_string())?)
            }
        };
        Ok(wrong.map(Wrong::from))
    });
}

extern "C" fn run<S: Scheme>(
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
        let ending = mirrored(&progress, gauges, || carry_out::<S>(&request, &files, &progress));
        Ok(match ending {
            Ok(Some(size)) => Ending::Ended { size, alone: progress.alone.get().cloned() },
            Ok(None) => Ending::Stopped,
            Err((why, is_disk_full)) => Ending::Failed { why, is_disk_full },
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
fn carry_out<S: Scheme>(
    request: &Run,
    files: &HashMap<&[u8], &[u8]>,
    progress: &Progress,
) -> Result<Option<Ended>, (String, bool)> {
    let load = |file: &str| match files.get(file.as_bytes()) {
        Some(contents) => Ok(contents.to_vec()),
        None => Err("the scenario does not name this file".to_owned()),
    };
    let failed = |why: String| (why, false);
    let scenario = scenario::<S>(&request.scenario).map_err(failed)?;
    let point = scenario.points().iter().find(|point| point.id == request.point);
    let point = point.ok_or_else(|| failed(format!("the module finds no run `{}`", request.point)))?;
    let plan = scenario.plan(point, &load).map_err(|wrong| failed(wrong.to_string()))?;
    let make = |routes: &_| {
        S::new(&Setting { fabric: &plan.fabric, routes, seed: plan.seed, parameters: &plan.scheme })
    };
    let target = (Path::new(&request.target), scenario.text());
    let report = run_own_to_directory(&plan, make, target, request.threads, progress);
    report
        .map(|report| report.as_ref().map(Ended::from))
        .map_err(|error| (error.to_string(), error.is_disk_full()))
}

/// The scenario of a request. The last one is kept: the runs of a sweep share it.
fn scenario<S: Scheme>(source: &Source) -> Result<Arc<Scenario>, String> {
    static LAST: Mutex<Option<(Vec<u8>, Arc<Scenario>)>> = Mutex::new(None);
    let key = json(source);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, scenario)) = last.as_ref().filter(|(known, _)| *known == key) {
        return Ok(Arc::clone(scenario));
    }
    let own: &'static Descriptor = const { &S::DESCRIPTOR };
    let others = source.others.iter().map(|other| &*Box::leak(Box::new(other.clone().leak())));
    let schemes = Schemes { modules: std::iter::once(own).chain(others).collect() };
    let scenario = Scenario::parse_among(&source.text, &source.file, &source.sets, schemes);
    let scenario = Arc::new(scenario.map_err(|wrong| wrong.to_string())?);
    *last = Some((key, Arc::clone(&scenario)));
    Ok(scenario)
}

/// Does `work` while its progress is copied to `gauges`, and the wish to stop from there.
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
