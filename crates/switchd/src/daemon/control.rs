//! The control socket: JSON over HTTP on a Unix socket, protected by its file permissions. The paths are in
//! docs/switchd.md.

use std::convert::Infallible;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path as PathOf, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::answer::{Answer, Failure, internal};
use super::refusal::Refusal;
use super::request::{Limit, QueryResult, number, read};
use super::shared::Shared;
use super::switch::Switch;
use super::{background, exposition, reload, report, route_report, trace};
use crate::config::Access;
use crate::names::SwitchName;
use crate::tags::daemon::{self as tags, Tags};

/// Time for the last answers when the daemon stops.
const FAREWELL: Duration = Duration::from_millis(500);

/// A socket with its final permissions, but still under a temporary name.
pub struct Hidden {
    listener: UnixListener,
    temporary: PathBuf,
    path: PathBuf,
}

/// Opens the socket.
///
/// # Errors
/// [`Refusal`].
pub fn open(folder: &Path, name: &SwitchName, access: &Access) -> Result<Hidden, Refusal> {
    let path = folder.join(format!("{name}.sock"));
    let temporary = folder.join(format!(".{name}.sock"));
    let failed = |error| Refusal::File { path: path.clone(), error };
    for path in [&path, &temporary] {
        refuse_taken(path)?;
    }
    let id = |group: &String| {
        let found = nix::unistd::Group::from_name(group).ok().flatten();
        found.map(|group| group.gid.as_raw()).ok_or_else(|| Refusal::Group(group.clone()))
    };
    let group = access.group.as_ref().map(id).transpose()?;
    let _ = std::fs::remove_file(&temporary);
    let listener = UnixListener::bind(&temporary).map_err(failed)?;
    if group.is_some() {
        chown(&temporary, None, group).map_err(failed)?;
    }
    let permissions = std::fs::Permissions::from_mode(access.mode);
    std::fs::set_permissions(&temporary, permissions).map_err(failed)?;
    Ok(Hidden { listener, temporary, path })
}

/// Refuses a path occupied by something that no daemon of this name left there: a file, or a socket that still
/// answers, since only the holder of the name's lock may serve it.
fn refuse_taken(path: &Path) -> Result<(), Refusal> {
    let why = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Ok(found) if !found.file_type().is_socket() => "is not a socket, so weft-switchd did not create it",
        _ if std::os::unix::net::UnixStream::connect(path).is_ok() => {
            "is the socket of another running program"
        }
        _ => return Ok(()),
    };
    let why = format!("{why}: give the switch another name (--name) or directory (--run-dir)");
    Err(Refusal::File { path: path.to_owned(), error: std::io::Error::other(why) })
}

impl Hidden {
    /// Removes the socket: the daemon does not start.
    pub fn discard(&self) {
        let _ = std::fs::remove_file(&self.temporary);
    }

    /// Gives the socket its final name and serves it.
    ///
    /// # Errors
    /// [`Refusal::File`].
    pub fn serve(self, shared: &Shared) -> Result<Control, Refusal> {
        let Self { listener, temporary, path } = self;
        std::fs::rename(&temporary, &path).map_err(|error| Refusal::File { path: path.clone(), error })?;
        let app = router(shared.clone());
        let (last, end) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { end.await.unwrap_or_default() };
            // It cannot fail once it listens.
            let _ = axum::serve(listener, app).with_graceful_shutdown(stopped).await;
        });
        Ok(Control { path, last, task })
    }
}

/// The socket being served.
pub struct Control {
    path: PathBuf,
    last: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Control {
    /// Removes the socket's name: no new client can connect.
    pub fn hide(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// Completes pending answers and ends; a trace, which never ends, is cut off.
    pub async fn end(self) {
        let _ = self.last.send(());
        let _ = tokio::time::timeout(FAREWELL, self.task).await;
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/v1/status", get(status))
        .route("/v1/ports", reported(report::ports))
        .route("/v1/neighbours", reported(report::neighbours))
        .route("/v1/counters", reported(report::counters))
        .route("/v1/leaves", get(leaves))
        .route("/v1/routes", get(routes))
        .route("/v1/hosts", get(hosts))
        .route("/v1/paths", get(paths))
        .route("/v1/trace", get(follow))
        .route("/v1/ports/{port}/drain", post(drain).delete(undrain))
        .route("/v1/flush", post(flush))
        .route("/v1/reload", post(load_again))
        .route("/v1/down", post(down))
        .route("/metrics", get(exposition::answer))
        .merge(tags::http::router())
        .fallback(async || Failure::new(StatusCode::NOT_FOUND, "no such path: see docs/switchd.md"))
        .with_state(shared)
}

/// Answers with a part of the switch's state.
fn reported(report: fn(&Switch) -> Value) -> MethodRouter<Shared> {
    get(async move |State(shared): State<Shared>| Json(report(&shared.lock())))
}

async fn status(State(shared): State<Shared>) -> Json<Value> {
    let tags = shared.0.tags.as_ref();
    // The locks of gates and rules are never taken under the switch's.
    let sizes = tags.map(Tags::sizes).unwrap_or_default();
    Json(report::status(&shared.lock(), sizes))
}

/// The contents of a table, read on a blocking thread.
async fn table(
    shared: Shared,
    read: impl FnOnce(report::Names, crate::tables::Tables) -> std::io::Result<Value> + Send + 'static,
) -> Answer {
    let (names, tables) = {
        let switch = shared.lock();
        (report::Names::of(&switch), switch.plane.tables().clone())
    };
    let read = tokio::task::spawn_blocking(move || read(names, tables)).await;
    read.map_err(internal)?.map(Json).map_err(internal)
}

/// Refuses a request about routes in a mode without them.
fn need_routes(switch: &Switch) -> Result<(), Failure> {
    match switch.config.mode.routes() {
        true => Ok(()),
        false => Err(Failure::conflict(format!(
            "mode `{}` has no routes: ecmp and spray have",
            switch.config.mode.word()
        ))),
    }
}

async fn routes(State(shared): State<Shared>, asked: QueryResult<Limit>) -> Answer {
    let Limit { limit } = read(asked)?;
    let switch = shared.lock();
    need_routes(&switch)?;
    Ok(Json(route_report::routes(&switch, limit)))
}

async fn leaves(State(shared): State<Shared>) -> Answer {
    let switch = shared.lock();
    need_routes(&switch)?;
    if !switch.config.uses_kernel {
        return Err(Failure::conflict(
            "next hops are configured: set routes = \"kernel\" to take those of a routing daemon",
        ));
    }
    Ok(Json(route_report::leaves(&switch)))
}

async fn hosts(State(shared): State<Shared>, asked: QueryResult<Limit>) -> Answer {
    let Limit { limit } = read(asked)?;
    table(shared, move |names, tables| report::hosts(&names, &tables, limit)).await
}

async fn paths(State(shared): State<Shared>, asked: QueryResult<Limit>) -> Answer {
    let Limit { limit } = read(asked)?;
    table(shared, move |names, tables| report::paths(&names, &tables, limit)).await
}

/// Events as lines of JSON, until the reader disconnects.
async fn follow(State(shared): State<Shared>) -> Response {
    let first = shared.0.trace.receiver_count() == 0;
    let events = shared.0.trace.subscribe();
    if first {
        tokio::spawn(trace::follow(shared));
    }
    let lines = futures_util::stream::unfold(events, async |mut events| {
        let line = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(lost)) => json!({"what": "lost", "events": lost}),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok::<_, Infallible>(format!("{line}\n")), events))
    });
    Body::from_stream(lines).into_response()
}

async fn drain(State(shared): State<Shared>, PathOf(port): PathOf<String>) -> Answer {
    let number = number(&shared, &port)?;
    shared.lock().set_draining(number, true);
    background::drained(&shared, number);
    Ok(Json(json!({"port": number, "draining": true})))
}

async fn undrain(State(shared): State<Shared>, PathOf(port): PathOf<String>) -> Answer {
    let number = number(&shared, &port)?;
    shared.lock().set_draining(number, false);
    Ok(Json(json!({"port": number, "draining": false})))
}

/// The table to flush; both by default.
#[derive(Deserialize)]
struct FlushQuery {
    what: Option<String>,
}

async fn flush(State(shared): State<Shared>, asked: QueryResult<FlushQuery>) -> Answer {
    let FlushQuery { what } = read(asked)?;
    let (hosts, paths) = match what.as_deref() {
        None => (true, true),
        Some("hosts") => (true, false),
        Some("paths") => (false, true),
        Some(other) => {
            return Err(Failure::bad(format!("`{other}` cannot be flushed: expected `hosts` or `paths`")));
        }
    };
    table(shared, move |_, tables| {
        let hosts = if hosts { tables.forget_stations()? } else { 0 };
        let paths = if paths { tables.forget_paths()? } else { 0 };
        Ok(json!({"hosts": hosts, "paths": paths}))
    })
    .await
}

async fn load_again(State(shared): State<Shared>) -> Answer {
    let changed = reload::reload(&shared).await.map_err(Failure::bad)?;
    Ok(Json(json!({"changed": changed})))
}

/// Takes the switch down; answers with everything removed, once the data plane is gone and interfaces are restored.
async fn down(State(shared): State<Shared>) -> Answer {
    // Otherwise the daemon would stop and leave something behind.
    let pins = shared.lock().pins.clone();
    let looked = tokio::task::spawn_blocking(move || pins.inspect()).await;
    looked.map_err(internal)?.map_err(Failure::conflict)?;
    let (waiting, done) = oneshot::channel();
    let busy = || Failure::conflict("the daemon is already stopping");
    shared.0.down.try_send(waiting).map_err(|_| busy())?;
    let removed = done.await.map_err(|_| busy())?.map_err(internal)?;
    Ok(Json(json!({"down": true, "removed": removed})))
}
