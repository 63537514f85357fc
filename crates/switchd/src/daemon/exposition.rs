//! Serves the [metrics](super::metrics) in Prometheus's text format: on the control socket, and over TCP if an address
//! is configured.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode_registry;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::metrics;
use super::refusal::Refusal;
use super::shared::Shared;

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
    // The locks of gates and rules are never taken under the switch's.
    let tags = shared.0.tags.as_ref().map(|tags| (tags.sizes(), tags.fates()));
    let registry = metrics::registry(&shared.lock(), tags);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode_registry(&mut text, &registry);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], with_counters_named_in_full(&text))
}

/// OpenMetrics text as Prometheus's older text format, which every scraper and `promtool check metrics` read: there,
/// the lines that describe a counter have its name with `_total`, as its samples have in both.
fn with_counters_named_in_full(text: &str) -> String {
    let counter = |line: &'_ str| -> Option<String> {
        Some(line.strip_prefix("# TYPE ")?.strip_suffix(" counter")?.to_owned())
    };
    let counters: BTreeSet<String> = text.lines().filter_map(counter).collect();
    let mut full = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(kind), Some(name), Some(rest)) if counters.contains(name) => {
                full.extend(["# ", kind, " ", name, "_total ", rest]);
            }
            // The library writes empty braces where there are no labels.
            _ => full.push_str(&line.replacen("{} ", " ", 1)),
        }
        full.push('\n');
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_descriptions_of_counters_get_the_suffix() {
        let open = "# HELP a A counter.\n# TYPE a counter\na_total{b=\"# TYPE c counter\"} 1\n\
                    # HELP up A gauge.\n# TYPE up gauge\nup{} 1\n";
        let text = "# HELP a_total A counter.\n# TYPE a_total counter\na_total{b=\"# TYPE c counter\"} 1\n\
                    # HELP up A gauge.\n# TYPE up gauge\nup 1\n";
        assert_eq!(with_counters_named_in_full(open), text);
    }
}
