//! [`Partition`]: some nodes of the fabric and all links that leave them. Its loop is the engine's hot path: one event
//! per packet and hop.

mod host_rounds;
mod resolution;
mod rounds;
mod starting;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use weft_fabric::{EqualCost, Fabric};
use weft_switching::{DropReason, Forwarding};
use weft_units::{HostId, LinkId, NodeId, PortId, Time};

use crate::division::Division;
use crate::event_queue::Due;
use crate::fleet::FleetBuilder;
use crate::hosts::{Ctx, Hosts, Nics, World, node_of};
use crate::ideal::Ideal;
use crate::journal::{FlowNumber, News, SideReport};
use crate::line::FarEnd;
use crate::network::Network;
use crate::packet::PacketId;
use crate::resolver::Resolver;
use crate::ring_path::PartTimes;
use crate::switches::Switches;
use crate::timer::Timer;
use crate::timer_heap::Order;
use crate::trace::TraceEvent;

/// In place of a host's: notices for all hosts.
const ALL: usize = usize::MAX;

/// A notice to a partition about a flow: from the engine, one lookahead after the event that caused it, or from the
/// partition itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The source follows the next data segment of this subflow.
    Follow(FlowNumber, u8),
    /// One side (0: the source) of the flow leaves.
    Leave(FlowNumber, usize),
    /// The dependency of this edge is satisfied.
    Satisfied(u32),
    /// This step joins the queue of its processor.
    Work(u32),
}

/// Why [`Partition::run`] returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// No event is due before the end of the window.
    End,
    /// The journal is urgent: there is news for the engine at the current time.
    News,
    /// The event budget is used up.
    Enough,
}

/// One partition.
pub struct Partition<'a, H> {
    /// Its links, packets and events.
    pub net: Network<'a>,
    /// Its switches.
    pub switches: Switches,
    hosts: H,
    nics: Nics,
    /// The shortest paths over the links that are up.
    shortest: Arc<EqualCost>,
    /// Address resolution, if the scheme uses it.
    resolver: Option<Resolver>,
    /// The flows of its hosts that wait for no other, in order of start time; those before `next` have started.
    starts: Vec<FlowNumber>,
    next: usize,
    /// Flows that waited and have started.
    late: Vec<FlowNumber>,
    /// The notices by time, and in rounds by the place of their host.
    notices: BTreeMap<(Time, usize), Vec<Notice>>,
    ideal: Ideal,
    /// When active flows started, and their ideal completion times and hop counts, computed then.
    begun: HashMap<FlowNumber, (Time, PartTimes, u32)>,
}

impl<'a, H: Hosts> Partition<'a, H> {
    /// Partition `part` of `division`, at time zero.
    pub fn new(
        fabric: &'a Fabric,
        division: &Division,
        part: usize,
        builder: &dyn FleetBuilder,
        routes: &Arc<Forwarding>,
        hosts: H,
        world: &World<'_>,
    ) -> Self {
        let is_own = |node: NodeId| division.part_of(node) == part;
        let mut net = Network::new(
            fabric,
            world.seed,
            division,
            part,
            hosts.kind(),
            world.framings.network.full_packet(),
            world.has_rounds,
        );
        net.interfaces = routes.interfaces().cloned();
        let nodes: Vec<NodeId> = fabric.switches().filter(|node| is_own(*node)).collect();
        let switches = Switches::new(builder, &nodes, world.seed, &net);
        let starts = (0..).zip(world.flows).filter(|(_, flow)| is_own(fabric.host_node(flow.src)));
        let starts = starts.map(|(number, _)| number);
        let starts: Vec<FlowNumber> = starts.filter(|number| !world.waiting.is_waiting(*number)).collect();
        if let Some(first) = starts.first() {
            let start = world.flows[*first as usize].start;
            if world.has_rounds {
                net.rounds.next_start = Some(start);
            } else {
                net.queue.schedule(Timer::Start.into(), start, Order::First(0));
            }
        }
        let mut this = Self {
            net,
            switches,
            hosts,
            nics: Nics::new(routes),
            shortest: Arc::clone(routes.shared_routes()),
            resolver: builder.arp_cache().map(|lifetime| Resolver::new(lifetime, world.warm)),
            starts,
            next: 0,
            late: Vec::new(),
            notices: BTreeMap::new(),
            ideal: Ideal::new(fabric, world.transport).with_rule(routes.interfaces().is_some()),
            begun: HashMap::new(),
        };
        if world.warm {
            this.switches.learn(builder, fabric, world.flows, world.seed);
        }
        this.switches.start(&mut this.net);
        for (step, host, at) in world.waiting.first_works() {
            let node = fabric.host_node(host);
            if is_own(node) {
                this.notify(node, at, Notice::Work(step));
            }
        }
        this
    }

    /// Handles the events before `end`, at most `most` of them; with `returns_for_news`, only up to the first urgent
    /// news. In rounds, handles all of them.
    pub fn run(&mut self, end: Time, most: u32, returns_for_news: bool, world: &World<'_>) -> Pause {
        if self.net.rounds.is_on() {
            debug_assert!(!returns_for_news, "news does not end a window of rounds");
            self.rounds(end, world);
            return Pause::End;
        }
        self.net.queue.set_end(end);
        let links = self.net.links.count();
        for _ in 0..most {
            let Some((time, due)) = self.net.next_event() else { return Pause::End };
            let before = std::mem::replace(&mut self.net.now, time);
            match due {
                Due::Leaf(link) if link < links => self.arrive(link, world),
                Due::Leaf(leaf) => match self.net.turns.of_leaf(leaf) {
                    Some(turn) => {
                        self.net.counters.events += 1;
                        self.turn(turn, world);
                    }
                    None => {
                        if !self.net.line_free(leaf - links) {
                            self.net.now = before;
                        }
                    }
                },
                Due::Far(id) => {
                    if !self.timer(id.into(), ALL, world) {
                        self.net.now = before;
                    }
                }
            }
            if returns_for_news && self.net.journal.is_urgent {
                return Pause::News;
            }
        }
        Pause::Enough
    }

    /// A packet reaches the far end of `link`.
    #[inline]
    fn arrive(&mut self, link: u32, world: &World<'_>) {
        let net = &mut self.net;
        let (bound, next, far_end, far_port) = net.arrive(link);
        net.advance(link, far_port, next, self.switches.decides_ahead());
        net.counters.packet_hops += 1;
        let packet = bound.packet;
        let is_watched = net.packets.get(packet).is_watched();
        if is_watched && net.is_pause_frame(packet) {
            return self.pause(link, packet, far_end, world);
        }
        net.trace(|net| TraceEvent::Arrived { frame: packet, link: net.id(link), seen: net.seen(packet) });
        if is_watched {
            net.observe(link, packet);
        }
        match far_end.split() {
            Ok(number) => self.switches.receive(number as usize, PortId(far_port), bound, net),
            Err(host) => self.deliver(host, packet, world),
        }
    }

    /// A pause frame reaches the far end of `link`. Traces leave such frames out: they never leave the link.
    #[cold]
    fn pause(&mut self, link: u32, packet: PacketId, far_end: FarEnd, world: &World<'_>) {
        let resumes = self.net.heed_pause_frame(link, packet);
        if let (Some(nic), Err(_)) = (resumes, far_end.split()) {
            self.at_hosts(world, |hosts, cx| hosts.resume(nic, cx));
        }
    }

    /// A packet reaches a host.
    #[inline]
    fn deliver(&mut self, host: u32, packet: PacketId, world: &World<'_>) {
        let to = self.net.packets.get(packet);
        if to.endpoint().is_none() {
            return self.deliver_alone(HostId(host), packet, world);
        }
        if to.header.dst.host().is_none_or(|dst| dst != host) && !self.net.is_of(to.header.dst, HostId(host))
        {
            let node = node_of(&self.net, HostId(host));
            return self.net.drop(node, packet, DropReason::NotForMe);
        }
        self.net.trace(|_| TraceEvent::Delivered { frame: packet });
        self.at_hosts(world, |hosts, cx| hosts.deliver(packet, cx));
    }

    /// Lets a pacing host send its next packet.
    #[inline]
    fn turn(&mut self, number: u32, world: &World<'_>) {
        self.at_hosts(world, |hosts, cx| hosts.turn(number, cx));
    }

    /// Runs `act` on the hosts, then starts the flows whose dependencies that has satisfied.
    #[inline(always)]
    fn at_hosts<T>(&mut self, world: &World<'_>, act: impl FnOnce(&mut H, &mut Ctx<'_, 'a>) -> T) -> T {
        let outcome = act(&mut self.hosts, &mut Ctx { net: &mut self.net, nics: &self.nics, world });
        if !self.net.reached.is_empty() {
            self.go_on(world);
        }
        outcome
    }

    /// A timer is due, in rounds one of the host at this place. Returns whether anything was due: a timer that has moved is
    /// no event.
    fn timer(&mut self, timer: Timer, place: usize, world: &World<'_>) -> bool {
        let mut is_due = true;
        match timer {
            Timer::End(end) => is_due = self.at_hosts(world, |hosts, cx| hosts.timer(end, cx)),
            Timer::Switch(number) => is_due = self.switches.wake(number as usize, &mut self.net),
            Timer::Ask(flow) => self.ask(flow, world),
            Timer::Begin(flow) => {
                if world.waiting.is_waiting(flow) {
                    self.late.push(flow);
                }
                self.begin(flow, world);
            }
            Timer::Space(line) => self.at_hosts(world, |hosts, cx| hosts.serve_line(line, cx)),
            Timer::Part(flow) => self.at_hosts(world, |hosts, cx| hosts.go_on(flow, cx)),
            Timer::Credit(turn) => self.at_hosts(world, |hosts, cx| hosts.grant_credit(turn, cx)),
            Timer::Start => self.start(world),
            Timer::Notice => self.heed(place, world),
        }
        // The number of simultaneous notices depends on the division.
        self.net.counters.events += u64::from(is_due && timer != Timer::Notice);
        is_due
    }

    /// Gives the host at `node` a notice for `at`, which is not in its past.
    pub fn notify(&mut self, node: NodeId, at: Time, notice: Notice) {
        let nic = self.net.link_at(node, PortId(0));
        let place = self.net.rounds.sender(nic).unwrap_or(ALL);
        let due = self.notices.entry((at, place)).or_default();
        if due.is_empty() {
            self.net.schedule(nic, Timer::Notice, at, Order::First(1));
        }
        due.push(notice);
    }

    /// Acts on the notices that are due, in rounds for the host at this place, otherwise for [`ALL`].
    fn heed(&mut self, place: usize, world: &World<'_>) {
        let mut notices = self.notices.remove(&(self.net.now, place)).unwrap_or_default();
        // Simultaneous steps of processors are in the order of their numbers, whatever the division.
        notices.sort_by_key(|notice| if let Notice::Work(step) = notice { Some(*step) } else { None });
        for notice in notices {
            match notice {
                Notice::Follow(flow, subflow) => self.hosts.follow(flow, subflow, world),
                Notice::Leave(flow, side) => self.leave(flow, side, world),
                Notice::Satisfied(edge) => self.satisfy(edge, world),
                Notice::Work(step) => self.begin_work(step, world),
            }
        }
    }

    /// One side of a flow leaves, now.
    pub fn leave(&mut self, number: FlowNumber, side: usize, world: &World<'_>) {
        let flow = &world.flows[number as usize];
        let left = self.hosts.leave(number, side, &mut self.net, world);
        let (report, opened) = left.unwrap_or((SideReport { side, ..SideReport::default() }, self.net.now));
        let begun = if side == 0 { self.begun.remove(&number) } else { None };
        let (start, ideal, hops) = begun.unwrap_or((flow.start, PartTimes::default(), 0));
        let report = SideReport { resolution: opened.saturating_since(start), start, ideal, hops, ..report };
        let node = node_of(&self.net, [flow.src, flow.dst][side]);
        self.net.report(node, News::Left(number, Box::new(report)));
    }

    /// Follows the source's next data segment of a flow.
    pub fn follow(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>) {
        self.hosts.follow(flow, subflow, world);
    }

    /// Bytes that the destination of a flow has received; `None` if the destination is not here.
    pub fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        self.hosts.delivered(flow, world)
    }

    /// Loses the packets on a link that goes down, if one of its ends is here.
    pub fn cut(&mut self, id: LinkId) {
        for packet in self.net.cut(id) {
            self.net.lose(id, packet, DropReason::LinkDown);
        }
    }

    /// A link comes up or, after [`Partition::cut`], is down, if one of its ends is here.
    pub fn set_up(&mut self, id: LinkId, up: bool, world: &World<'_>) {
        let link = self.net.fabric.link(id);
        for packet in self.net.set_up(id, up) {
            self.net.lose(id, packet, DropReason::LinkDown);
        }
        if let Some(number) = self.switches.number_of(link.from) {
            self.switches.port_changed(number, link.from_port, up, &mut self.net);
        }
        // A port that fails or heals is not paused any more.
        if self.net.fabric.node(link.from).is_host()
            && let Some(nic) = self.net.number(id)
        {
            self.at_hosts(world, |hosts, cx| hosts.resume(nic, cx));
        }
    }

    /// Links have gone down or come up; `down` are those that are down now.
    pub fn set_shortest(&mut self, shortest: &Arc<EqualCost>, down: &Arc<BTreeSet<LinkId>>) {
        self.shortest = Arc::clone(shortest);
        self.ideal.set_down(down);
    }

    /// The routes were recomputed.
    pub fn reroute(&mut self, routes: &Arc<Forwarding>, world: &World<'_>) {
        self.nics = Nics::new(routes);
        self.switches.routes_changed(routes);
        self.net.links.forget_decisions();
        self.at_hosts(world, |hosts, cx| hosts.repick(cx));
    }

    /// The flows that have started.
    pub fn started(&self) -> impl Iterator<Item = FlowNumber> {
        self.starts[..self.next].iter().chain(&self.late).copied()
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.net.memory() + self.hosts.memory()
    }
}
