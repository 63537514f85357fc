//! Delivery of a segment's contents: data from its subflow's endpoint to the connection, and the data ACK.

use weft_units::Time;

use super::connection::{Connection, Mode};
use super::{Config, Dss};
use crate::segment::{Flags, Segment};
use crate::seq::{before, earlier, later, span};

impl Connection {
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
        let tells = seg.ack != subflow.endpoint.tx.snd_una || seg.sack_count > 0 || seg.flags.has(Flags::ECE);
        if subflow.coupled && tells {
            self.observe(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        subflow.heard = subflow.heard.wrapping_add(1);
        let endpoint = &mut subflow.endpoint;
        let (next, una, before_it) = (endpoint.rx.rcv_nxt, endpoint.tx.snd_una, endpoint.rx.delivered);
        let in_order = seg.seq == next && subflow.held.is_empty();
        if let Some(data) = data
            && !in_order
        {
            let end = seg.seq.wrapping_add(u32::from(seg.len));
            let limit = next.wrapping_add(endpoint.rx.rcv_wnd);
            let (start, end) = (later(seg.seq, next), earlier(end, limit));
            if before(start, end) && !before(start, next) {
                let offset = u64::from(span(seg.seq, start));
                subflow.held.insert(start, span(start, end), data.wrapping_add(offset));
            }
        }
        // Only the connection's window limits; the subflow's is large enough never to.
        let inner = Segment { window: cfg.subflow_window(), ..*seg };
        endpoint.on_segment(&cfg.subflow, now, &inner);
        let bytes = (endpoint.rx.delivered - before_it) as u32;
        if endpoint.tx.snd_una != una {
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
}
