//! [`Client`]: HTTP over the control socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use thiserror::Error;
use tokio::net::UnixStream;

/// How long an answer may take; a trace may take for ever.
const PATIENCE: Duration = Duration::from_secs(10);

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
         'weft-switchd@*'); frames are forwarded without it", PATIENCE.as_secs(), path = path.display()
    )]
    Stuck {
        /// The socket.
        path: PathBuf,
    },
    /// The daemon says no.
    #[error("{0}")]
    Refused(String),
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

    async fn send(&self, method: Method, what: &str) -> Result<Response<Incoming>, ClientError> {
        let stream = UnixStream::connect(&self.path).await.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => ClientError::Forbidden { path: self.path.clone() },
            _ => ClientError::NotRunning { path: self.path.clone(), error },
        })?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(unreadable)?;
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(what).header("host", "weft");
        let request = request.body(Empty::<Bytes>::new()).map_err(unreadable)?;
        sender.send_request(request).await.map_err(unreadable)
    }

    /// Asks, and reads the whole answer, which may take 10 s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn ask(&self, method: Method, what: &str) -> Result<Value, ClientError> {
        let answer = tokio::time::timeout(PATIENCE, self.answer(method, what)).await;
        answer.unwrap_or_else(|_| Err(ClientError::Stuck { path: self.path.clone() }))
    }

    async fn answer(&self, method: Method, what: &str) -> Result<Value, ClientError> {
        let answer = self.send(method, what).await?;
        let good = answer.status().is_success();
        let bytes = answer.into_body().collect().await.map_err(unreadable)?.to_bytes();
        let value: Value = serde_json::from_slice(&bytes).map_err(unreadable)?;
        match good {
            true => Ok(value),
            false => {
                Err(ClientError::Refused(value["error"].as_str().unwrap_or("it does not say why").to_owned()))
            }
        }
    }

    /// Asks for lines of JSON, and shows each as it comes.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn follow(&self, what: &str, mut see: impl FnMut(Value)) -> Result<(), ClientError> {
        let mut body = self.send(Method::GET, what).await?.into_body();
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
