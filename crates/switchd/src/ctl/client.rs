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

/// How long an answer may take; a trace may take for ever.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same where much is to be done first: 200 000 rules take some seconds on a busy machine.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody answers on the socket.
    #[error(
        "no daemon answers on {path} ({error}): start it (weft-switchd --config FILE, or systemctl start \
         weft-switchd@NAME), or say which one is meant (--name, --socket)", path = path.display()
    )]
    NotRunning {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The socket is not for this user.
    #[error(
        "{path} may not be used by this user: run it as root, or join the group that `control.group` of the \
         daemon's configuration gives the socket to", path = path.display()
    )]
    Forbidden {
        /// The socket.
        path: PathBuf,
    },
    /// The daemon is there and says nothing.
    #[error(
        "the daemon on {path} has not answered for {} s: its log says what holds it up (journalctl -u \
         'weft-switchd@*'); frames are forwarded without it", patience.as_secs(), path = path.display()
    )]
    Stuck {
        /// The socket.
        path: PathBuf,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The daemon says no.
    #[error("{why}")]
    Refused {
        /// Why.
        why: String,
        /// Of many things at once the one that it is about, from 0.
        at: Option<usize>,
    },
    /// What was to be sent is wrong.
    #[error("{0}")]
    Input(String),
    /// What came back was no answer.
    #[error("the daemon's answer cannot be read: {0}")]
    Answer(String),
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

    /// Asks, and reads the whole answer, which may take 10 s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn ask(&self, method: Method, what: &str) -> Result<Value, ClientError> {
        self.answer(method, what, Bytes::new(), PATIENCE).await
    }

    /// Asks for something that may be long, which may take 60 s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get<T: DeserializeOwned>(&self, what: &str) -> Result<T, ClientError> {
        self.answer(Method::GET, what, Bytes::new(), LONG_PATIENCE).await
    }

    /// Says something, and reads the whole answer, which may take 60 s.
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
            let good = answer.status().is_success();
            let bytes = answer.into_body().collect().await.map_err(unreadable)?.to_bytes();
            Ok((good, bytes))
        };
        let stuck = |_| ClientError::Stuck { path: self.path.clone(), patience };
        let (good, bytes) = tokio::time::timeout(patience, exchange).await.map_err(stuck)??;
        if good {
            return serde_json::from_slice(&bytes).map_err(unreadable);
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(unreadable)?;
        let why = value["error"].as_str().unwrap_or("it does not say why").to_owned();
        Err(ClientError::Refused { why, at: value["at"].as_u64().and_then(|at| at.try_into().ok()) })
    }

    /// Asks for lines of JSON, and shows each as it comes.
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
