//! Segment arrival: subflow-level information goes to the subflow's endpoint, data-level information to the connection.

use weft_units::Time;
use weft_wire::mptcp::Version;

use super::connection::{Connection, Mode};
use super::subflow::Stage;
use super::{Config, Options};
use crate::endpoint::State;
use crate::segment::{Flags, Segment};
use crate::todo;

impl Connection {
    /// Processes a segment from the other side on a subflow. Never panics, whatever the segment contains; ignores
    /// segments for unknown subflows.
    #[inline]
    pub fn on_segment(&mut self, cfg: &Config, subflow: usize, now: Time, seg: &Segment, options: &Options) {
        let Some(to) = self.subflows.get_mut(subflow) else { return };
        self.ready |= 1 << subflow;
        self.due = true;
        if self.mode == Mode::Plain && subflow == 0 {
            to.endpoint.on_segment(&cfg.plain, now, seg);
            return;
        }
        if to.stage == Stage::Confirmed || self.on_handshake(cfg, subflow, now, seg, options) {
            self.on_confirmed(cfg, subflow, now, seg, options);
        }
        if self.is_complete() && !self.finishing {
            self.finish();
        }
        if self.finishing {
            self.notice_end(subflow, seg);
        }
        if self.subflows[subflow].endpoint.state == State::Closed {
            self.bury(subflow);
        }
    }

    /// Processes a segment on a subflow whose handshake is complete.
    #[inline]
    fn on_confirmed(&mut self, cfg: &Config, number: usize, now: Time, seg: &Segment, options: &Options) {
        if let Options::Dss(dss) = options
            && !seg.flags.any(Flags::SYN | Flags::RST)
        {
            let data = dss.dsn.map(|dsn| dsn.wrapping_sub(self.keys.peer_first));
            self.deliver(cfg, number, now, seg, data);
            self.on_dss(now, seg, dss);
            let endpoint = &mut self.subflows[number].endpoint;
            if dss.data_fin && endpoint.state != State::Closed {
                endpoint.rx.todo |= todo::ACK;
            }
        } else {
            self.on_confirmed_without_dss(cfg, number, now, seg, options);
        }
    }

    #[cold]
    fn on_confirmed_without_dss(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) {
        let plain = !seg.flags.any(Flags::SYN | Flags::RST) && *options == Options::None;
        if plain && !self.confirmed {
            // The other side fell back to TCP: it did not receive this side's key.
            self.mode = Mode::Opening;
            self.deliver(cfg, number, now, seg, None);
            return self.fall_back(cfg, seg);
        }
        if plain && seg.len > 0 {
            // RFC 8684, section 3.7: a middlebox removes options.
            self.subflows[number].reset();
            return;
        }
        let first_data = matches!(options, Options::Capable(_)) && number == 0 && !self.active;
        let data = (first_data && cfg.version() == Version::V1).then_some(0);
        if data.is_none() && seg.len > 0 && !seg.flags.any(Flags::SYN | Flags::RST) {
            return;
        }
        self.deliver(cfg, number, now, seg, data);
        let subflow = &mut self.subflows[number];
        subflow.answers_syn |= subflow.opened_here && seg.flags.has(Flags::SYN | Flags::ACK);
        if matches!(options, Options::Join(_)) {
            // A repeated third ACK of a join: its acknowledgment was lost.
            subflow.endpoint.rx.todo |= todo::ACK;
        }
    }
}
