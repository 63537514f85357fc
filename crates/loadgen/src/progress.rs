//! [`Progress`]: the progress of a run, as JSON for programs and as a status line for people.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use serde_json::json;

use crate::outcome::Outcome;

const SECOND_PS: f64 = 1e12;

/// The progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Progress {
    /// Time since the common start, in picoseconds.
    pub elapsed_ps: u64,
    /// Flows of this machine.
    pub flows: u64,
    /// Flows that have started, or whose connection was accepted.
    pub started: u64,
    /// Flows that completed.
    pub finished: u64,
    /// Flows that failed.
    pub failed: u64,
    /// Bytes that applications on this machine have received.
    pub bytes: u64,
    /// Bytes that they will receive in total.
    pub bytes_total: u64,
}

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Lines of JSON.
    Json,
    /// A status line, updated in place.
    Line,
    /// Only warnings.
    Quiet,
}

impl Style {
    /// The default for standard error.
    pub fn of_stderr() -> Self {
        if io::stderr().is_terminal() { Self::Line } else { Self::Quiet }
    }
}

/// Writes progress to standard error.
#[derive(Clone, Copy, Debug)]
pub struct Observer(pub Style);

impl Observer {
    /// The listeners are open, and the run starts at `start_at_ns` since 1970.
    pub fn ready(self, start_at_ns: u64, flows: u64) {
        if self.0 == Style::Json {
            write(&json!({ "event": "ready", "start_at_ns": start_at_ns, "flows": flows }).to_string());
        }
    }

    /// Reports progress.
    pub fn progress(self, progress: &Progress) {
        match self.0 {
            Style::Json => write(&event("progress", progress)),
            Style::Line => overwrite(&line(progress)),
            Style::Quiet => {}
        }
    }

    /// Reports a warning.
    pub fn warning(self, message: &str) {
        match self.0 {
            Style::Json => write(&json!({ "event": "warning", "message": message }).to_string()),
            Style::Line => write(&format!("\r\x1b[Kwarning: {message}")),
            Style::Quiet => write(&format!("warning: {message}")),
        }
    }

    /// Reports the end of the run.
    pub fn done(self, outcome: &Outcome) {
        match self.0 {
            Style::Json => write(&event("done", outcome)),
            Style::Line => write(&format!("\r\x1b[K{outcome}")),
            Style::Quiet => {}
        }
    }
}

/// An object with its kind first.
fn event(kind: &str, of: &impl Serialize) -> String {
    let mut value = json!({ "event": kind });
    if let (Some(event), Ok(serde_json::Value::Object(more))) =
        (value.as_object_mut(), serde_json::to_value(of))
    {
        event.extend(more);
    }
    value.to_string()
}

/// The status line.
fn line(progress: &Progress) -> String {
    let Progress { elapsed_ps, flows, started, finished, failed, bytes, bytes_total } = *progress;
    let seconds = elapsed_ps as f64 / SECOND_PS;
    let rate = if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 };
    let share = bytes as f64 / bytes_total.max(1) as f64;
    let left = if share > 0.0 { format!("{:.0} s", seconds * (1.0 - share) / share) } else { "?".to_owned() };
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!(
        "{seconds:6.1} s  {finished} of {flows} flows ({} open{failed})  {:3.0} %  {rate:.1} Mbit/s  {left} left",
        started.saturating_sub(finished),
        share * 100.0,
    )
}

/// Writes a line. Errors are ignored: a closed standard error does not end the run.
fn write(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn overwrite(line: &str) {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_the_rate_and_what_is_left() {
        let progress = Progress {
            elapsed_ps: 2_000_000_000_000,
            flows: 10,
            started: 6,
            finished: 4,
            failed: 1,
            bytes: 2_500_000,
            bytes_total: 10_000_000,
        };
        assert_eq!(
            line(&progress),
            "   2.0 s  4 of 10 flows (2 open, 1 failed)   25 %  10.0 Mbit/s  6 s left"
        );
        assert!(line(&Progress::default()).ends_with("? left"));
    }

    #[test]
    fn programs_see_the_kind_of_an_event() {
        let text = event("progress", &Progress { flows: 3, ..Progress::default() });
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["event"], &value["flows"]), (&json!("progress"), &json!(3)));
    }
}
