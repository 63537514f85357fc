//! When a [`Sender`] asks for an answer: with each packet that is sent again, with the last packet that its window allows, three
//! times in the largest window if that is small, and, if its window shrinks after packets have left, with a request (a control packet of Ultra Ethernet 1.0: Request for ACK).
//!
//! Otherwise both ends could wait for each other until packets are overdue: the sender for an answer that lets it go on, the
//! receiver for more bytes. The largest window is 1.5 bandwidth-delay products: a sender without an answer for more than a third
//! of it has to wait.

use super::config::Config;
use super::receiver::Data;
use super::{Sender, State};

impl Sender {
    /// Whether packet `number`, which was just sent, asks for an answer: none may follow that would lead to one.
    #[inline]
    pub(super) fn asks(&mut self, config: &Config, number: u32, is_again: bool) -> bool {
        let asks = is_again
            || self.end_of_earlier(number).is_some()
            || self.window.is_third(config, number)
            || self.due(config).is_none();
        if !asks && let Some(sent) = self.sent(number) {
            sent.asks = false;
            self.unasked += 1;
        }
        asks
    }

    /// Whether a request for answers is to be sent, if no packet is due: some in flight did not ask, and the receiver does not
    /// answer each packet. The last new packet asks for all before it, but not if some of them are missing.
    #[inline]
    pub(super) fn wants_answers(&self, config: &Config) -> bool {
        let is_quiet = self.unasked > 0 && config.ack_bytes.0 > u64::from(config.mtu);
        let may_ask = config.answer_requests && is_quiet;
        may_ask && (self.missing().is_some() || self.sent.back().is_some_and(|last| !last.asks))
    }

    /// A request for an answer to each packet in flight, on the path of the last packet.
    #[cold]
    pub(super) fn request_answers(&mut self) -> Option<Data> {
        let in_flight = self.sent.iter_mut().filter(|sent| sent.state == State::InFlight);
        in_flight.for_each(|sent| sent.asks = true);
        self.unasked = 0;
        let (number, entropy) = (self.next().checked_sub(1)?, self.sent.back()?.entropy);
        Some(Data { number, entropy, asks: true, is_request: true, ..Data::default() })
    }
}
