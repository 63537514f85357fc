//! What handlers of the control socket answer, and what they say where they do not.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What went wrong, as `{"error": ...}`.
#[derive(Debug)]
pub struct Failure {
    /// The kind of it.
    pub status: StatusCode,
    /// What to tell.
    pub error: String,
    /// Of many things that were asked for at once the one that it is about.
    pub at: Option<usize>,
}

impl Failure {
    /// One that is about all of what was asked for.
    pub fn new(status: StatusCode, error: impl ToString) -> Self {
        Self { status, error: error.to_string(), at: None }
    }

    /// What was asked for does not go with what the switch is, or has.
    pub fn conflict(error: impl ToString) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// What was asked for cannot be read.
    pub fn bad(error: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = json!({"error": self.error});
        if let Some(at) = self.at {
            body["at"] = at.into();
        }
        (self.status, Json(body)).into_response()
    }
}

/// An answer, or why there is none.
pub type Answer = Result<Json<Value>, Failure>;

/// What should not have gone wrong.
pub fn internal(error: impl ToString) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error)
}
