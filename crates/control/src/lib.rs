//! What a central controller decides, sans-IO.
//!
//! A [`Controller`] is told what happens in a network of OpenFlow switches (switches and ports that come and
//! go, links that LLDP has seen, frames that switches send up) and answers with [`Command`]s: rules to be
//! installed, frames to be sent. It owns no clock and no socket, so the same controller sits behind real
//! switches, in the simulator and in a property test.

mod command;
mod controller;
mod ids;
mod packet;
mod rule;
mod settings;

pub use command::{Command, FrameOut, MadeFrame, Transaction};
pub use controller::{Controller, NO_COOKIE, Show};
pub use ids::{FrameRef, PortNo, SwitchId, SwitchPort};
pub use packet::{Arp, Content, End, Join, Mptcp, Neighbour, Packet, Tcp};
pub use rule::{Actions, EXACT, Match, Rule, RuleAction, RuleChange, priority};
pub use settings::{
    ArpMode, ExpectedCable, ExpectedEnd, ExpectedFabric, ExpectedSwitch, Kind, Limits, PathOrder, Settings,
    SettingsError,
};

/// stub
pub struct Smoc;
impl Smoc { /// new
pub fn new(_: Settings) -> Self { Self } }
impl Controller for Smoc {
    fn switch_up(&mut self, _: weft_units::Time, _: SwitchId, _: &[PortNo], _: &[u64], _: &mut Vec<Command>) {}
    fn switch_down(&mut self, _: weft_units::Time, _: SwitchId, _: &mut Vec<Command>) {}
    fn port_changed(&mut self, _: weft_units::Time, _: SwitchPort, _: bool, _: &mut Vec<Command>) {}
    fn link_up(&mut self, _: weft_units::Time, _: SwitchPort, _: SwitchPort, _: &mut Vec<Command>) {}
    fn link_down(&mut self, _: weft_units::Time, _: SwitchPort, _: SwitchPort, _: &mut Vec<Command>) {}
    fn host_known(&mut self, _: weft_units::Time, _: SwitchPort, _: weft_units::Mac, _: &[std::net::IpAddr], _: &mut Vec<Command>) {}
    fn packet_in(&mut self, _: weft_units::Time, _: SwitchPort, _: u64, _: &Packet, _: FrameRef, _: &mut Vec<Command>) {}
    fn installed(&mut self, _: weft_units::Time, _: u64, _: &mut Vec<Command>) {}
    fn failed(&mut self, _: weft_units::Time, _: u64, _: SwitchId, _: &str, _: &mut Vec<Command>) {}
    fn rule_removed(&mut self, _: weft_units::Time, _: SwitchId, _: u64, _: u64, _: u64, _: &mut Vec<Command>) {}
    fn next_deadline(&self) -> weft_units::Time { weft_units::Time::MAX }
    fn on_deadline(&mut self, _: weft_units::Time, _: &mut Vec<Command>) {}
    fn counters(&self) -> Vec<(&'static str, u64)> { vec![] }
    fn show(&self, _: weft_units::Time, _: Show, _: usize) -> serde_json::Value { serde_json::Value::Null }
}
