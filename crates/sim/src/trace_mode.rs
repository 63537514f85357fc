//! [`TraceMode`]: whether a run is traced.

use weft_switching::Header;
use weft_units::Time;

use crate::record::Recorder;
use crate::trace::{TraceEvent, Tracer, Untraced};

/// Whether a run is traced; a type, so that the engine is compiled only for what a protocol needs.
pub trait TraceMode {
    /// What receives the events.
    type Tracer<'r>: Tracer;

    /// The tracer that passes the events on to `recorder`, if any.
    fn tracer(recorder: &mut dyn Recorder) -> Self::Tracer<'_>;
}

/// The run is traced.
pub struct On;

impl TraceMode for On {
    type Tracer<'r> = Traced<'r>;

    fn tracer(recorder: &mut dyn Recorder) -> Traced<'_> {
        Traced(recorder)
    }
}

/// The run is not traced.
pub struct Off;

impl TraceMode for Off {
    type Tracer<'r> = Untraced;

    fn tracer(_recorder: &mut dyn Recorder) -> Untraced {
        Untraced
    }
}

/// Passes trace events on to a recorder.
pub struct Traced<'r>(&'r mut dyn Recorder);

impl Tracer for Traced<'_> {
    const TRACES: bool = true;

    fn trace(&mut self, time: Time, event: TraceEvent<'_>) {
        self.0.trace(time, event);
    }

    fn followed(&self) -> Option<Header> {
        self.0.followed()
    }
}
