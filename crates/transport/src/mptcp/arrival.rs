//! Segment arrival: subflow-level information goes to the subflow's endpoint, data-level information to the connection.

use weft_units::Time;
use weft_wire::mptcp::Version;

use super::connection::{Connection, Mode};
use super::subflow::Stage;
use super::{Config, Dss, Options};
use crate::config::MptcpCongestion;
use crate::congestion::Controller;
use crate::endpoint::{State, todo};
use crate::segment::{Flags, Segment};
use crate::seq::{before, earlier, later, span};

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
        if to.stage == Stage::Confirmed {
            self.on_confirmed(cfg, subflow, now, seg, options);
        } else {
            self.on_handshake(cfg, subflow, now, seg, options);
        }
        if self.subflows[subflow].endpoint.state == State::Closed {
            self.bury(subflow);
        }
        if self.is_complete() && !self.finishing {
            self.finish();
        }
    }

    /// Processes a segment on a subflow whose handshake is complete.
    #[inline]
    pub(super) fn on_confirmed(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        options: &Options,
    ) {
        if let Options::Dss(dss) = options
            && !seg.flags.any(Flags::SYN | Flags::RST)
        {
            let data = dss.dsn.map(|dsn| dsn.wrapping_sub(self.keys.peer_first));
            self.deliver(cfg, number, now, seg, data);
            self.on_dss(now, seg, dss);
            let endpoint = &mut self.subflows[number].endpoint;
            if dss.data_fin && endpoint.state != State::Closed {
                endpoint.todo |= todo::ACK;
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
            subflow.endpoint.todo |= todo::ACK;
        }
    }

    /// Passes a segment to its subflow's endpoint, and the data received in order to the connection. `data` is the data
    /// offset of the segment's first byte.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        cfg: &Config,
        number: usize,
        now: Time,
        seg: &Segment,
        data: Option<u64>,
    ) {
        let subflow = &mut self.subflows[number];
        let tells = seg.ack != subflow.endpoint.snd_una || seg.sack_count > 0 || seg.flags.has(Flags::ECE);
        if subflow.coupled && tells {
            self.observe(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        subflow.heard = subflow.heard.wrapping_add(1);
        let endpoint = &mut subflow.endpoint;
        let (next, una, before_it) = (endpoint.rcv_nxt, endpoint.snd_una, endpoint.delivered);
        let in_order = seg.seq == next && subflow.held.is_empty();
        if let Some(data) = data
            && !in_order
        {
            let end = seg.seq.wrapping_add(u32::from(seg.len));
            let limit = next.wrapping_add(endpoint.rcv_wnd);
            let (start, end) = (later(seg.seq, next), earlier(end, limit));
            if before(start, end) && !before(start, next) {
                let offset = u64::from(span(seg.seq, start));
                subflow.held.insert(start, span(start, end), data.wrapping_add(offset));
            }
        }
        // Only the connection's window limits; the subflow's is large enough never to.
        let inner = Segment { window: cfg.subflow_window(), ..*seg };
        endpoint.on_segment(&cfg.subflow, now, &inner);
        let bytes = (endpoint.delivered - before_it) as u32;
        if endpoint.snd_una != una {
            subflow.progresses();
        }
        if bytes == 0 {
            return;
        }
        let incoming = &mut self.incoming;
        let mapped = match data {
            Some(data) if in_order => {
                let mapped = bytes.min(u32::from(seg.len));
                incoming.receive(cfg, data, mapped);
                mapped
            }
            _ => {
                let end = next.wrapping_add(bytes);
                subflow.held.take(next, end, |data, len| incoming.receive(cfg, data, len))
            }
        };
        if mapped < bytes && self.mode != Mode::Opening {
            // RFC 8684, section 3.3.1: data without a mapping is lost, and the subflow is reset.
            subflow.reset();
        }
    }

    /// Processes a DSS option: the data ACK of this side's data, and the end of the other's.
    #[inline]
    pub(super) fn on_dss(&mut self, now: Time, seg: &Segment, dss: &Dss) {
        self.confirmed = true;
        let acked = self.outgoing.acked;
        self.outgoing.on_data_ack(dss.data_ack.wrapping_sub(self.keys.own_first), seg.window);
        if self.outgoing.acked != acked {
            self.arm_stall(now);
        }
        if dss.data_fin
            && let Some(dsn) = dss.dsn
        {
            let end = dsn.wrapping_sub(self.keys.peer_first).saturating_add(u64::from(seg.len));
            self.incoming.on_data_fin(end);
        }
    }

    /// Passes all subflows to a subflow's controller.
    pub(super) fn observe(&mut self, cfg: &Config, number: usize) {
        if cfg.congestion() == MptcpCongestion::Uncoupled {
            return;
        }
        self.paths.clear();
        let mut own = usize::MAX;
        for (other, subflow) in self.subflows.iter().enumerate() {
            if let Some(path) = subflow.path(&cfg.subflow) {
                if other == number {
                    own = self.paths.len();
                }
                self.paths.push(path);
            }
        }
        let endpoint = &mut self.subflows[number].endpoint;
        if let Some(controller) = endpoint.congestion.existing_mut() {
            controller.on_paths(&self.paths, own, endpoint.acked);
        }
    }
}
