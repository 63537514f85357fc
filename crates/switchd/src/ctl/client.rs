//! [`Client`]: HTTP over the control socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;
use tokio::net::UnixStream;

/// Timeout of a question; a trace has none.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout of a change, and of large requests: 200 000 rules take some seconds on a busy machine.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Why a request failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No daemon answers on the socket.
    #[error(
        "no daemon answers on {path} ({error}): start it (weft-switchd --config FILE, or systemctl start \
         weft-switchd@NAME), or select another one (--name, --socket)", path = path.display()
    )]
    NotRunning {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// This user may not open the socket.
    #[error(
        "permission denied on {path}: run weftctl as root, or join the group set by `control.group` in the \
         daemon's configuration", path = path.display()
    )]
    Forbidden {
        /// The socket.
        path: PathBuf,
    },
    /// The daemon does not answer in time.
    #[error(
        "the daemon on {path} has not answered for {} s: check its log (journalctl -u 'weft-switchd@*'); \
         forwarding continues without it", patience.as_secs(), path = path.display()
    )]
    Stuck {
        /// The socket.
        path: PathBuf,
        /// The timeout.
        patience: Duration,
    },
    /// The daemon refuses the request.
    #[error("{why}")]
    Refused {
        /// Why.
        why: String,
        /// The index of the refused item, if the request had several.
        at: Option<usize>,
        /// Whether the request is wrong (status 4xx), or the daemon failed.
        is_wrong: bool,
    },
    /// The input cannot be sent.
    #[error("{0}")]
    Input(String),
    /// The answer cannot be read.
    #[error("cannot read the daemon's answer: {0}")]
    Answer(String),
}

impl ClientError {
    /// The exit code: failed if the daemon does not answer or fails, refused for errors that the user can correct.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Stuck { .. } | Self::Answer(_) | Self::Refused { is_wrong: false, .. } => {
                weft_manual::FAILED
            }
            _ => weft_manual::REFUSED,
        }
    }
}

/// A control socket.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
}

fn unreadable(error: impl ToString) -> ClientError {
    ClientError::Answer(error.to_string())
}

impl Client {
    /// The socket at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    async fn send(&self, method: Method, what: &str, body: Bytes) -> Result<Response<Incoming>, ClientError> {
        let stream = UnixStream::connect(&self.path).await.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => ClientError::Forbidden { path: self.path.clone() },
            _ => ClientError::NotRunning { path: self.path.clone(), error },
        })?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(unreadable)?;
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(what).header("host", "weft");
        let request = match body.is_empty() {
            true => request,
            false => request.header("content-type", "application/json"),
        };
        let request = request.body(Full::new(body)).map_err(unreadable)?;
        sender.send_request(request).await.map_err(unreadable)
    }

    /// Sends a request and reads the whole answer, within 10 s, or within 60 s if it changes something.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn ask(&self, method: Method, what: &str) -> Result<Value, ClientError> {
        let patience = if method == Method::GET { PATIENCE } else { LONG_PATIENCE };
        self.answer(method, what, Bytes::new(), patience).await
    }

    /// Requests something that may be large, within 60 s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get<T: DeserializeOwned>(&self, what: &str) -> Result<T, ClientError> {
        self.answer(Method::GET, what, Bytes::new(), LONG_PATIENCE).await
    }

    /// Sends a request with a body and reads the whole answer, within 60 s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn tell(
        &self,
        method: Method,
        what: &str,
        said: &impl Serialize,
    ) -> Result<Value, ClientError> {
        let body = serde_json::to_vec(said).map_err(|error| ClientError::Input(error.to_string()))?;
        self.answer(method, what, body.into(), LONG_PATIENCE).await
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        method: Method,
        what: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<T, ClientError> {
        let exchange = async {
            let answer = self.send(method, what, body).await?;
            let status = answer.status();
            let bytes = answer.into_body().collect().await.map_err(unreadable)?.to_bytes();
            Ok((status, bytes))
        };
        let stuck = |_| ClientError::Stuck { path: self.path.clone(), patience };
        let (status, bytes) = tokio::time::timeout(patience, exchange).await.map_err(stuck)??;
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(unreadable);
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(unreadable)?;
        let why = value["error"].as_str().unwrap_or("the daemon gave no reason").to_owned();
        let at = value["at"].as_u64().and_then(|at| at.try_into().ok());
        Err(ClientError::Refused { why, at, is_wrong: status.is_client_error() })
    }

    /// Requests lines of JSON and passes each to `see` as it arrives.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn follow(&self, what: &str, mut see: impl FnMut(Value)) -> Result<(), ClientError> {
        let mut body = self.send(Method::GET, what, Bytes::new()).await?.into_body();
        let mut rest = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
            rest.extend_from_slice(&data);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                see(serde_json::from_slice(&line).map_err(unreadable)?);
            }
        }
        Ok(())
    }
}
