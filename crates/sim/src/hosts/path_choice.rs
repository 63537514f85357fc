//! [`PathChoices`]: the paths that ends of TCP connections at a partition's hosts choose, and their knowledge of paths.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use weft_switching::host::distinct_paths::PathFinder;
use weft_switching::host::path_selector::{Host, Opening, PathSelector};
use weft_switching::mix64;
use weft_traffic::Flow;
use weft_units::{HostId, NodeId, Time};

use super::context::Ctx;
use super::flow_end::FlowEnd;

/// The choice of paths of one end.
pub struct PathChoice<P> {
    /// The scheme's state.
    pub selector: P,
    /// The paths that it knows.
    paths: Arc<[u32]>,
    /// The place of the state that it shares.
    shared: u32,
}

/// State that ends at a host share: the host, its first switch and the class of the destination.
type Sharing = (HostId, NodeId, usize);

/// The choices of all ends.
pub struct PathChoices<'a, P: PathSelector> {
    scheme: &'a P::Scheme,
    finder: &'a dyn PathFinder,
    /// The paths that were found, by first switch and class of the destination.
    paths: HashMap<(NodeId, usize), Arc<[u32]>>,
    /// The state that ends at a host share; the first place is for those that share none.
    shared: Vec<P::Shared>,
    /// The place of that state.
    shared_by: HashMap<Sharing, u32>,
    /// Places of state that no end shares any more.
    unshared: Vec<u32>,
}

/// The host of an end, and the other one of its flow.
fn hosts_of(owner: FlowEnd, flow: &Flow) -> (HostId, HostId) {
    if owner.side == 0 { (flow.src, flow.dst) } else { (flow.dst, flow.src) }
}

/// The state that an end at `own` with `nic` shares.
fn sharing((own, other): (HostId, HostId), nic: u32, cx: &Ctx<'_, '_>) -> Sharing {
    (own, cx.net.fabric.link(cx.net.id(nic)).to, cx.nics.routes().class_of(other))
}

impl<'a, P: PathSelector> PathChoices<'a, P> {
    /// None yet, by `scheme`, among the paths that `finder` finds.
    pub fn new(scheme: &'a P::Scheme, finder: &'a dyn PathFinder) -> Self {
        Self {
            scheme,
            finder,
            paths: HashMap::new(),
            shared: vec![P::Shared::default()],
            shared_by: HashMap::new(),
            unshared: Vec::new(),
        }
    }

    /// The choice of a new end that sends on `nic`.
    pub fn open(&mut self, owner: FlowEnd, flow: &Flow, nic: u32, cx: &Ctx<'_, '_>) -> PathChoice<P> {
        let hosts = hosts_of(owner, flow);
        let paths = self.paths_to(hosts.1, nic, cx);
        let opening = Opening {
            paths: Arc::clone(&paths),
            random: mix64((owner.flow * 2 + owner.side as u32).into()),
            rate: cx.net.fabric.link(cx.net.id(nic)).rate,
        };
        let shared = self.place_of_shared(hosts, nic, cx);
        PathChoice { selector: P::open(self.scheme, opening), paths, shared }
    }

    /// The selector of an end, and its surroundings.
    #[inline(always)]
    pub fn parts<'c>(&'c mut self, choice: &'c mut PathChoice<P>, now: Time) -> (&'c mut P, Host<'c, P>) {
        let shared = &mut self.shared[choice.shared as usize];
        (&mut choice.selector, Host { scheme: self.scheme, shared, now })
    }

    /// The paths from the switch at the other end of `nic` to `host`.
    fn paths_to(&mut self, host: HostId, nic: u32, cx: &Ctx<'_, '_>) -> Arc<[u32]> {
        if !P::needs_paths(self.scheme) {
            return Arc::new([]);
        }
        let (routes, from) = (cx.nics.routes(), cx.net.fabric.link(cx.net.id(nic)).to);
        let found = || self.finder.paths(from, host, routes);
        Arc::clone(self.paths.entry((from, routes.class_of(host))).or_insert_with(found))
    }

    /// The place of the state that an end with `nic` shares with others.
    fn place_of_shared(&mut self, hosts: (HostId, HostId), nic: u32, cx: &Ctx<'_, '_>) -> u32 {
        if !P::shares(self.scheme) {
            return 0;
        }
        let (shared, unshared) = (&mut self.shared, &mut self.unshared);
        *self.shared_by.entry(sharing(hosts, nic, cx)).or_insert_with(|| {
            unshared.pop().unwrap_or_else(|| {
                shared.push(P::Shared::default());
                shared.len() as u32 - 1
            })
        })
    }

    /// Links have changed: these ends, each with its interface, learn their paths again. Classes of destinations may have new
    /// numbers.
    pub fn repick<'e>(
        &mut self,
        ends: impl Iterator<Item = (FlowEnd, u32, &'e mut PathChoice<P>)>,
        cx: &Ctx<'_, '_>,
    ) where
        P: 'e,
    {
        self.paths.clear();
        self.shared_by.clear();
        let mut is_taken = vec![false; self.shared.len()];
        for (owner, nic, choice) in ends {
            let hosts = hosts_of(owner, &cx.world.flows[owner.flow as usize]);
            let paths = self.paths_to(hosts.1, nic, cx);
            let is_new = choice.paths != paths;
            if P::shares(self.scheme)
                && self.share_again(choice.shared, sharing(hosts, nic, cx), &mut is_taken)
                && is_new
            {
                self.shared[choice.shared as usize] = P::Shared::default();
            }
            choice.shared = self.place_of_shared(hosts, nic, cx);
            if is_new {
                choice.selector.renew(Arc::clone(&paths));
                choice.paths = paths;
            }
        }
        self.unshared.clear();
        for place in (1..is_taken.len()).filter(|place| !is_taken[*place]) {
            self.shared[place] = P::Shared::default();
            self.unshared.push(place as u32);
        }
    }

    /// Enters the state at `known` again as the one that is shared by `key`, unless an end has entered another one or
    /// `known` is taken; returns whether it did.
    fn share_again(&mut self, known: u32, key: Sharing, is_taken: &mut [bool]) -> bool {
        if is_taken[known as usize] {
            return false;
        }
        let Entry::Vacant(entry) = self.shared_by.entry(key) else { return false };
        entry.insert(known);
        is_taken[known as usize] = true;
        true
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let paths = self.paths.values().map(|paths| size_of_val(&**paths)).sum::<usize>();
        paths + self.shared.capacity() * size_of::<P::Shared>()
    }
}
