//! Panics of a module, with their positions: errors of one call.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Mutex, Once, PoisonError};

/// The maximum number of panics remembered.
const MOST: usize = 64;

/// Message and position of recent panics: a thread that helps passes on the message only.
static RECENT: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The value of `work`, or message and position of its panic. Nothing is printed, except backtraces on request
/// (`RUST_BACKTRACE=1`).
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // The module has its own copy of the standard library: Weft's own panics never come here.
    HOOK.call_once(|| {
        set_hook(Box::new(|panic| {
            let position =
                panic.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
            let message = message(panic.payload());
            let trace = Backtrace::capture();
            if trace.status() == BacktraceStatus::Captured {
                eprintln!("panic at {position}: {message}\n{trace}");
            }
            let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
            if recent.len() == MOST {
                recent.remove(0);
            }
            recent.push((message, position));
        }));
    });
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message(&*payload);
        let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = recent.iter().rev().find(|(text, _)| *text == message);
        seen.map_or_else(|| message.clone(), |(_, position)| format!("{message} ({position})"))
    })
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
