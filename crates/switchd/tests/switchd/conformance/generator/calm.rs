//! Steps of a network with few anomalies: most frames belong to connections.

use weft_switchd::Mode;
use weft_switching::hello::Way;
use weft_wire::{EtherType, PathFrame, PathType};

use super::{Draw, WAITS};
use crate::conformance::event::{Event, Step};
use crate::conformance::frames::hello;
use crate::conformance::talk::Talk;

impl Draw {
    /// The next step of a connection.
    fn talk(&mut self) -> Event {
        self.talks.retain(|talk| !talk.has_ended());
        if self.talks.len() < 4 {
            let explores = !self.mode.routes() && self.mode != Mode::ArpPath;
            self.talks.push(Talk::draw(&mut self.random, &self.ways, explores));
        }
        let at = self.below(self.talks.len());
        self.talks[at].next(&mut self.random)
    }

    /// A step of a network with few anomalies.
    pub fn calm_step(&mut self) -> Step {
        if let Some(step) = self.planned.pop() {
            return step;
        }
        let wait = if self.one_in(30) { WAITS[self.below(WAITS.len())] } else { WAITS[self.below(7)] };
        let recovers = self.sent.last().is_some_and(|(_, frame)| {
            let path = PathFrame::parse(frame, EtherType::PATH);
            path.is_ok_and(|path| path.header().path_type == PathType::RecoveryRequest)
        });
        let port = self.below(self.ways.len()) as u16;
        self.later = self.later.saturating_sub(1);
        let event = match self.below(20) {
            _ if self.later == 10 => Event::Look,
            _ if self.later == 1 => Event::Tend,
            _ if self.later > 0 && !recovers => self.talk(),
            0 | 1 if self.ways[usize::from(port)] != Way::Host => Event::Frame(port, self.hello()),
            2 | 3 if let Some(down) = self.down.pop() => {
                self.up = Some(down);
                Event::Up(down, true)
            }
            _ if let Some(up) = self.up.take() => Event::Frame(up, self.hello()),
            5 if let Some(port) = self.busy_port() => self.lose(port),
            3 if self.one_in(2) => {
                if self.one_in(2) {
                    Event::Look
                } else {
                    Event::Tend
                }
            }
            4 => Event::Frame(port, self.frame()),
            _ if recovers && !self.one_in(3) => self.answer().unwrap_or(Event::Tend),
            _ => self.talk(),
        };
        if let Event::Up(port, false) = event {
            self.down.push(port);
            if self.later == 0 && self.one_in(2) {
                self.later = 11;
            }
        }
        Step { wait, event }
    }

    /// A port over which a connection leads to another switch, in modes with flows.
    fn busy_port(&mut self) -> Option<u16> {
        let ports: Vec<u16> = self.talks.iter().flat_map(Talk::ports_in_use).collect();
        let at = self.below(ports.len().max(1));
        ports.get(at).copied().filter(|_| self.mode.keeps_flows())
    }

    /// The link of `port` begins to lose frames, unlike those of the other ports to switches.
    fn lose(&mut self, port: u16) -> Event {
        let others = (0..).zip(&self.ways).filter(|(other, way)| *other != port && **way != Way::Host);
        let healthy = others.map(|(other, _)| Event::Frame(other, hello(1, false)));
        self.planned =
            std::iter::once(Event::Tend).chain(healthy).map(|event| Step { wait: 0, event }).collect();
        // The next round.
        self.planned[0].wait = if self.one_in(2) { 5_000_000_000 } else { 0 };
        Event::Frame(port, hello(1, true))
    }
}
