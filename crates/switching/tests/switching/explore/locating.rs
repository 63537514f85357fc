//! The entry of a station at one switch: the frames that move it, and those that must not.

use weft_switching::arp_path::{ArpPathSwitch, TOGETHER};
use weft_switching::exploration::Exploration;
use weft_switching::hello::Way;
use weft_switching::{Action, Actions, DropReason, Header, Kind, Mac, Switch, stream};
use weft_units::{Duration, PortId};

use crate::common::World;
use crate::explore::net::{datagram, reply};

const HOST: PortId = PortId(0);
const WEST: PortId = PortId(1);
const EAST: PortId = PortId(2);

/// A switch between two others, with one host port.
struct One {
    switch: ArpPathSwitch,
    world: World,
}

impl One {
    fn new() -> Self {
        let ways = vec![Way::Host, Way::Up, Way::Up];
        Self {
            switch: ArpPathSwitch::new(&Exploration::default(), ways, 1),
            world: World::new(stream(1, "switch", 0)),
        }
    }

    /// It receives a frame; returns what becomes of the frame, and the frames that the switch sends.
    fn receive(&mut self, ingress: PortId, header: &Header) -> (Vec<Action>, Vec<Header>) {
        let mut out = Actions::default();
        self.switch.receive(&mut self.world, ingress, header, &mut out);
        (out.all().collect(), out.emitted().iter().map(|(_, header)| *header).collect())
    }

    fn port_of(&self, host: u32) -> Option<PortId> {
        let about = Header { dst: Mac::of_host(host), ..Header::default() };
        self.switch.kept(&about, self.world.now).destination.map(|entry| entry.port)
    }

    fn wait(&mut self, time: Duration) {
        self.world.now += time;
    }
}

fn about_path(kind: Kind, from: u32, to: u32, id: u32) -> Header {
    let mut header = Header { kind, src: Mac::of_host(from), dst: Mac::of_host(to), ..Header::default() };
    header.set_exploration_id(id);
    header
}

fn path_request(from: u32, to: u32, id: u32) -> Header {
    about_path(Kind::PathRequest, from, to, id)
}

#[test]
fn a_station_is_where_the_first_of_its_announcement_and_the_search_with_its_id_came_from() {
    for [first, second] in [[5, 6], [6, 5]] {
        let mut one = One::new();
        one.receive(WEST, &path_request(5, first, 7));
        let (actions, _) = one.receive(EAST, &path_request(5, second, 7));
        assert!(matches!(actions[..], [Action::Send(_), ..]), "it is flooded, too: {actions:?}");
        assert_eq!(one.port_of(5), Some(WEST), "to {first}, then to {second}");
        one.receive(EAST, &path_request(5, 6, 8));
        assert_eq!(one.port_of(5), Some(EAST), "a later search");
    }
}

#[test]
fn a_search_has_the_id_of_the_announcement_that_its_frame_caused_and_later_ones_have_their_own() {
    let mut one = One::new();
    let requests = |sent: Vec<Header>| -> Vec<(Mac, u32)> {
        let requests = sent.into_iter().filter(|header| header.kind == Kind::PathRequest);
        let mut found: Vec<_> = requests.map(|header| (header.dst, header.exploration_id())).collect();
        found.dedup();
        found
    };
    let announced = requests(one.receive(HOST, &datagram(5, 6)).1);
    let [(first, id), (second, same)] = announced[..] else { panic!("{announced:?}") };
    assert_eq!([first, second], [5, 6].map(Mac::of_host));
    assert_eq!(id, same);
    one.wait(TOGETHER + Duration::PICOSECOND);
    let searched = requests(one.receive(HOST, &datagram(5, 7)).1);
    let [(third, other)] = searched[..] else { panic!("{searched:?}") };
    assert_eq!(third, Mac::of_host(7));
    assert_ne!(other, id);
}

#[test]
fn a_reply_that_came_back_to_its_own_switch_does_not_move_its_source() {
    for back in [reply(5, 6), about_path(Kind::PathReply, 5, 6, 7)] {
        let mut one = One::new();
        one.receive(HOST, &datagram(5, 6));
        one.receive(WEST, &path_request(6, 6, 8));
        assert_eq!([5, 6].map(|host| one.port_of(host)), [Some(HOST), Some(WEST)]);
        let (actions, _) = one.receive(EAST, &back);
        assert_eq!(one.port_of(5), Some(HOST), "{:?}: {actions:?}", back.kind);
        if back.kind == Kind::PathReply {
            assert_eq!(actions, [Action::Drop(DropReason::Returned)]);
        }
    }
}
