//! From the settings of a point to its [`Plan`]: files are read, hosts are found, flows are drawn.

use weft_fabric::{EqualCost, Fabric};
use weft_switching::stream;
use weft_traffic::{Flow, Places, generate};
use weft_transport::Mptcp;

use crate::diagnostic::{Problem, Problems};
use crate::link_states::Uptimes;
use crate::plan::Plan;
use crate::point::Point;
use crate::sections::traffic::GroupSettings;
use crate::sections::{Loader, Resolver, interfaces, scheme};
use crate::settings::Settings;
use crate::source::Span;
use crate::{overload, warnings};

/// The plan of the run `point` of the scenario `name`, whose settings these are; errors go to `problems`.
pub(crate) fn plan(
    name: &str,
    point: &Point,
    mut settings: Settings,
    loader: Loader<'_>,
    problems: &Problems,
) -> Option<Plan> {
    let fabric = settings.fabric.build(loader, problems)?;
    settings.transport.settle(&fabric);
    let (transport, at) = (&settings.transport, &settings.transport_at);
    if let Some(problem) =
        transport.early(at.key("rto")).or_else(|| transport.wide(at.key("initial_window"), &fabric))
    {
        problems.add(problem);
        return None;
    }
    if let Some(problem) = scheme::misfit(settings.descriptor, &settings.scheme, &settings.scheme_at, &fabric)
    {
        problems.add(problem);
        return None;
    }
    let resolver = Resolver { fabric: &fabric, loader, problems, seed: point.seed };
    let groups: Vec<_> = settings.traffic.iter().map(|group| group.resolve(&resolver)).collect();
    let events: Vec<_> = settings.events.iter().map(|event| event.resolve(&resolver)).collect();
    let (groups, beside): (Vec<_>, Vec<_>) =
        groups.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let (failures, ignored): (Vec<_>, Vec<_>) =
        beside.into_iter().map(|beside| (beside.events, beside.warnings)).unzip();
    let events = events.into_iter().collect::<Option<Vec<_>>>()?;
    let mut events = [failures, events].concat().concat();
    events.sort_by_key(|event| event.at);
    let is_multipath = settings.transport.protocol.tcp().is_some_and(|tcp| tcp.mptcp != Mptcp::Off);
    let rule = settings.transport.interfaces;
    let uptimes = Uptimes::of(&fabric, &events);
    let may_use_several = is_multipath || uptimes.has_later_events;
    let places = Places::of(&fabric).with_rule(&fabric, rule, may_use_several, &|link| uptimes.is_up(link));
    let mut rng = stream(point.seed, "traffic", 0);
    let duration = settings.run.duration;
    let mut traffic = match generate(&groups, &places, &settings.measure.thresholds, duration, &mut rng) {
        Ok(traffic) => traffic,
        Err(error) => {
            let group = error.group().and_then(|group| settings.traffic.get(group));
            let problem = group.or(settings.traffic.first())?.blame(&error);
            problems.add(problem);
            return None;
        }
    };
    let span = settings.traffic.first().map(GroupSettings::span).unwrap_or_default();
    if let Some(problem) = settings.transport.unfit(&traffic.flows, span, &fabric) {
        problems.add(problem);
        return None;
    }
    if let Some(problem) = without_path(&fabric, &traffic.flows, span) {
        problems.add(problem);
        return None;
    }
    let at = settings.transport_at.key(interfaces::RULE.name);
    if let Some(problem) = interfaces::settle(rule, &mut traffic.flows, &fabric, at, span) {
        problems.add(problem);
        return None;
    }
    let at = settings.traffic.iter().find_map(GroupSettings::connections_span).unwrap_or(span);
    if let Some(problem) = settings.transport.unfit_connections(&traffic, at) {
        problems.add(problem);
        return None;
    }
    let transport = settings.transport.with_connections(&traffic);
    let overloads = overload::all(&fabric, &events, &traffic.offers, &settings);
    let mut warnings = ignored.concat();
    warnings.extend(overloads.iter().map(ToString::to_string));
    warnings.extend(warnings::of(&fabric, &events, &traffic, &settings));
    Some(Plan {
        id: point.id.clone(),
        label: point.label.clone(),
        name: name.to_owned(),
        seed: point.seed,
        overrides: point.overrides.clone(),
        fabric,
        traffic,
        scheme: settings.scheme,
        descriptor: settings.descriptor,
        transport,
        run: settings.run,
        measure: settings.measure,
        reaction: settings.fabric.reaction,
        events,
        overloads,
        warnings,
    })
}

/// The first flow between hosts that are connected only by relays through scale-up domains, if there is one.
fn without_path(fabric: &Fabric, flows: &[Flow], span: Span) -> Option<Problem> {
    if !fabric.has_scale_up() {
        return None;
    }
    let routes = EqualCost::compute(fabric);
    let flow = flows.iter().find(|flow| routes.distance(flow.src, flow.dst).is_none())?;
    let (src, dst) = (fabric.host_name(flow.src), fabric.host_name(flow.dst));
    let message = format!("there is no path from `{src}` to `{dst}`: they are on separate rails");
    let help = "a collective reaches other rails with relay = \"pxn\"; or connect the rails: kind = \"rail-optimised\"";
    Some(Problem::at(span, message).label("this traffic needs one").help(help))
}
