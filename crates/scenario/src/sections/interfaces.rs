//! `transport.interfaces` and `interfaces` of groups and flows: the interfaces of flows at hosts that have several.

use std::collections::BTreeMap;

use weft_fabric::{Fabric, Interfaces};
use weft_switching::{Descriptor, SchemeSpec};
use weft_traffic::{Flow, InterfaceRule, Lane};
use weft_units::plural;

use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::nearest::list;
use crate::section::Section;
use crate::sections::scheme::At;
use crate::source::Span;

/// The largest number of an interface.
const MOST: u64 = u8::MAX as u64;

/// The key of the rule, in [transport].
pub(crate) const RULE: Key = key(
    "interfaces",
    Kind::Word(InterfaceRule::WORDS),
    "hash",
    "rule by which flows choose interfaces at hosts with several",
);

/// The numbers of the interfaces of a flow.
pub(crate) const PAIR: Kind = Kind::Pair(&Kind::UpTo(MOST));

/// Reads `interfaces` of a group or flow; the outer `None` means invalid.
pub(crate) fn lane(section: &Section<'_>) -> Option<Lane> {
    let Some(node) = section.node(RULE.name) else { return Some(Lane::Any) };
    let numbers = section.list::<u64>(RULE.name)?.value;
    let both = match numbers.as_slice() {
        [src, dst] => u8::try_from(src.value).ok().zip(u8::try_from(dst.value).ok()),
        _ => None,
    };
    if both.is_none() {
        let label = format!(
            "expected two numbers from 0 to {MOST}, such as [0, 1]: at the source and the destination"
        );
        section.problem(
            node.span,
            format!("`{}` is not a pair of interfaces", section.path_of(RULE.name)),
            label,
        );
    }
    both.map(|(src, dst)| Lane::Interfaces([src, dst]))
}

/// Settles which interfaces `flows` prefer by `rule`, and finds what is wrong with that. `at` is the position of the rule or its
/// section, `of_flows` that of the traffic.
pub(crate) fn settle(
    rule: InterfaceRule,
    flows: &mut [Flow],
    fabric: &Fabric,
    at: Span,
    of_flows: Span,
) -> Option<Problem> {
    let named = flows.iter().find(|flow| flow.lane.interfaces().is_some());
    if let Some(flow) = named.filter(|_| rule != InterfaceRule::Listed) {
        let message =
            format!("{} names interfaces, and transport.interfaces is \"{rule}\"", spell(flow, fabric));
        let label = "remove `interfaces` of flows and groups, or set transport.interfaces = \"listed\"";
        return Some(Problem::at(of_flows, message).label(label));
    }
    if rule == InterfaceRule::Hash {
        flows.iter_mut().for_each(|flow| flow.lane = Lane::Any);
        return None;
    }
    let all = Interfaces::of(fabric);
    if !all.are_several() {
        let message = format!("transport.interfaces is \"{rule}\", and every host has one interface");
        let label = "remove it, or give hosts several: kind = \"dual-plane\", or tors = 2 of a spine-leaf, for example";
        return Some(Problem::at(at, message).label(label));
    }
    for flow in flows {
        let counts = [flow.src, flow.dst].map(|host| all.count(host));
        let are_joined = fabric.share_scale_up(flow.src, flow.dst);
        flow.lane = match (rule, flow.lane) {
            (InterfaceRule::Listed, Lane::Interfaces(both)) => {
                let ends = [flow.src, flow.dst].into_iter().zip(counts).zip(both);
                for ((host, count), number) in ends {
                    if u32::from(number) >= count {
                        let (flow, name) = (spell(flow, fabric), fabric.host_name(host));
                        let has = plural(count, "interface");
                        let message = format!("{flow} names interface {number} of `{name}`, which has {has}");
                        let most = count.saturating_sub(1);
                        return Some(Problem::at(of_flows, message).label(format!("expected 0 to {most}")));
                    }
                }
                Lane::Interfaces(both)
            }
            (InterfaceRule::Listed, _) => {
                let message = format!(
                    "{} names no interfaces, and transport.interfaces is \"{rule}\"",
                    spell(flow, fabric)
                );
                let label = "expected `interfaces = [0, 1]`, for example, in its group or in `flow_list`";
                return Some(Problem::at(of_flows, message).label(label));
            }
            (InterfaceRule::Rail, lane) if !are_joined => Lane::Interfaces(lane.on_rails(flow.src, counts)),
            _ => Lane::Any,
        };
    }
    None
}

/// A flow in messages.
fn spell(flow: &Flow, fabric: &Fabric) -> String {
    let [src, dst] = [flow.src, flow.dst].map(|host| fabric.host_name(host));
    format!("the flow from `{src}` to `{dst}` at {}", flow.start)
}

/// The problem if the rule does not go together with the scheme.
pub(crate) fn misfit(
    rule: InterfaceRule,
    scheme: &Descriptor,
    spec: &SchemeSpec,
    at: &At,
) -> Option<Problem> {
    let position = at.key(RULE.name);
    if rule == InterfaceRule::Hash {
        return None;
    }
    (!(scheme.knows_interfaces)(spec)).then(|| {
        let message =
            format!("transport.interfaces is \"{rule}\", and `{}` has no routes to interfaces", scheme.name);
        let plain = SchemeSpec { name: String::new(), params: BTreeMap::new() };
        let names = weft_switching::registry().iter().filter(|known| (known.knows_interfaces)(&plain));
        let names = list(names.map(|known| known.name));
        Problem::at(position, message).label(format!("remove it, or set scheme.name to one of {names}"))
    })
}
