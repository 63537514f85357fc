//! [`Overload`]: a link to which more is offered than it carries, known before a run from traffic, routes and the
//! scheme's split.

use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter};

use weft_fabric::{Fabric, Link};
use weft_switching::{Descriptor, Forwarding, Inflow, SchemeSpec, Split};
use weft_traffic::{Offer, Places};
use weft_transport::Protocol;
use weft_units::{Duration, HostId, LinkId, NodeId, Rate, Time};

use crate::change::{Change, Event};
use crate::full_frame::full_frame;
use crate::link_states::LinkStates;
use crate::settings::Settings;

/// An offered load above this fraction of a rate is an overload.
const FULL: f64 = 1.0 + 1e-9;
/// A state of the links that lasts for less than this share of the measurement window makes no overload.
const LASTING: f64 = 0.1;
/// Racks times links from which on the load of single links is not computed.
const MOST_WORK: usize = 20_000_000;

/// More is offered than the links carry.
#[derive(Clone, PartialEq, Debug)]
pub struct Overload {
    /// The links, such as `link l0->s3`.
    pub at: String,
    /// Bits per second offered, headers included.
    pub offered_bps: f64,
    /// Bits per second that they carry.
    pub capacity_bps: f64,
    /// From when on; zero from the start.
    pub since: Time,
    /// Until when; `None` for as long as measured flows arrive.
    pub until: Option<Time>,
    /// Links of the same kind that are overloaded, too.
    more: usize,
    /// By which split of traffic, if that matters.
    under: Option<&'static str>,
}

impl Display for Overload {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { at, offered_bps, capacity_bps, since, until, more, under } = self;
        write!(out, "offered load on {at}")?;
        if *more > 0 {
            write!(out, " (and {more} more like it)")?;
        }
        if let Some(scheme) = under {
            write!(out, " under `{scheme}`")?;
        }
        let its = if under.is_some() { "its" } else { "their" };
        let capacity = Rate::from_bps(*capacity_bps as u64);
        let share = offered_bps / capacity_bps * 100.0;
        if share.is_finite() {
            write!(out, " is {} % of {its} capacity ({capacity}), headers included", round(share))?;
        } else {
            write!(out, " is more than {its} capacity ({capacity})")?;
        }
        if let Some(until) = until {
            return write!(
                out,
                ", from {since} to {until}: overloaded during this time, so results depend on its length"
            );
        }
        if *since > Time::ZERO {
            write!(out, ", from {since} on")?;
        }
        write!(out, ": overloaded for as long as flows arrive, so results depend on run.duration")
    }
}

fn round(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// The inputs of the overload calculation besides the scheme.
pub(crate) struct Ground {
    pub(crate) fabric: Fabric,
    pub(crate) events: Vec<Event>,
    pub(crate) offers: Vec<Offer>,
}

/// All overloads of a plan, at most one of each kind: uplinks, hosts, single links by the scheme's split.
pub(crate) fn all(fabric: &Fabric, events: &[Event], offers: &[Offer], settings: &Settings) -> Vec<Overload> {
    let of = |links: &Links<'_>, offers: &[&Offer]| {
        let loads = Loads { links, offers, settings };
        let mut found: Vec<Overload> = loads.uplinks().into_iter().chain(loads.hosts()).collect();
        // Where no scheme could carry it, the split does not matter.
        if found.is_empty() {
            found.extend(loads.split());
        }
        found
    };
    over_time(fabric, events, offers, settings, of)
}

/// Only those by the scheme's split.
pub(crate) fn by_split(ground: &Ground, settings: &Settings) -> Vec<Overload> {
    let Ground { fabric, events, offers } = ground;
    let of = |links: &Links<'_>, offers: &[&Offer]| {
        Loads { links, offers, settings }.split().into_iter().collect()
    };
    over_time(fabric, events, offers, settings, of)
}

/// A time between two changes of links.
struct Stretch {
    /// The events before it.
    events: usize,
    since: Time,
    until: Time,
}

impl Stretch {
    /// The part of it in a span.
    fn with(&self, from: Time, to: Time) -> Self {
        Self { events: self.events, since: self.since.max(from), until: self.until.min(to) }
    }

    /// How much of it is in a span.
    fn within(&self, from: Time, to: Time) -> Duration {
        let part = self.with(from, to);
        part.until.saturating_since(part.since)
    }

    /// The times between changes of links, in order. Events that change no link's state or rate have no effect on
    /// loads.
    fn all(fabric: &Fabric, events: &[Event]) -> Vec<Self> {
        let mut state = LinkStates::of(fabric);
        let (mut all, mut since) = (Vec::new(), Time::ZERO);
        for (events, event) in events.iter().enumerate() {
            let differs = state.apply(&event.change) && event.change.is_visible();
            if differs && event.at > since {
                all.push(Self { events, since, until: event.at });
                since = event.at;
            }
        }
        all.push(Self { events: events.len(), since, until: Time::MAX });
        all
    }
}

/// The overloads of the longest time between two changes of links that has any. It lasts within the measurement window.
fn over_time(
    fabric: &Fabric,
    events: &[Event],
    offers: &[Offer],
    settings: &Settings,
    of: impl Fn(&Links<'_>, &[&Offer]) -> Vec<Overload>,
) -> Vec<Overload> {
    if offers.is_empty() {
        return Vec::new();
    }
    let (from, to) = settings.measure.window;
    let to = to.min(Time::ZERO + settings.run.duration);
    let span = to.saturating_since(from);
    let lasting = Duration::from_ps((span.ps() as f64 * LASTING).ceil() as u64);
    let mut lasts: Vec<Stretch> =
        Stretch::all(fabric, events).into_iter().filter(|one| one.within(from, to) >= lasting).collect();
    lasts.sort_by_key(|one| Reverse(one.within(from, to)));
    for stretch in lasts {
        // Flows of a group that arrive for a shorter time are a burst, as those of a shorter state of the links are.
        let lasts = |offer: &&Offer| stretch.with(offer.span.0, offer.span.1).within(from, to) >= lasting;
        let offers: Vec<&Offer> = offers.iter().filter(lasts).collect();
        let Stretch { events: before, since, until } = stretch;
        let found = of(&Links::after(fabric, &events[..before]), &offers);
        if !found.is_empty() {
            let until = (until < to).then_some(until);
            return found.into_iter().map(|overload| Overload { since, until, ..overload }).collect();
        }
    }
    Vec::new()
}

/// The links after some events.
struct Links<'a> {
    fabric: &'a Fabric,
    up: Vec<bool>,
    rates: Vec<Rate>,
}

impl<'a> Links<'a> {
    fn after(fabric: &'a Fabric, events: &[Event]) -> Self {
        let mut state = LinkStates::of(fabric);
        let mut rates: Vec<Rate> = fabric.links().iter().map(|link| link.rate).collect();
        for event in events {
            state.apply(&event.change);
            if let Change::ChangeCables(cables, change) = &event.change
                && let Some(rate) = change.rate
            {
                for id in cables.links.iter().flat_map(|link| [*link, link.reverse()]) {
                    rates[id.index()] = rate.of(fabric.link(id).rate);
                }
            }
        }
        let up = (0..fabric.links().len() as u32).map(|id| state.is_up(LinkId(id))).collect();
        Self { fabric, up, rates }
    }

    /// The rate of a link in bit/s; 0 while it is down.
    fn capacity(&self, id: LinkId) -> f64 {
        if self.up[id.index()] { self.rates[id.index()].bps() as f64 } else { 0.0 }
    }
}

/// The load on the links in one state of the fabric.
struct Loads<'a> {
    links: &'a Links<'a>,
    offers: &'a [&'a Offer],
    settings: &'a Settings,
}

impl Loads<'_> {
    /// Bits on the wire of a link for each bit of payload, in full packets. Acknowledgements are not included.
    fn wire(&self, link: &Link) -> f64 {
        let transport = &self.settings.transport.protocol;
        let frame = full_frame(self.links.fabric, link, transport, self.settings.descriptor);
        f64::from(frame) / f64::from(transport.framing().payload.max(1))
    }

    /// The overload of the worst of these groups of links, each with its name, its links and the payload offered.
    fn worst<'b>(&self, groups: impl Iterator<Item = (String, Vec<LinkId>, f64)> + 'b) -> Option<Overload> {
        let overload = |(at, ids, bps): (String, Vec<LinkId>, f64)| {
            let wire = ids.first().map_or(1.0, |id| self.wire(self.links.fabric.link(*id)));
            let capacity_bps: f64 = ids.iter().map(|id| self.links.capacity(*id)).sum();
            let (since, until, more, under) = (Time::ZERO, None, 0, None);
            Overload { at, offered_bps: bps * wire, capacity_bps, since, until, more, under }
        };
        let over: Vec<Overload> = groups
            .filter(|(_, ids, bps)| !ids.is_empty() && *bps > 0.0)
            .map(overload)
            .filter(|found| found.offered_bps > found.capacity_bps * FULL)
            .collect();
        let more = over.len().saturating_sub(1);
        let share = |found: &Overload| found.offered_bps / found.capacity_bps;
        let worst = over.into_iter().reduce(|a, b| if share(&b) > share(&a) { b } else { a });
        worst.map(|found| Overload { more, ..found })
    }

    /// The offered payload by the hosts or racks of `shares`.
    fn offered(&self, shares: fn(&weft_traffic::Demand) -> &[f64], at: usize) -> f64 {
        self.offers.iter().map(|offer| offer.bps * shares(&offer.demand)[at]).sum()
    }

    /// Links of hosts: whatever the scheme, all flows of a host pass them.
    fn hosts(&self) -> Option<Overload> {
        let fabric = self.links.fabric;
        let hosts = fabric.hosts().iter().enumerate().flat_map(|(at, node)| {
            let out: Vec<LinkId> = fabric.ports(*node).to_vec();
            let back = out.iter().map(|link| link.reverse()).collect();
            let name = &fabric.node(*node).name;
            [
                (format!("the links of `{name}`"), out, self.offered(|demand| &demand.sent, at)),
                (format!("the links to `{name}`"), back, self.offered(|demand| &demand.received, at)),
            ]
        });
        self.worst(hosts)
    }

    /// Uplinks of racks: whatever the scheme, all flows of a rack with others pass them.
    fn uplinks(&self) -> Option<Overload> {
        let fabric = self.links.fabric;
        let racks = self.racks()?;
        let groups = racks.iter().enumerate().flat_map(|(at, (_, node))| {
            let is_up = |link: &&LinkId| !fabric.node(fabric.link(**link).to).is_host();
            let out: Vec<LinkId> = fabric.ports(*node).iter().filter(is_up).copied().collect();
            let back = out.iter().map(|link| link.reverse()).collect();
            let name = &fabric.node(*node).name;
            [
                (format!("the uplinks of `{name}`"), out, self.offered(|demand| &demand.leaving, at)),
                (format!("the uplinks to `{name}`"), back, self.offered(|demand| &demand.entering, at)),
            ]
        });
        self.worst(groups)
    }

    /// One host and the switch of each rack, in order; none if some host is attached to several switches or to a host.
    fn racks(&self) -> Option<Vec<(HostId, NodeId)>> {
        let fabric = self.links.fabric;
        let attached = |host: HostId| {
            let mut nodes = fabric.ports(fabric.host_node(host)).iter().map(|link| fabric.link(*link).to);
            let first = nodes.next()?;
            (!fabric.node(first).is_host() && nodes.all(|node| node == first)).then_some(first)
        };
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let switches: Vec<NodeId> = hosts.map(attached).collect::<Option<_>>()?;
        let places = Places::of(fabric);
        places
            .racks()
            .iter()
            .map(|rack| Some((*rack.hosts.first()?, switches[rack.hosts.first()?.index()])))
            .collect()
    }

    /// Links between switches, if the scheme divides traffic by routes and rates alone.
    fn split(&self) -> Option<Overload> {
        let (fabric, links) = (self.links.fabric, self.links);
        let split =
            fixed(self.settings.descriptor, &self.settings.scheme, &self.settings.transport.protocol)?;
        let racks = self.racks()?;
        if racks.len().saturating_mul(fabric.links().len()) > MOST_WORK {
            return None;
        }
        let up = |id: LinkId| links.up[id.index()];
        let routes = Forwarding::with_rates(fabric, up, |id| links.rates[id.index()]);
        let places = Places::of(fabric);
        let inflow = |to: usize| -> Inflow {
            let from = racks.iter().enumerate().map(|(from, (_, switch))| {
                let bps = self.offers.iter().map(|offer| offer.bps * offer.demand.from_to(&places, from, to));
                (*switch, bps.sum())
            });
            (racks[to].0, from.collect())
        };
        let loads = split.loads(fabric, &routes, (0..racks.len()).map(inflow));
        let named = (0..).map(LinkId).zip(loads);
        let found =
            self.worst(named.map(|(id, bps)| (format!("link `{}`", fabric.link_label(id)), vec![id], bps)))?;
        Some(Overload { under: Some(self.settings.descriptor.name), ..found })
    }
}

/// How the scheme divides traffic, unless hosts react to the state of their packets' paths.
fn fixed(descriptor: &Descriptor, scheme: &SchemeSpec, protocol: &Protocol) -> Option<Split> {
    let adapts = protocol.config().adapts_paths();
    (descriptor.split)(scheme).filter(|split| !(adapts && split.follows_entropy()))
}
