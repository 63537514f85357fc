//! [`Slab`]: all packets of a partition, 64 bytes each, so that a hop touches one cache line of the packet.

use weft_switching::Header;
use weft_transport::mptcp::Options;
use weft_transport::roce::Telemetry;
use weft_transport::{Ecn, Flags, Segment};
use weft_units::{Duration, Time};

use super::{Content, DetachedPacket, Extra, Metadata, NOBODY, Packet, PacketId, Way};
use crate::huge;
use crate::prefetch::prefetch;

/// Packets for which a slab has room at first.
const FIRST_PACKETS: usize = 1 << 10;

/// A packet in a cache line of its own.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Slot(Packet);

/// All packets of a partition.
#[derive(Default)]
pub struct Slab {
    packets: Vec<Slot>,
    /// When each packet's host sent it. Not in the packet, which is full, because no hop needs it.
    sent: Vec<Time>,
    free: Vec<PacketId>,
    extras: Vec<Extra>,
    free_extras: Vec<u32>,
}

impl Slab {
    /// The packet `id`.
    #[inline]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize].0
    }

    /// The packet `id`, mutable so that switches can mark it.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize].0
    }

    /// The destination endpoint of packet `id` if it belongs to a connection, or of a packet that was there before.
    #[inline]
    pub fn owner_of(&self, id: PacketId) -> Option<u32> {
        self.packets.get(id as usize)?.0.endpoint()
    }

    /// Packets that exist now.
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Prefetches packet `id`.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        prefetch(self.packets.as_ptr().wrapping_add(id as usize));
    }

    /// Prefetches packet `id` and the time at which it was sent.
    #[inline]
    pub fn prefetch_all(&self, id: PacketId) {
        self.prefetch(id);
        prefetch(self.sent.as_ptr().wrapping_add(id as usize));
    }

    /// A slot for a packet, with the previous packet's data still in it.
    #[inline(always)]
    fn place(&mut self) -> PacketId {
        match self.free.pop() {
            Some(id) => id,
            None => self.new_place(),
        }
    }

    #[cold]
    fn new_place(&mut self) -> PacketId {
        if self.packets.len() == self.packets.capacity() {
            huge::reserve(&mut self.packets, FIRST_PACKETS);
            huge::reserve(&mut self.sent, FIRST_PACKETS);
        }
        self.packets.push(Slot::default());
        self.sent.push(Time::ZERO);
        self.packets.len() as PacketId - 1
    }

    /// Makes a packet from `segment` and `metadata`, sent `now`, with the addresses of `template`. `owner` is the
    /// destination endpoint, with [`WATCHED`] if the packet's path is observed.
    #[inline(always)]
    pub fn packet_of(
        &mut self,
        now: Time,
        template: &Header,
        owner: u32,
        segment: &Segment,
        metadata: Metadata,
    ) -> PacketId {
        let id = self.place();
        self.sent[id as usize] = now;
        let more = segment.sack_count > 0 || !metadata.is_nothing();
        let extra = if more { Some(self.extra_of(segment, metadata)) } else { None };
        let packet = &mut self.packets[id as usize].0;
        packet.header = *template;
        packet.header.tcp_flags = segment.flags.0;
        if segment.flags.has(Flags::SYN) {
            packet.header.set_exploration_id(segment.seq);
        }
        packet.header.traffic_class |= segment.ecn as u8;
        packet.header.option_words = segment.options / 4;
        packet.header.ip_bytes = segment.ip_bytes() as u16;
        packet.header.payload = segment.len;
        packet.seq = segment.seq;
        packet.ack = segment.ack;
        packet.ts_val = extra.unwrap_or(segment.ts_val);
        packet.ts_ecr = segment.ts_ecr;
        let resent = if segment.retransmission { Packet::RESENT } else { 0 };
        let extra = if extra.is_some() { Packet::EXTRA } else { 0 };
        packet.window = segment.window & (Packet::RESENT - 1) | resent | extra;
        packet.owner = owner;
        id
    }

    /// Makes a packet of a protocol other than TCP, sent `now`. `owner` is the destination endpoint, with [`WATCHED`] if
    /// the packet's path is observed; `way` is there if it is followed, `telemetry` if it carries that.
    #[inline]
    pub fn packet_with(
        &mut self,
        now: Time,
        header: &Header,
        owner: u32,
        content: Content,
        way: Option<Box<Way>>,
        telemetry: Option<Box<Telemetry>>,
    ) -> PacketId {
        let id = self.place();
        self.sent[id as usize] = now;
        let [seq, ack, ts_val, ts_ecr] = content.words;
        let note = content.note & (Packet::RESENT - 1);
        let (ts_val, window) = if way.is_none() && telemetry.is_none() {
            (ts_val, note)
        } else {
            let metadata = Metadata { way, telemetry, ..Metadata::default() };
            (self.insert_extra(Extra { ts_val, ts_ecr, metadata, ..Extra::default() }), note | Packet::EXTRA)
        };
        self.packets[id as usize].0 = Packet { header: *header, seq, ack, ts_val, ts_ecr, window, owner };
        id
    }

    /// The data of packet `id`, which [`Slab::packet_with`] made.
    #[inline]
    pub fn content(&self, id: PacketId) -> Content {
        let packet = self.get(id);
        let ts_val = self.extra(id).map_or(packet.ts_val, |extra| extra.ts_val);
        let words = [packet.seq, packet.ack, ts_val, packet.ts_ecr];
        Content { words, note: packet.window & (Packet::RESENT - 1) }
    }

    /// Makes a packet from `header` alone; it belongs to no connection.
    pub fn packet_without_segment(&mut self, header: &Header) -> PacketId {
        let id = self.place();
        self.packets[id as usize].0 = Packet { header: *header, owner: NOBODY, ..Packet::default() };
        id
    }

    #[inline(never)]
    fn extra_of(&mut self, segment: &Segment, metadata: Metadata) -> u32 {
        self.insert_extra(Extra {
            ts_val: segment.ts_val,
            ts_ecr: segment.ts_ecr,
            sack_count: segment.sack_count,
            sacks: segment.sacks,
            metadata,
        })
    }

    fn insert_extra(&mut self, extra: Extra) -> u32 {
        match self.free_extras.pop() {
            Some(id) => {
                self.extras[id as usize] = extra;
                id
            }
            None => {
                self.extras.push(extra);
                self.extras.len() as u32 - 1
            }
        }
    }

    /// Reads the segment that packet `id` carries into `segment`.
    #[inline]
    pub fn read_segment(&self, id: PacketId, segment: &mut Segment) {
        let packet = self.get(id);
        segment.seq = packet.seq;
        segment.ack = packet.ack;
        segment.ts_val = packet.ts_val;
        segment.ts_ecr = packet.ts_ecr;
        segment.window = packet.window & (Packet::RESENT - 1);
        segment.len = packet.header.payload;
        segment.flags = Flags(packet.header.tcp_flags);
        segment.options = packet.header.option_words * 4;
        segment.ecn = match packet.header.traffic_class & Header::CE {
            0 => Ecn::NotEct,
            Header::CE => Ecn::Ce,
            _ => Ecn::Ect0,
        };
        segment.retransmission = packet.window & Packet::RESENT != 0;
        segment.sack_count = 0;
        if packet.window & Packet::EXTRA != 0 {
            let extra = &self.extras[packet.ts_val as usize];
            segment.ts_val = extra.ts_val;
            segment.ts_ecr = extra.ts_ecr;
            segment.sack_count = extra.sack_count;
            segment.sacks = extra.sacks;
        }
    }

    fn extra(&self, id: PacketId) -> Option<&Extra> {
        let packet = self.get(id);
        (packet.window & Packet::EXTRA != 0).then(|| &self.extras[packet.ts_val as usize])
    }

    /// The Multipath TCP option of packet `id`.
    pub fn options(&self, id: PacketId) -> Options {
        self.extra(id).map_or(Options::None, |extra| extra.metadata.options)
    }

    /// The address at the destination to which packet `id` goes.
    pub fn address(&self, id: PacketId) -> u8 {
        self.extra(id).map_or(0, |extra| extra.metadata.address)
    }

    /// The links that packet `id` has crossed, if it is followed.
    pub fn way(&mut self, id: PacketId) -> Option<&mut Box<Way>> {
        let packet = &self.packets[id as usize].0;
        let has = packet.window & Packet::EXTRA != 0;
        has.then(|| self.extras[packet.ts_val as usize].metadata.way.as_mut()).flatten()
    }

    /// The telemetry that packet `id` carries.
    pub fn telemetry(&self, id: PacketId) -> Option<&Telemetry> {
        self.extra(id)?.metadata.telemetry.as_deref()
    }

    /// The telemetry that packet `id` carries.
    pub fn telemetry_mut(&mut self, id: PacketId) -> Option<&mut Telemetry> {
        let packet = &self.packets[id as usize].0;
        let has = packet.window & Packet::EXTRA != 0;
        has.then(|| self.extras[packet.ts_val as usize].metadata.telemetry.as_deref_mut()).flatten()
    }

    /// The sequence number of packet `id`.
    pub fn sequence(&self, id: PacketId) -> u32 {
        self.get(id).seq
    }

    /// The time at `now` since the host of packet `id` sent it, if the packet belongs to a connection.
    #[inline]
    pub fn age(&self, id: PacketId, now: Time) -> Duration {
        now.saturating_since(self.sent[id as usize])
    }

    /// Copies packet `id`, for a flood.
    pub fn duplicate(&mut self, id: PacketId) -> PacketId {
        let mut packet = *self.get(id);
        if packet.window & Packet::EXTRA != 0 {
            packet.ts_val = self.insert_extra(self.extras[packet.ts_val as usize].clone());
        }
        let copy = self.place();
        self.packets[copy as usize].0 = packet;
        self.sent[copy as usize] = self.sent[id as usize];
        copy
    }

    /// Removes packet `id`.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        let packet = &self.packets[id as usize].0;
        if packet.window & Packet::EXTRA != 0 {
            self.free_extras.push(packet.ts_val);
            let metadata = &mut self.extras[packet.ts_val as usize].metadata;
            (metadata.way, metadata.telemetry) = (None, None);
        }
        self.free.push(id);
    }

    /// Takes packet `id` out of the slab.
    pub fn take(&mut self, id: PacketId) -> DetachedPacket {
        let (packet, sent) = (*self.get(id), self.sent[id as usize]);
        let extra = self.extra(id).cloned().map(Box::new);
        self.remove(id);
        DetachedPacket { packet, sent, extra }
    }

    /// Puts a packet into the slab.
    pub fn put(&mut self, DetachedPacket { mut packet, sent, extra }: DetachedPacket) -> PacketId {
        if let Some(extra) = extra {
            packet.ts_val = self.insert_extra(*extra);
        }
        let id = self.place();
        self.packets[id as usize].0 = packet;
        self.sent[id as usize] = sent;
        id
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.packets.len() * (size_of::<Slot>() + size_of::<Time>())
            + self.extras.capacity() * size_of::<Extra>()
            + (self.free.capacity() + self.free_extras.capacity()) * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!((size_of::<Packet>(), size_of::<Slot>()), (64, 64));
    }

    #[test]
    fn a_segment_survives_the_way_through_a_packet() {
        let mut slab = Slab::default();
        for sack_count in [0, 3] {
            let segment = Segment {
                seq: 7,
                ack: 9,
                ts_val: 11,
                ts_ecr: 13,
                window: 1 << 29,
                len: 1448,
                retransmission: true,
                sack_count,
                sacks: [(1, 2), (3, 4), (5, 6), (0, 0)],
                ..Segment::default()
            };
            let id = slab.packet_of(Time::from_ps(3), &Header::default(), 5, &segment, Metadata::default());
            let copy = slab.duplicate(id);
            slab.remove(id);
            let mut read = Segment::default();
            slab.read_segment(copy, &mut read);
            assert_eq!(slab.age(copy, Time::from_ps(10)), Duration::from_ps(7));
            assert_eq!((read.seq, read.ack, read.ts_val, read.ts_ecr), (7, 9, 11, 13));
            assert_eq!((read.window, read.len, read.retransmission), (1 << 29, 1448, true));
            assert_eq!(read.sack_count, sack_count);
            assert!(sack_count == 0 || read.sacks == segment.sacks);
            slab.remove(copy);
            assert_eq!(slab.live(), 0);
        }
    }

    #[test]
    fn content_survives_the_way_through_a_packet_followed_or_not() {
        let mut slab = Slab::default();
        let content = Content { words: [1, u32::MAX, 3, 4], note: (1 << 30) - 1 };
        let way = || Some(Box::new(Way { number: 7, links: Vec::new() }));
        let telemetry = Telemetry::with_room(3);
        for (way, told) in [(None, false), (way(), false), (None, true), (way(), true)] {
            let is_followed = way.is_some();
            let told = told.then_some(telemetry);
            let id =
                slab.packet_with(Time::from_ps(3), &Header::default(), 5, content, way, told.map(Box::new));
            assert_eq!(slab.content(id), content);
            let copy = slab.duplicate(id);
            let detached = slab.take(id);
            let id = slab.put(detached);
            for id in [id, copy] {
                assert_eq!((slab.content(id), slab.way(id).is_some()), (content, is_followed));
                assert_eq!(slab.telemetry(id), told.as_ref());
                slab.remove(id);
            }
            assert_eq!(slab.live(), 0);
        }
    }
}
