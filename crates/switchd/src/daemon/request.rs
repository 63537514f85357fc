//! Common parameters of requests to the control socket: table sizes, port numbers.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use serde::Deserialize;

use super::answer::Failure;
use super::shared::Shared;

/// The requested size of a table.
#[derive(Deserialize)]
pub struct Limit {
    /// Maximum number of rows.
    #[serde(default = "Limit::most")]
    pub limit: usize,
}

impl Limit {
    const fn most() -> usize {
        10_000
    }
}

/// The query string, or why it cannot be parsed.
pub type QueryResult<T> = Result<Query<T>, QueryRejection>;

/// The parsed query string.
///
/// # Errors
/// Why it cannot be parsed.
pub fn read<T>(asked: QueryResult<T>) -> Result<T, Failure> {
    asked.map(|Query(what)| what).map_err(|why| Failure::bad(why.body_text()))
}

/// The number of a port given by number or interface.
///
/// # Errors
/// There is no such port.
pub fn number(shared: &Shared, given: &str) -> Result<u16, Failure> {
    let switch = shared.lock();
    let found = switch.ports.iter().position(|port| port.name == given);
    let found = found.or_else(|| given.parse().ok().filter(|number| *number < switch.ports.len()));
    found.map(|number| number as u16).ok_or_else(|| {
        let names: Vec<&str> = switch.ports.iter().map(|port| port.name.as_str()).collect();
        let error = format!("`{given}` is not a port of this switch, which has {}", names.join(", "));
        Failure::new(StatusCode::NOT_FOUND, error)
    })
}
