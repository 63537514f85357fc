//! The metrics of a switch, for Prometheus (docs/switchd.md). Values are read from the kernel on each request.
//!
//! Names follow <https://prometheus.io/docs/practices/naming>. No metric has a label for the switch: Prometheus adds
//! `instance`, and `weft_switchd_info` has the name. Label values are fixed lists, tables and ports, so that a switch
//! has at most about 1000 time series.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use weft_switching::tag_forward::Limits;
use weft_units::PortId;

use super::ports::{Port, Role};
use super::switch::Switch;
use crate::counters::{PortCounts, Reason};
use crate::mode::Mode;
use crate::pins::Hook;
use crate::tags::daemon::{Fates, Sizes};

type CountOf = fn(&PortCounts) -> u64;
type Labels = Vec<(&'static str, String)>;

/// All metrics of a switch; `tags`: in modes with gates and rules.
pub fn registry(switch: &Switch, tags: Option<(Sizes, Fates)>) -> Registry {
    let mut all = Registry::default();
    // One of the names that every exporter uses.
    let started = switch.started_since_1970 / 1_000_000_000;
    let help = "Time when the daemon started, in seconds since 1970";
    gauge(&mut all, "process_start_time_seconds", help, one(started));
    let own = all.sub_registry_with_prefix("weft_switchd");
    gauge(
        own,
        "info",
        "Name, mode, attachment and version of the switch; the value is always 1",
        [(info(switch), 1)],
    );
    of_frames(own, switch);
    of_ports(own, switch);
    of_hellos(own, switch);
    of_loops(own, switch);
    of_tables(own, switch, tags.map(|(sizes, _)| sizes));
    of_pins(own, switch);
    if let Some((_, fates)) = tags {
        of_tags(own, switch, fates);
    }
    all
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

/// The only value of a metric without labels.
fn one(value: u64) -> [(Labels, u64); 1] {
    [(Labels::new(), value)]
}

/// A value with one label.
fn with(name: &'static str, label: &str, value: u64) -> (Labels, u64) {
    (vec![(name, label.to_owned())], value)
}

fn info(switch: &Switch) -> Labels {
    let hook = match switch.hook {
        Hook::Tcx => "tcx",
        Hook::Clsact => "clsact",
    };
    let config = &switch.config;
    [
        ("switch", &*config.name),
        ("mode", config.mode.word()),
        ("hook", hook),
        ("version", env!("CARGO_PKG_VERSION")),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

fn of_frames(registry: &mut Registry, switch: &Switch) {
    // Without them, rather than with zeros, which would look like a restart.
    let Ok(counters) = switch.plane.counters() else { return };
    let help = "Frames forwarded; a flooded frame counts once";
    counter(registry, "frames_forwarded", help, one(counters.forwarded));
    counter(registry, "frames_consumed", "Frames for the switch itself", one(counters.consumed));
    let dropped =
        |reason: Reason| counters.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |of| of.1);
    let drops = Reason::all().map(|reason| with("reason", reason.name(), dropped(reason)));
    counter(registry, "frames_dropped", "Frames dropped, by reason", drops);
}

fn of_ports(registry: &mut Registry, switch: &Switch) {
    let by_port = |of: &dyn Fn(&Port) -> u64| -> Vec<_> {
        switch.ports.iter().map(|port| with("port", &port.name, of(port))).collect()
    };
    if let Ok(counts) = switch.plane.port_counters() {
        let counters: [(&str, &str, CountOf); 6] = [
            ("port_received_frames", "Frames received on the port", |port| port.received),
            ("port_received_bytes", "Bytes received on the port", |port| port.received_bytes),
            ("port_sent_frames", "Frames handed to the port for transmission", |port| port.sent),
            ("port_sent_bytes", "Bytes handed to the port for transmission", |port| port.sent_bytes),
            ("port_dropped_frames", "Frames received on the port and dropped", |port| port.dropped),
            ("port_too_long_frames", "Frames not sent: longer than the MTU of the port's link", |port| {
                port.too_long
            }),
        ];
        for (name, help, of) in counters {
            let values =
                switch.ports.iter().zip(&counts).map(|(port, counts)| with("port", &port.name, of(counts)));
            counter(registry, name, help, values);
        }
    }
    let help = "1 if the port has a usable interface with carrier, else 0";
    gauge(registry, "port_up", help, by_port(&|port| u64::from(port.role != Role::Down)));
    let help = "1 if the port takes no new paths because of `weftctl drain`, else 0";
    gauge(registry, "port_draining", help, by_port(&|port| u64::from(port.draining)));
    if switch.config.mode.routes() {
        let withdrawn = (0..)
            .zip(&switch.ports)
            .map(|(number, port)| with("port", &port.name, switch.reach.withdrawn(PortId(number)) as u64));
        let help = "Stations whose route over the port is not used because its neighbour does not reach them";
        gauge(registry, "port_withdrawn_routes", help, withdrawn);
    }
    let without = switch.leaves.leaves().iter().filter(|route| !route.is_reached()).count();
    gauge(registry, "leaves", "Leaves of the configuration", one(switch.leaves.leaves().len() as u64));
    let help = "Leaves to which the kernel has no route over a fabric port";
    gauge(registry, "leaves_without_route", help, one(without as u64));
    let help = "Hello messages of the neighbour that were lost, by gaps in their numbers";
    counter(registry, "port_hellos_lost", help, by_port(&|port| port.loss.total()));
    let help = "Hello messages that could not be sent: the kernel refused them";
    counter(registry, "port_hellos_unsent", help, by_port(&|port| port.unsent.total()));
    let ratio = Family::<Labels, Gauge<f64, AtomicU64>>::default();
    for port in switch.ports.iter().filter(|port| port.role.has_neighbour()) {
        if let Some(share) = port.loss.share() {
            ratio.get_or_create(&vec![("port", port.name.clone())]).set(share);
        }
    }
    registry.register(
        "port_hello_loss_ratio",
        "Share of the neighbour's last 128 Hello messages that were lost",
        ratio,
    );
    let help = "1 if the link loses many Hello messages of the neighbour, else 0";
    let lossy = by_port(&|port| u64::from(port.loss.is_lossy() && port.role.has_neighbour()));
    gauge(registry, "port_lossy", help, lossy);
    let help = "1 if the neighbour says that it misses many Hello messages of this port, else 0";
    gauge(
        registry,
        "port_missed",
        help,
        by_port(&|port| u64::from(port.is_missed && port.role.has_neighbour())),
    );
    let roles = switch.ports.iter().flat_map(|port| {
        Role::ALL.map(|role| {
            let labels = vec![("port", port.name.clone()), ("role", role.name().to_owned())];
            (labels, u64::from(port.role == role))
        })
    });
    gauge(registry, "port_role", "1 for the current role of the port, 0 for its other roles", roles);
}

fn of_hellos(registry: &mut Registry, switch: &Switch) {
    let hellos = &switch.hellos;
    counter(registry, "hellos_sent", "Hello messages sent", one(hellos.sent));
    counter(registry, "hellos_accepted", "Hello messages received and accepted", one(hellos.heard));
    let refused = |reason: &str| hellos.refused.get(reason).copied().unwrap_or_default();
    let refused = super::hello::REASONS.map(|reason| with("reason", reason, refused(reason)));
    counter(registry, "hellos_refused", "Hello messages received and refused, by reason", refused);
}

fn of_loops(registry: &mut Registry, switch: &Switch) {
    let loops = switch.loops;
    let help = "Loops found: a cable or a bridge connects two host ports of the fabric";
    counter(registry, "loops_found", help, one(loops.found));
    counter(registry, "probes_sent", "Probes for loops sent on host ports", one(loops.sent));
    counter(registry, "probes_accepted", "Probes for loops received and accepted", one(loops.heard));
}

fn of_tables(registry: &mut Registry, switch: &Switch, given: Option<Sizes>) {
    let (sizes, config, mode) = (switch.sizes, &switch.config.exploration, switch.config.mode);
    let mut tables = Vec::new();
    if mode.explores() {
        tables.push(("hosts", sizes.stations, config.stations));
        tables.push(("repairs", sizes.repairs, config.stations));
        tables.push(("floods", sizes.floods, config.safeguards.floods));
        tables.push(("members", sizes.groups, config.safeguards.groups));
    }
    if mode.keeps_flows() {
        tables.push(("paths", sizes.flows, config.flows + Mode::unconfirmed(config)));
    }
    if mode.counts_flows() {
        tables.push(("carried", sizes.carried, config.flows));
    }
    if let Some(given) = given {
        let limits = Limits::default();
        tables.push(("rules", given.rules, limits.rules));
        tables.push(("groups", given.groups, limits.groups));
        gauge(registry, "gates", "Gates that are set", one(given.gates as u64));
    }
    let entries = tables.iter().map(|&(table, entries, _)| with("table", table, entries as u64));
    gauge(registry, "table_entries", "Entries of the table at the last sweep", entries);
    let most = tables.iter().map(|&(table, _, most)| with("table", table, most as u64));
    gauge(registry, "table_max_entries", "Maximum number of entries of the table", most);
}

fn of_pins(registry: &mut Registry, switch: &Switch) {
    let restored = switch.restored;
    let help = "Pins in the BPF file system that another program removed, and that the daemon restored";
    counter(registry, "pins_restored", help, one(restored.pins));
    let help = "Times that another program detached the data plane from a port, and the daemon reattached it";
    counter(registry, "programs_reattached", help, one(restored.programs));
    let help = "Failed attempts to restore a pin or to reattach the data plane, which the daemon repeats";
    counter(registry, "restore_failures", help, one(restored.failures));
}

fn of_tags(registry: &mut Registry, switch: &Switch, fates: Fates) {
    if let Ok(counts) = switch.plane.tag_counters() {
        for (name, help, count) in [
            ("flow_table_lookups", "Frames looked up in the flow table", counts.lookups),
            ("flow_table_misses", "Lookups that matched no rule", counts.misses),
            ("tags_pushed", "Tags pushed", counts.pushed),
            ("tags_popped", "Tags popped", counts.popped),
            ("tagged_frames_forwarded", "Tagged frames received and forwarded", counts.forwarded),
            (
                "tagged_frames_from_hosts",
                "Tagged frames dropped because a host sent them",
                counts.tags_of_hosts,
            ),
        ] {
            counter(registry, name, help, one(count));
        }
    }
    let outcomes = [("sent", fates.sent), ("expired", fates.expired), ("refused", fates.refused)];
    let outcomes = outcomes.map(|(outcome, count)| with("outcome", outcome, count));
    counter(registry, "waiting_frames", "Frames that waited for a rule, by outcome", outcomes);
}
