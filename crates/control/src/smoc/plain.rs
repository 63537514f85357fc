//! What is not TCP: to each station by the shortest path, one rule a switch.

use weft_units::Time;

use super::Smoc;
use crate::command::Command;
use crate::ids::{FrameRef, SwitchPort};
use crate::routes::From;

impl Smoc {
    /// Sends a frame to a station, and makes the route by which the next ones go.
    pub(super) fn to_station(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let froms = stations.map(|station| From::Switch(self.net.stations.slab[station].switch));
        self.route(now, at, stations, froms, frame, out);
    }
}
