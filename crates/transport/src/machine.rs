//! [`Machine`]: one end of a connection, whatever its protocol.

use weft_units::Time;

use crate::mptcp::stats::Stats as MultipathStats;
use crate::stats::Stats;

/// Changes that switches made to a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrival {
    /// It has a congestion mark.
    pub is_marked: bool,
    /// Its payload was cut off.
    pub is_trimmed: bool,
}

/// One end of a connection. Packets and times go in; packets and a deadline come out.
///
/// After each call that may change something, call [`Machine::poll_answer`] until it returns false, then
/// [`Machine::poll_transmit`] as far as the interface allows; then schedule [`Machine::next_timeout`].
pub trait Machine {
    /// The parameters, the same at both ends and in all calls.
    type Config;
    /// The packets that the ends exchange.
    type Packet: Default;

    /// The application of the source writes another message of `bytes`.
    fn write(&mut self, config: &Self::Config, bytes: u64);

    /// The application has written everything.
    fn close(&mut self) {}

    /// The application of the destination has read all that was delivered.
    fn read_all(&mut self) {}

    /// A packet arrives.
    fn receive(&mut self, config: &Self::Config, now: Time, packet: &Self::Packet, arrival: Arrival);

    /// Writes the next packet that does not wait for the interface; returns whether there is one.
    #[inline(always)]
    fn poll_answer(&mut self, _config: &Self::Config, _packet: &mut Self::Packet) -> bool {
        false
    }

    /// When it may send the next packet; `None` if it has none to send.
    #[inline(always)]
    fn sends_at(&mut self, _config: &Self::Config) -> Option<Time> {
        Some(Time::ZERO)
    }

    /// Writes the next packet to send; returns whether there is one.
    fn poll_transmit(&mut self, config: &Self::Config, now: Time, packet: &mut Self::Packet) -> bool;

    /// When to call [`Machine::on_timeout`]; [`Time::MAX`]: never.
    fn next_timeout(&mut self, config: &Self::Config) -> Time;

    /// A timeout may be over. An early call changes nothing.
    fn on_timeout(&mut self, config: &Self::Config, now: Time);

    /// How far the destination has everything, in bytes or, if the protocol numbers packets, in packets.
    fn delivered(&self) -> u64;

    /// How far the source knows that the destination has everything; without acknowledgements, how far it has sent.
    fn acked(&self) -> u64;

    /// Bytes that the destination has received.
    fn received_bytes(&self, _config: &Self::Config) -> u64 {
        self.delivered()
    }

    /// The congestion window of the source in bytes, if the protocol has one and the source can send data; of Multipath
    /// TCP, the sum over the open subflows.
    fn window(&self, config: &Self::Config) -> Option<u64>;

    /// Whether this end has closed the connection, if the protocol closes connections.
    #[inline(always)]
    fn is_closed(&self) -> bool {
        false
    }

    /// Whether this end has given up.
    #[inline(always)]
    fn is_aborted(&self) -> bool {
        false
    }

    /// Its counts.
    fn stats(&self) -> Stats;

    /// The counts of Multipath TCP, if it is that.
    fn multipath_stats(&self) -> Option<MultipathStats> {
        None
    }

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// The methods of a [`Machine`] that a TCP connection has by the same name.
macro_rules! tcp_methods {
    () => {
        fn write(&mut self, _config: &Config, bytes: u64) {
            self.write(bytes);
        }

        fn close(&mut self) {
            self.close();
        }

        fn read_all(&mut self) {
            self.read_all();
        }

        #[inline(always)]
        fn next_timeout(&mut self, _config: &Config) -> Time {
            Self::next_timeout(self)
        }

        fn on_timeout(&mut self, config: &Config, now: Time) {
            if Self::next_timeout(self) <= now {
                self.on_timeout(config, now);
            }
        }

        #[inline(always)]
        fn delivered(&self) -> u64 {
            self.delivered()
        }

        #[inline(always)]
        fn acked(&self) -> u64 {
            self.acked()
        }

        #[inline(always)]
        fn is_closed(&self) -> bool {
            self.is_closed()
        }

        #[inline(always)]
        fn is_aborted(&self) -> bool {
            self.is_aborted()
        }

        fn heap_bytes(&self) -> usize {
            self.heap_bytes()
        }
    };
}

pub(crate) use tcp_methods;
