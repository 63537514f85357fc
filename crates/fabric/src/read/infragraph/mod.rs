//! InfraGraph (`Keysight/infragraph` 3.1, its `schema/*.yaml`): devices made of components and internal links,
//! instances of devices, and edges between the components of instances. In YAML, or in JSON, which is YAML too.
//!
//! A component is no node of a fabric of Weft. These become nodes:
//!
//! * each `xpu` of an instance: a host. Each other component that an edge of the infrastructure connects is an
//!   interface of the nearest `xpu` of its instance (`servers.rs`)
//! * an instance without `xpu` but with a `nic`: one host with all of its interfaces
//! * any other instance: one switch
//! * switches within a device that join its `xpu`s: a scale-up domain (`domains.rs`). So are instances of switches all
//!   of whose links lead to `xpu`s that have other interfaces

mod devices;
mod document;
mod domains;
mod endpoint;
mod links;
mod places;
mod servers;
mod short;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use self::devices::{Budget, Layouts};
use self::document::Infrastructure;
use self::domains::{Groups, Uplink};
use self::links::Link;
use self::places::{Places, Wire};
use self::table::Fault;
use super::attributes::{NodeAttributes, Tier};
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::notes::Notes;
use super::{ErrorKind, ReadError, yaml};
use crate::build::{SCALE_UP_DELAY, SCALE_UP_RATE, scale_up_link};
use crate::{LinkSpec, Role, SCALE_UP_TIER, visible};

/// Reads an infrastructure. `defaults` give what links of the network leave out.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let document = yaml::parse(text)?;
    let mut notes = Notes::default();
    let made = Infrastructure::read(&document, &mut notes).and_then(|file| {
        let layouts = Layouts::new(&file.devices)?;
        let line_of = |byte: usize| text[..byte].matches('\n').count() + 1;
        let places = Places::new(&file, &layouts, &mut Budget::new(), &mut notes, line_of)?;
        let (nodes, edges) = elements(&places, defaults, &mut notes)?;
        Ok((file.name.unwrap_or(name).to_owned(), nodes, edges))
    });
    let (name, nodes, edges) = made.map_err(|fault| fault.of_text(text))?;
    Ok(FileGraph { text, name, nodes, edges, notes })
}

/// A scale-up domain: its switch's name, its members with their links, and where it is in the file.
struct Joint {
    name: String,
    members: BTreeMap<u32, Uplink>,
    byte: usize,
}

/// The nodes and cables of a fabric.
fn elements(
    places: &Places<'_>,
    defaults: &LinkSpec,
    notes: &mut Notes,
) -> Result<(Vec<FileNode>, Vec<FileEdge>), Fault> {
    let all: Vec<places::Node> = places.nodes().collect();
    let between = switches_of_xpus(places, &all);
    let is_network = |wire: &&Wire<'_>| !wire.nodes.iter().any(|node| between.contains(node));
    let cable = |names: [&str; 2], spec: LinkSpec, byte: usize, element: String| {
        let [from, to] = names.map(str::to_owned);
        let place = Place { byte, element: format!("{element} (`{from}` - `{to}`)") };
        FileEdge { from, to, back: Some(spec.clone()), forth: spec, up: true, place }
    };
    let mut edges = Vec::new();
    for wire in places.wires.iter().filter(is_network) {
        let Link { name, rate, delay, is_in_transfers } = *wire.link;
        if is_in_transfers {
            let why = format!(
                "link `{}` has its bandwidth in gigatransfers_per_second, which give no rate: write \
                 gigabits_per_second",
                visible(name)
            );
            return Err(Fault::said(wire.edge.byte, &wire.edge.element, why));
        }
        let spec = LinkSpec {
            rate: rate.unwrap_or(defaults.rate),
            delay: delay.unwrap_or(defaults.delay),
            ..defaults.clone()
        };
        let names = wire.nodes.map(|node| all[node as usize].name.as_str());
        edges.push(cable(names, spec, wire.edge.byte, wire.edge.element.clone()));
    }
    let mut nodes: Vec<FileNode> = Vec::with_capacity(all.len());
    for (_, node) in (0..).zip(&all).filter(|(number, _)| !between.contains(number)) {
        let attributes = NodeAttributes { role: Some(node.role), ..NodeAttributes::default() };
        let place = Place { byte: node.byte, element: node.element.clone() };
        nodes.push(FileNode { name: node.name.clone(), attributes, place });
    }
    let joints = joints(places, &all, &between, notes);
    let network: Vec<[u32; 2]> = places.wires.iter().filter(is_network).map(|wire| wire.nodes).collect();
    let members: Vec<Vec<u32>> = joints.iter().map(|joint| joint.members.keys().copied().collect()).collect();
    let named: Vec<(&str, Role)> = all.iter().map(|node| (node.name.as_str(), node.role)).collect();
    short::check(&places.short, |spot| places.node(spot), &named, &network, &members)?;
    for joint in joints {
        let tier = Some(Tier(SCALE_UP_TIER));
        let attributes = NodeAttributes { role: Some(Role::Switch), tier, ..NodeAttributes::default() };
        let element = format!("scale-up domain `{}`", visible(&joint.name));
        for (node, uplink) in &joint.members {
            let names = [all[*node as usize].name.as_str(), joint.name.as_str()];
            let spec =
                scale_up_link(uplink.rate.unwrap_or(SCALE_UP_RATE), uplink.delay.unwrap_or(SCALE_UP_DELAY));
            edges.push(cable(names, spec, joint.byte, element.clone()));
        }
        nodes.push(FileNode { name: joint.name, attributes, place: Place { byte: joint.byte, element } });
    }
    Ok((nodes, edges))
}

/// The switches all of whose edges lead to `xpu`s that also have interfaces of another kind.
fn switches_of_xpus(places: &Places<'_>, all: &[places::Node]) -> BTreeSet<u32> {
    let ends = |wire: &Wire<'_>| [0, 1].map(|end| (wire.nodes[end], wire.is_xpu[end], wire.nodes[1 - end]));
    let is_host = |node: u32| all[node as usize].role == Role::Host;
    let others: BTreeSet<u32> = places
        .wires
        .iter()
        .flat_map(ends)
        .filter(|(node, is_xpu, _)| is_host(*node) && !is_xpu)
        .map(|(node, ..)| node)
        .collect();
    let (mut found, mut not) = (BTreeSet::new(), BTreeSet::new());
    for (node, is_xpu, switch) in places.wires.iter().flat_map(ends).filter(|(_, _, to)| !is_host(*to)) {
        let fits = is_xpu && others.contains(&node);
        if fits { &mut found } else { &mut not }.insert(switch);
    }
    &found - &not
}

/// The scale-up domains, in order. Those that share a host are one, as all switches of a rack are.
fn joints(
    places: &Places<'_>,
    all: &[places::Node],
    between: &BTreeSet<u32>,
    notes: &mut Notes,
) -> Vec<Joint> {
    let mut parts: Vec<Joint> = Vec::new();
    let mut without_rate = BTreeSet::new();
    let mut meshes = BTreeSet::new();
    for inside in places.domains() {
        let members = inside.nodes.into_iter().zip(inside.domain.members.values().copied());
        let members: BTreeMap<u32, Uplink> = members.collect();
        if members.values().any(|uplink| uplink.rate.is_none()) {
            without_rate.insert(inside.domain.link.name);
        }
        if inside.domain.switch.is_none() {
            meshes.insert(inside.domain.link.name);
        }
        parts.push(Joint { name: inside.name, members, byte: inside.byte });
    }
    let mut outside: BTreeMap<u32, Joint> = BTreeMap::new();
    for wire in &places.wires {
        for (switch, node) in [(wire.nodes[0], wire.nodes[1]), (wire.nodes[1], wire.nodes[0])] {
            if between.contains(&switch) {
                if wire.link.rate.is_none() {
                    without_rate.insert(wire.link.name);
                }
                let joint = outside.entry(switch).or_insert_with(|| Joint {
                    name: all[switch as usize].name.clone(),
                    members: BTreeMap::new(),
                    byte: all[switch as usize].byte,
                });
                let uplink = joint.members.entry(node).or_default();
                *uplink = uplink.and(Uplink::of(wire.link));
            }
        }
    }
    parts.extend(outside.into_values());
    for (names, say) in [
        (&without_rate, format!("in scale-up domains without a bandwidth: each xpu has {SCALE_UP_RATE}")),
        (
            &meshes,
            "between xpus: they are read as one scale-up domain, with the sum of an xpu's links".to_owned(),
        ),
    ] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", visible(name))).collect();
            notes.add(format!("links {} {say}", names.join(", ")));
        }
    }
    merged(parts, all.len())
}

/// The domains, in order of the first of each, without any that share a host.
fn merged(parts: Vec<Joint>, nodes: usize) -> Vec<Joint> {
    let mut groups = Groups::new(nodes);
    for joint in &parts {
        let mut members = joint.members.keys();
        let Some(first) = members.next() else { continue };
        members.for_each(|node| groups.join([*first, *node]));
    }
    let mut order: Vec<Joint> = Vec::new();
    let mut found: BTreeMap<u32, usize> = BTreeMap::new();
    for joint in parts {
        let Some(first) = joint.members.keys().next() else { continue };
        match found.get(&groups.of(*first)) {
            None => {
                found.insert(groups.of(*first), order.len());
                order.push(joint);
            }
            Some(at) => {
                for (node, uplink) in joint.members {
                    let known = order[*at].members.entry(node).or_default();
                    *known = known.and(uplink);
                }
            }
        }
    }
    order
}
