//! Warnings of a plan: it can run, but its result may surprise the user.

use weft_fabric::{Fabric, Interfaces, Limit, Link};
use weft_switching::host::over::over;
use weft_switching::tfe::Classifier;
use weft_switching::{Descriptor, Explores, Need, SchemeSpec};
use weft_traffic::{EPHEMERAL, Flow, Traffic};
use weft_transport::{Config, Mptcp, Protocol};
use weft_units::{NodeId, Time, plural};

mod cold_start;
mod connections;
mod groups;
mod keys;
mod marks;
mod more;
mod pfc;
mod queues;
mod ring_steps;
mod step;
mod telemetry;
mod timeout;
mod times;

use crate::change::Event;
use crate::full_frame::full_frame;
use crate::link_states::{LinkStates, cut_off};
use crate::settings::Settings;
pub(crate) use cold_start::ColdStarts;
pub(crate) use connections::Transports;
use more::and_more;

/// Warnings of one kind that are given in full.
const MOST_ALIKE: usize = 5;

/// All warnings of a plan.
pub(crate) fn of(fabric: &Fabric, events: &[Event], traffic: &Traffic, settings: &Settings) -> Vec<String> {
    let mut warnings = fabric.notes().to_vec();
    warnings.extend(cut_off(fabric, events));
    warnings.extend(without_effect(fabric, events, settings));
    warnings.extend(times::late_events(events, traffic, settings));
    warnings.extend(times::sampling(settings));
    warnings.extend(never_counted(traffic, settings));
    warnings.extend(groups::idle(fabric, traffic, settings));
    warnings.extend(ring_steps::idle_or_cut(traffic, settings));
    warnings.extend(nothing_to_choose(fabric));
    warnings.extend(unmarked(settings, traffic));
    warnings.extend(unfit(fabric, &settings.transport.protocol, settings.descriptor));
    warnings.extend(queues::idle(fabric, settings));
    warnings.extend(marks::missing(fabric, settings));
    warnings.extend(pfc::all(fabric, traffic, settings));
    warnings.extend(timeout::early(fabric, &settings.transport.protocol));
    warnings.extend(telemetry::short(fabric, &settings.transport.protocol));
    warnings.extend(step::slow(fabric, settings));
    warnings.extend(settings.transport.protocol.tcp().and_then(|tcp| single_links(fabric, tcp)));
    warnings.extend(keys::without_scale_up(fabric, settings));
    warnings.extend(of_settings(settings));
    warnings
}

/// The warnings that need only the settings: cheap for any fabric and traffic.
pub(crate) fn of_settings(settings: &Settings) -> Vec<String> {
    let scheme = settings.descriptor;
    let Some(transport) = settings.transport.protocol.tcp() else {
        let own = without_tcp(scheme, &settings.transport.protocol);
        return own.into_iter().chain(keys::idle(settings)).collect();
    };
    let choice = scheme.is_at_hosts.then(|| without_choice(&settings.scheme, transport)).flatten();
    let own = [without_mptcp(scheme, transport), choice];
    own.into_iter().flatten().chain(keys::idle(settings)).collect()
}

/// Warns of a host scheme whose choices have no effect.
fn without_choice(scheme: &SchemeSpec, transport: &Config) -> Option<String> {
    let (name, over) = (&scheme.name, over(scheme).name);
    if transport.mptcp != Mptcp::Off {
        return Some(format!(
            "`{name}` chooses paths for plain TCP only: with Multipath TCP it is the same as `{over}`; set \
             transport.mptcp = \"off\""
        ));
    }
    let ignoring = match over.as_str() {
        "spray" => "whose switches draw a path for each packet",
        "drill" => "whose switches compare queues for each packet, except between paths that differ",
        _ => return None,
    };
    Some(format!(
        "`{name}` has no effect over `{over}`, {ignoring}, and ignore the entropy that hosts choose: set scheme.over = \
         \"ecmp\""
    ))
}

/// Warns of a scheme made for subflows without any.
fn without_mptcp(scheme: &Descriptor, transport: &Config) -> Option<String> {
    let needs_mptcp = scheme.needs.contains(&Need::MultipathHost);
    (needs_mptcp && transport.mptcp == Mptcp::Off).then(|| {
        format!(
            "`{}` only puts plain TCP on the shortest path: set transport.mptcp = \"ndiffports\" or \
             \"fullmesh\"",
            scheme.name
        )
    })
}

/// Warns of a scheme that finds paths for connections of TCP without any.
fn without_tcp(scheme: &Descriptor, protocol: &Protocol) -> Option<String> {
    let is_for_tcp = scheme.needs.contains(&Need::MultipathHost)
        || matches!(scheme.explores, Some(Explores::Connections | Explores::Elephants));
    is_for_tcp.then(|| {
        format!(
            "`{}` finds paths for connections of TCP, and transport.protocol is \"{}\": its packets take the paths of \
             stations",
            scheme.name,
            protocol.name()
        )
    })
}

/// Warns if a subflow for each pair of addresses means a single subflow.
fn single_links(fabric: &Fabric, transport: &Config) -> Option<String> {
    let is_mesh = transport.mptcp == Mptcp::Fullmesh;
    (is_mesh && !Interfaces::of(fabric).are_several()).then(|| {
        "transport.mptcp = \"fullmesh\" opens one subflow only: it needs several links of a host into the network, and every host has \
         one; set it to \"ndiffports\", or give hosts several links"
            .to_owned()
    })
}

/// Warns of flows that no summary counts.
fn never_counted(traffic: &Traffic, settings: &Settings) -> Vec<String> {
    let measure = &settings.measure;
    let (from, to) = measure.window;
    let counts = |flow: &Flow| measure.counts(flow.start, traffic.arriving.has(flow.id));
    let end = Time::ZERO + settings.run.limit;
    let late = traffic.flows.iter().filter(|flow| flow.start >= end).count();
    let mut warnings = Vec::new();
    let (has_flows, waits) = (!traffic.flows.is_empty(), !traffic.dependencies.is_empty());
    if !has_flows && !waits && traffic.dependencies.nodes() == 0 {
        warnings.push(format!("no flow starts within {}", settings.run.duration));
    } else if has_flows && !waits && !traffic.flows.iter().any(counts) {
        warnings.push(format!("no flow starts in the window from {from} to {to}: summaries are empty"));
    }
    if late > 0 {
        warnings.push(format!(
            "{late} of {} {} after the end of the run, {end}",
            plural(traffic.flows.len() as u64, "flow"),
            if late == 1 { "starts" } else { "start" }
        ));
    }
    warnings
}

/// Warns of events without effect: a flap has up to 20 000.
fn without_effect(fabric: &Fabric, events: &[Event], settings: &Settings) -> Vec<String> {
    let mut state = LinkStates::of(fabric);
    let end = Time::ZERO + settings.run.limit;
    let (during, late): (Vec<&Event>, Vec<&Event>) = events.iter().partition(|event| event.at <= end);
    let mut warnings = Vec::new();
    for event in during {
        if !state.apply(&event.change) {
            let target = event.change.target(fabric);
            let now = if event.change.goes_up() == Some(false) { "down" } else { "up" };
            warnings.push(format!("the event at {} changes nothing: `{target}` is {now}", event.at));
        }
    }
    if warnings.len() > MOST_ALIKE {
        let more = warnings.split_off(MOST_ALIKE).len();
        warnings.push(format!("{more} more events change nothing"));
    }
    match late.as_slice() {
        [] => {}
        [event] => warnings.push(format!("the event at {} is after the end of the run, {end}", event.at)),
        [event, ..] => {
            let count = late.len();
            warnings
                .push(format!("{count} events, from {} on, are after the end of the run, {end}", event.at));
        }
    }
    warnings
}

/// Warns if no scheme can make a difference, because every link is needed for connectivity.
fn nothing_to_choose(fabric: &Fabric) -> Option<String> {
    let between = |id: &usize| {
        let link = &fabric.links()[*id];
        link.up && !fabric.node(link.from).is_host() && !fabric.node(link.to).is_host()
    };
    let cables = (0..fabric.links().len()).step_by(2).filter(between).count();
    let multihomed =
        fabric.nodes().iter().zip(0..).any(|(node, id)| node.is_host() && fabric.ports(NodeId(id)).len() > 1);
    (!multihomed && cables < fabric.switch_count()).then(|| {
        "the fabric has one path between any two hosts: there is nothing to choose, and schemes \
         differ only in overhead"
            .to_owned()
    })
}

/// Warns if the marks by which a scheme recognises elephants do not match the flows.
fn unmarked(settings: &Settings, traffic: &Traffic) -> Option<String> {
    let scheme = &settings.scheme;
    settings.descriptor.explores.filter(|unit| *unit == Explores::Elephants)?;
    let classifier = Classifier::from_spec(scheme);
    let selected = |flow: &&Flow| classifier.selects(flow.sport, flow.dport, flow.dscp);
    let (count, all) = (traffic.flows.iter().filter(selected).count(), traffic.flows.len());
    let of = match classifier {
        Classifier::Auto(_) => return None,
        Classifier::Ports(first, last) => format!("the ports {first} to {last}"),
        Classifier::Dscp(dscp) => format!("the DSCP {dscp}"),
    };
    match count {
        0 if all > 0 => Some(format!(
            "no flow has {of}, so `{}` explores none: set `elephant_ports` or `dscp` of [traffic], or \
             scheme.classifier = \"auto\"",
            scheme.name
        )),
        _ if catches_others(&classifier) => Some(format!(
            "{of} overlap those of ordinary flows, {} to {}: `tfe` explores more than elephants",
            EPHEMERAL.start,
            EPHEMERAL.end - 1
        )),
        count if count == all && all > 1 => {
            Some(format!("every flow has {of}, so `tfe` is the same as `tcp_path`"))
        }
        _ => None,
    }
}

/// Whether a range of ports overlaps the ports assigned to ordinary flows.
fn catches_others(classifier: &Classifier) -> bool {
    match classifier {
        Classifier::Ports(first, last) => *first < EPHEMERAL.end && EPHEMERAL.start <= *last,
        _ => false,
    }
}

/// Warns of queues that do not suit the transport.
fn unfit(fabric: &Fabric, transport: &Protocol, scheme: &Descriptor) -> Vec<String> {
    let mut warnings = Vec::new();
    let marks = |link: &Link| link.queue.ecn_threshold.is_some() || link.queue.red.is_some();
    if let Some(what) = transport.config().without_marks()
        && !fabric.links().iter().any(marks)
    {
        warnings.push(format!(
            "no queue marks packets, so {what}: set fabric.ecn_threshold, such as \"65 packets\""
        ));
    }
    let needed = |link: &Link| full_frame(fabric, link, transport, scheme);
    let short = |link: &&Link| matches!(link.queue.limit, Limit::Bytes(limit) if limit < needed(link).into());
    let mut links = fabric.links().iter().filter(short);
    if let Some(link) = links.next() {
        let [from, to] = [link.from, link.to].map(|node| &fabric.node(node).name);
        let more = and_more(links.count());
        warnings.push(format!(
            "the queue of link `{from}` -> `{to}`{more} holds {}, less than a full frame: {} are needed",
            link.queue.limit,
            Limit::Bytes(needed(link).into())
        ));
    }
    warnings
}
