//! Metrics in the OpenMetrics text format, for Prometheus: on the control socket, and over TCP if an address is
//! configured. Values are read from the kernel on each request.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::Shared;
use super::ports::Role;
use super::refusal::Refusal;
use super::switch::Switch;
use crate::counters::{PortCounts, Reason};
use crate::tags::daemon::{Fates, Sizes};

type CountOf = fn(&PortCounts) -> u64;
type Labels = Vec<(&'static str, String)>;

/// Binds the metrics address.
///
/// # Errors
/// [`Refusal::Metrics`] if it cannot be bound.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Refusal> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(Refusal::Metrics)
}

/// Serves metrics over TCP, until the task is aborted.
pub fn serve(shared: &Shared, listener: TcpListener) -> JoinHandle<()> {
    let app = Router::new().route("/metrics", get(answer)).with_state(shared.clone());
    tokio::spawn(async move {
        // It neither ends nor fails.
        let _ = axum::serve(listener, app).await;
    })
}

/// All metrics as text.
pub async fn answer(State(shared): State<Shared>) -> impl IntoResponse {
    let mut text = String::new();
    // The locks of gates and rules are never taken under the switch's.
    let tags = shared.0.tags.as_ref().map(|tags| (tags.sizes(), tags.fates()));
    let mut registry = registry(&shared.lock());
    if let Some((sizes, fates)) = tags {
        of_tags(&mut registry, &shared.lock(), sizes, fates);
    }
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
}

fn counter(registry: &mut Registry, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, u64)>) {
    let family = Family::<Labels, Counter>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).inc_by(value);
    }
    registry.register(name, help, family);
}

fn gauge(registry: &mut Registry, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, u64)>) {
    let family = Family::<Labels, Gauge>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value as i64);
    }
    registry.register(name, help, family);
}

/// The labels of all metrics of a switch.
fn own(switch: &Switch) -> Labels {
    vec![("switch", switch.config.name.to_string())]
}

/// The labels of a switch, and one more label.
fn with(switch: &Switch, name: &'static str, value: &str) -> Labels {
    [own(switch), vec![(name, value.to_owned())]].concat()
}

/// The metrics of modes with gates and rules.
fn of_tags(registry: &mut Registry, switch: &Switch, sizes: Sizes, fates: Fates) {
    let with = |name: &'static str, value: &str| with(switch, name, value);
    let one = |value| [(own(switch), value)];
    gauge(registry, "gates", "Gates", one(sizes.gates as u64));
    gauge(registry, "rules", "Rules of the flow table", one(sizes.rules as u64));
    gauge(registry, "groups", "Groups of the flow table", one(sizes.groups as u64));
    let counts = switch.plane.tag_counters().unwrap_or_default();
    for (name, help, count) in [
        ("flow_table_lookups", "Frames looked up in the flow table", counts.lookups),
        ("flow_table_misses", "Lookups that matched no rule", counts.misses),
        ("tags_pushed", "Tags pushed", counts.pushed),
        ("tags_popped", "Tags popped", counts.popped),
        ("tags_forwarded", "Tagged frames received and forwarded", counts.forwarded),
        ("tags_of_hosts", "Tagged frames dropped because they came from a host", counts.tags_of_hosts),
    ] {
        counter(registry, name, help, one(count));
    }
    let fates = [("sent", fates.sent), ("expired", fates.expired), ("refused", fates.refused)];
    let fates = fates.map(|(fate, count)| (with("fate", fate), count));
    counter(registry, "waiting_frames", "Frames that waited for a rule, by outcome", fates);
}

fn registry(switch: &Switch) -> Registry {
    let mut registry = Registry::with_prefix("weft");
    let with = |name: &'static str, value: &str| with(switch, name, value);
    let one = |value| [(own(switch), value)];
    let counters = switch.plane.counters().unwrap_or_default();
    counter(
        &mut registry,
        "frames_forwarded",
        "Frames forwarded, flooded ones once",
        one(counters.forwarded),
    );
    counter(&mut registry, "frames_consumed", "Frames for the switch itself", one(counters.consumed));
    let dropped =
        |reason: Reason| counters.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |of| of.1);
    let drops = Reason::all().map(|reason| (with("reason", reason.name()), dropped(reason)));
    counter(&mut registry, "frames_dropped", "Frames dropped, by reason", drops);
    let ports = switch.plane.port_counters().unwrap_or_default();
    let by_port: [(&str, &str, CountOf); 5] = [
        ("port_received_frames", "Frames received", |port| port.received),
        ("port_received_bytes", "Bytes received", |port| port.received_bytes),
        ("port_sent_frames", "Frames handed to the port", |port| port.sent),
        ("port_sent_bytes", "Bytes handed to the port", |port| port.sent_bytes),
        ("port_dropped_frames", "Received frames that were dropped", |port| port.dropped),
    ];
    for (name, help, of) in by_port {
        let values =
            switch.ports.iter().zip(&ports).map(|(port, counts)| (with("port", &port.name), of(counts)));
        counter(&mut registry, name, help, values);
    }
    let up = switch.ports.iter().map(|port| (with("port", &port.name), u64::from(port.role != Role::Down)));
    gauge(&mut registry, "port_up", "Whether the port is up", up);
    let fabric = switch.ports.iter().map(|port| (with("port", &port.name), u64::from(port.role.is_fabric())));
    gauge(&mut registry, "port_fabric", "Whether the port leads to another switch", fabric);
    let unheard =
        switch.ports.iter().map(|port| (with("port", &port.name), u64::from(port.role == Role::Unheard)));
    let help = "Whether the neighbour sends no Hello messages but still delivers frames";
    gauge(&mut registry, "port_last_resort", help, unheard);
    counter(&mut registry, "hellos_sent", "Hellos sent", one(switch.hellos.sent));
    counter(&mut registry, "hellos_heard", "Hellos accepted", one(switch.hellos.heard));
    let refused = super::hello::REASONS.map(|reason| {
        (with("reason", reason), switch.hellos.refused.get(reason).copied().unwrap_or_default())
    });
    counter(&mut registry, "hellos_refused", "Hellos refused, by reason", refused);
    let sizes = switch.sizes;
    let tables = [
        ("hosts", sizes.stations),
        ("repairs", sizes.repairs),
        ("floods", sizes.floods),
        ("paths", sizes.flows),
        ("carried", sizes.carried),
    ];
    let entries = tables.map(|(table, entries)| (with("table", table), entries as u64));
    gauge(&mut registry, "table_entries", "Table entries at the last sweep", entries);
    registry
}
