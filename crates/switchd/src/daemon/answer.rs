//! Answers and errors of the control socket's handlers.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An error answer, `{"error": ...}`.
#[derive(Debug)]
pub struct Failure {
    /// The HTTP status.
    pub status: StatusCode,
    /// The message.
    pub error: String,
    /// The index of the item in error, if the request had several.
    pub at: Option<usize>,
}

impl Failure {
    /// An error of the whole request.
    pub fn new(status: StatusCode, error: impl ToString) -> Self {
        Self { status, error: error.to_string(), at: None }
    }

    /// The request conflicts with the mode or the state of the switch.
    pub fn conflict(error: impl ToString) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// The request cannot be parsed.
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

/// An answer or an error.
pub type Answer = Result<Json<Value>, Failure>;

/// An internal error.
pub fn internal(error: impl ToString) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error)
}
