//! [`OneWay`]: an end of a connection on which one side sends data and the other answers, or is silent.

use weft_units::Time;

use crate::machine::{Arrival, Machine};
use crate::stats::Stats;

/// The source of a connection.
pub trait Sending {
    /// The parameters of both ends.
    type Config;
    /// The packets that it sends.
    type Data: Default;
    /// The packets that it receives.
    type Answer;

    /// The application writes another message of `bytes`. All messages together have at most
    /// [`crate::Framing::largest_numbered_flow`].
    fn write(&mut self, config: &Self::Config, bytes: u64);

    /// An answer arrives.
    fn receive(&mut self, config: &Self::Config, now: Time, answer: &Self::Answer);

    /// When it may send the next packet; `None` if it has none to send.
    fn sends_at(&mut self, config: &Self::Config) -> Option<Time>;

    /// The next packet, if it may send one.
    fn poll_transmit(&mut self, config: &Self::Config, now: Time) -> Option<Self::Data>;

    /// When [`Sending::on_timeout`] is due; [`Time::MAX`]: never.
    fn next_timeout(&mut self, config: &Self::Config) -> Time;

    /// It may have waited long enough.
    fn on_timeout(&mut self, config: &Self::Config, now: Time);

    /// How far it knows that the destination has everything: see [`Machine::acked`].
    fn acked(&self) -> u64;

    /// The most bytes in flight, if it limits them: see [`Machine::window`].
    fn window(&self, config: &Self::Config) -> Option<u64>;

    /// Whether it has given up.
    fn is_aborted(&self) -> bool {
        false
    }

    /// Its counts.
    fn stats(&self) -> Stats;

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// The destination of a connection.
pub trait Receiving {
    /// The parameters of both ends.
    type Config;
    /// The packets that it receives.
    type Data;
    /// The packets that it sends.
    type Answer;

    /// A packet arrives. Returns the answer, if it is time for one.
    fn receive(
        &mut self,
        config: &Self::Config,
        now: Time,
        data: &Self::Data,
        arrival: Arrival,
    ) -> Option<Self::Answer>;

    /// How far it has everything: see [`Machine::delivered`].
    fn delivered(&self) -> u64;

    /// Bytes that have arrived.
    fn received_bytes(&self, config: &Self::Config) -> u64;

    /// Its counts.
    fn stats(&self) -> Stats;

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// A packet in either direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet<D, A> {
    /// From the source.
    Data(D),
    /// From the destination.
    Answer(A),
}

impl<D: Default, A> Default for Packet<D, A> {
    fn default() -> Self {
        Self::Data(D::default())
    }
}

/// An end of a connection.
#[derive(Clone, Debug)]
pub enum OneWay<S, R: Receiving> {
    /// The source.
    Source(S),
    /// The destination, and the answer that it is to send.
    Destination(R, Option<R::Answer>),
}

impl<S, R> Machine for OneWay<S, R>
where
    S: Sending,
    R: Receiving<Config = S::Config, Data = S::Data, Answer = S::Answer>,
{
    type Config = S::Config;
    type Packet = Packet<S::Data, S::Answer>;

    fn write(&mut self, config: &S::Config, bytes: u64) {
        if let Self::Source(source) = self {
            source.write(config, bytes);
        }
    }

    #[inline]
    fn receive(&mut self, config: &S::Config, now: Time, packet: &Self::Packet, arrival: Arrival) {
        match (self, packet) {
            (Self::Source(source), Packet::Answer(answer)) => source.receive(config, now, answer),
            (Self::Destination(destination, answer), Packet::Data(data)) => {
                *answer = destination.receive(config, now, data, arrival);
            }
            _ => {}
        }
    }

    #[inline]
    fn poll_answer(&mut self, _config: &S::Config, packet: &mut Self::Packet) -> bool {
        let Self::Destination(_, answer) = self else { return false };
        let Some(answer) = answer.take() else { return false };
        *packet = Packet::Answer(answer);
        true
    }

    #[inline]
    fn sends_at(&mut self, config: &S::Config) -> Option<Time> {
        match self {
            Self::Source(source) => source.sends_at(config),
            Self::Destination(..) => None,
        }
    }

    #[inline]
    fn poll_transmit(&mut self, config: &S::Config, now: Time, packet: &mut Self::Packet) -> bool {
        let Self::Source(source) = self else { return false };
        let Some(data) = source.poll_transmit(config, now) else { return false };
        *packet = Packet::Data(data);
        true
    }

    #[inline]
    fn next_timeout(&mut self, config: &S::Config) -> Time {
        match self {
            Self::Source(source) => source.next_timeout(config),
            Self::Destination(..) => Time::MAX,
        }
    }

    fn on_timeout(&mut self, config: &S::Config, now: Time) {
        if let Self::Source(source) = self {
            source.on_timeout(config, now);
        }
    }

    #[inline]
    fn delivered(&self) -> u64 {
        match self {
            Self::Source(_) => 0,
            Self::Destination(destination, _) => destination.delivered(),
        }
    }

    fn window(&self, config: &S::Config) -> Option<u64> {
        match self {
            Self::Source(source) => source.window(config),
            Self::Destination(..) => None,
        }
    }

    #[inline]
    fn acked(&self) -> u64 {
        match self {
            Self::Source(source) => source.acked(),
            Self::Destination(..) => 0,
        }
    }

    fn received_bytes(&self, config: &S::Config) -> u64 {
        match self {
            Self::Source(_) => 0,
            Self::Destination(destination, _) => destination.received_bytes(config),
        }
    }

    #[inline]
    fn is_aborted(&self) -> bool {
        matches!(self, Self::Source(source) if source.is_aborted())
    }

    fn stats(&self) -> Stats {
        match self {
            Self::Source(source) => source.stats(),
            Self::Destination(destination, _) => destination.stats(),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Source(source) => source.heap_bytes(),
            Self::Destination(destination, _) => destination.heap_bytes(),
        }
    }
}
