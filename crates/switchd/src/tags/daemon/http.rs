//! Gates, flows and notices on the control socket.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Json, Router};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use weft_fabric::gates::{Direction, PortGate, SwitchGates};
use weft_switching::tag_forward::WantedError;
use weft_units::PortId;

use super::flows::{ChangeError, Summary};
use super::gates::{GateRefusal, Gated, check_reachable};
use super::sending::send_on;
use super::state::Tags;
use super::warnings::warnings;
use crate::bodies::{Flag, FlowChanges, GateChange, GateOfPort, Gates, PortName, WantedFlows};
use crate::daemon::answer::{Answer, Failure, internal};
use crate::daemon::request::{Limit, QueryResult, number, read};
use crate::daemon::shared::Shared;
use crate::tags::GatesRefused;

/// Maximum size of a request body: a change of 200 000 rules has less than 40 MB.
const MOST_BYTES: usize = 64 << 20;

/// The paths.
pub fn router() -> Router<Shared> {
    Router::new()
        .route("/v1/gates", get(gates).put(put_gates).patch(patch_gates))
        .route("/v1/gates/{port}", delete(delete_gate))
        .route("/v1/flows", get(flows).post(post_flows).put(put_flows))
        .route("/v1/notices", get(notices))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

/// The gates and rules, or an error in modes without them.
fn tags(shared: &Shared) -> Result<&Tags, Failure> {
    shared.0.tags.as_ref().ok_or_else(|| {
        let mode = shared.lock().config.mode.word();
        Failure::conflict(format!("mode `{mode}` has no gates or rules: use mode tag-forward or flow-table"))
    })
}

/// Parses a request body.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::bad(format!("cannot parse the request body: {error}")))
}

/// A request body, unless it is too large.
fn body(taken: Result<Bytes, BytesRejection>) -> Result<Bytes, Failure> {
    taken.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let most = MOST_BYTES >> 20;
            let error = format!("the request body is larger than {most} MiB: split it (POST /v1/flows)");
            Failure::new(StatusCode::PAYLOAD_TOO_LARGE, error)
        }
        status => Failure::new(status, error.body_text()),
    })
}

impl From<GateRefusal> for Failure {
    fn from(refusal: GateRefusal) -> Self {
        match refusal {
            GateRefusal::Refused(GatesRefused::Plane(error)) => internal(error),
            GateRefusal::None(_) => Self::new(StatusCode::NOT_FOUND, refusal),
            _ => Self::conflict(refusal),
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        let at = match &error {
            ChangeError::Change { at, .. } | ChangeError::Rule { at, .. } => Some(*at),
            ChangeError::Wanted(WantedError::Priority { at, .. } | WantedError::Twice { at, .. }) => {
                Some(*at)
            }
            ChangeError::Wanted(WantedError::Group(_)) | ChangeError::Other(_) => None,
            ChangeError::Plane(error) => return internal(error),
        };
        Self { at, ..Self::conflict(error) }
    }
}

async fn gates(State(shared): State<Shared>) -> Result<Json<Gates>, Failure> {
    let tags = tags(&shared)?;
    let SwitchGates { switch, layer, down_divisor, up_divisor, gates } = tags.gates().get().clone();
    let known = shared.lock();
    let shown = |gate: PortGate| GateOfPort {
        port: gate.port.0,
        interface: Some(known.ports.get(gate.port.index()).map(|port| port.name.clone()).unwrap_or_default()),
        gate: gate.gate,
        direction: gate.direction,
        flag: gate.flag.map(Flag::from),
        peer: gate.peer,
    };
    Ok(Json(Gates {
        switch,
        layer,
        width: Some(tags.width.to_string()),
        ethertype: Some(ethertype(tags)),
        down_divisor,
        up_divisor,
        gates: gates.into_iter().map(shown).collect(),
    }))
}

fn ethertype(tags: &Tags) -> String {
    format!("{:#06x}", tags.ethertype.0)
}

/// Checks the interfaces given with gates against those of the ports.
fn check_interfaces(shared: &Shared, gates: &[GateOfPort]) -> Result<(), Failure> {
    let known = shared.lock();
    for GateOfPort { port, interface, gate, .. } in gates {
        let own = known.ports.get(usize::from(*port)).map(|port| &port.name);
        if let (Some(said), Some(own)) = (interface, own)
            && said != own
        {
            return Err(Failure::conflict(format!(
                "gate {gate} is set for port {port} as `{said}`, but port {port} of this switch is `{own}`"
            )));
        }
    }
    Ok(())
}

/// Replaces the gates with the result of `change`.
fn set(shared: &Shared, tags: &Tags, change: impl FnOnce(&Gated) -> Result<SwitchGates, Failure>) -> Answer {
    let mut gated = tags.gates();
    let gates = change(&gated)?;
    let count = gates.gates.len();
    let interfaces: Vec<String> = shared.lock().ports.iter().map(|port| port.name.clone()).collect();
    gated.set(gates, &interfaces, |gates| shared.lock().plane.set_gates(gates))?;
    Ok(Json(json!({"gates": count})))
}

async fn put_gates(State(shared): State<Shared>, taken: Result<Bytes, BytesRejection>) -> Answer {
    let tags = tags(&shared)?;
    let new: Gates = parse(&body(taken)?)?;
    if let Some(width) = new.width.as_ref().filter(|width| **width != tags.width.to_string()) {
        return Err(Failure::conflict(format!(
            "these gates are for {width} tags, but this switch uses {} ones: set the same `width` on all switches",
            tags.width
        )));
    }
    let own = ethertype(tags);
    if let Some(other) = new.ethertype.as_ref().filter(|other| **other != own) {
        return Err(Failure::conflict(format!(
            "these gates are for tags with EtherType {other}, but this switch uses {own}"
        )));
    }
    check_interfaces(&shared, &new.gates)?;
    for (direction, divisor) in [(Direction::Down, new.down_divisor), (Direction::Up, new.up_divisor)] {
        if divisor == 0 {
            return Err(GateRefusal::Divisor(direction).into());
        }
    }
    set(&shared, tags, |_| Ok(new.into()))
}

async fn patch_gates(State(shared): State<Shared>, taken: Result<Bytes, BytesRejection>) -> Answer {
    let tags = tags(&shared)?;
    let GateChange { port, gate, direction, flag, down_divisor, up_divisor } = parse(&body(taken)?)?;
    let gate = match (port, gate, direction, flag) {
        (None, None, None, None) => None,
        (Some(port), Some(gate), Some(direction), flag) => {
            Some((of_port(&shared, &port)?, gate, direction, flag))
        }
        _ => {
            return Err(Failure::bad("a gate needs `port`, `gate` and `direction`, and optionally `flag`"));
        }
    };
    for (direction, divisor) in [(Direction::Down, down_divisor), (Direction::Up, up_divisor)] {
        if divisor == Some(0) {
            return Err(GateRefusal::Divisor(direction).into());
        }
    }
    let divisor = |gates: &SwitchGates, direction| match direction {
        Direction::Down => down_divisor.unwrap_or(gates.down_divisor),
        Direction::Up => up_divisor.unwrap_or(gates.up_divisor),
    };
    set(&shared, tags, |gated| {
        let peer = |port: PortId| gated.get().at(port).map(|gate| gate.peer.clone()).unwrap_or_default();
        let mut gates = match gate {
            None => gated.get().clone(),
            Some((port, gate, direction, flag)) => {
                let (divisor, flag) = (divisor(gated.get(), direction), flag.map(Into::into));
                check_reachable(gate, direction, divisor)?;
                gated.with(PortGate { port, gate, direction, flag, peer: peer(port) })
            }
        };
        gates.down_divisor = down_divisor.unwrap_or(gates.down_divisor);
        gates.up_divisor = up_divisor.unwrap_or(gates.up_divisor);
        Ok(gates)
    })
}

async fn delete_gate(State(shared): State<Shared>, Path(port): Path<String>) -> Answer {
    let tags = tags(&shared)?;
    let port = PortId(number(&shared, &port)?);
    set(&shared, tags, |gated| Ok(gated.without(port)?))
}

fn of_port(shared: &Shared, name: &PortName) -> Result<PortId, Failure> {
    let text = match name {
        PortName::Number(number) => number.to_string(),
        PortName::Text(text) => text.clone(),
    };
    number(shared, &text).map(PortId)
}

/// Runs long work on a blocking thread.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(internal)?
}

async fn flows(State(shared): State<Shared>, asked: QueryResult<Limit>) -> Result<Response, Failure> {
    tags(&shared)?;
    let Limit { limit } = read(asked)?;
    let text = aside(move || {
        let shown = tags(&shared)?.flows().show(limit).map_err(internal)?;
        serde_json::to_vec(&shown).map_err(internal)
    });
    Ok(([(CONTENT_TYPE, "application/json")], text.await?).into_response())
}

async fn post_flows(State(shared): State<Shared>, taken: Result<Bytes, BytesRejection>) -> Answer {
    tags(&shared)?;
    let body = body(taken)?;
    aside(move || {
        let FlowChanges { changes } = parse(&body)?;
        let tags = tags(&shared)?;
        tags.change(|flows| flows.change(&changes))?;
        send_on(&shared);
        let warnings = warnings(tags.gates().get(), &changes);
        Ok(Json(json!({"changes": changes.len(), "warnings": warnings})))
    })
    .await
}

async fn put_flows(State(shared): State<Shared>, taken: Result<Bytes, BytesRejection>) -> Answer {
    tags(&shared)?;
    let body = body(taken)?;
    aside(move || {
        let wanted: WantedFlows = parse(&body)?;
        let Summary { added, replaced, removed, kept } =
            tags(&shared)?.change(|flows| flows.make(&wanted))?;
        send_on(&shared);
        Ok(Json(json!({"added": added, "replaced": replaced, "removed": removed, "kept": kept})))
    })
    .await
}

/// The states of all ports, then notifications, as lines of JSON until the reader disconnects.
async fn notices(State(shared): State<Shared>) -> Result<Response, Failure> {
    tags(&shared)?;
    let (ports, receiver) = shared.lock().notices.subscribe();
    let line = |notice: Value| Ok::<_, Infallible>(format!("{notice}\n"));
    let changes = futures_util::stream::unfold(receiver, async |mut receiver| {
        let notice = match receiver.recv().await {
            Ok(notice) => notice,
            Err(RecvError::Lagged(lost)) => json!({"what": "lost", "notices": lost}),
            Err(RecvError::Closed) => return None,
        };
        Some((notice, receiver))
    });
    let all = futures_util::stream::iter(ports).chain(changes).map(line);
    Ok(Body::from_stream(all).into_response())
}
