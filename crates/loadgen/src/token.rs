//! [`Token`]: identifies the source of an event; the poller's number.

/// The source of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// SIGINT or SIGTERM.
    Signal,
    /// A listener, by index.
    Listener(u32),
    /// The sending end of a flow, by the flow's index.
    Sender(u32),
    /// The receiving end.
    Receiver(u32),
}

impl From<Token> for u64 {
    fn from(token: Token) -> Self {
        let (kind, at) = match token {
            Token::Signal => (1, 0),
            Token::Listener(at) => (2, at),
            Token::Sender(at) => (3, at),
            Token::Receiver(at) => (4, at),
        };
        kind << 32 | Self::from(at)
    }
}

impl From<u64> for Token {
    fn from(number: u64) -> Self {
        let at = number as u32;
        match number >> 32 {
            1 => Self::Signal,
            2 => Self::Listener(at),
            3 => Self::Sender(at),
            _ => Self::Receiver(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_went() {
        for token in [Token::Signal, Token::Listener(7), Token::Sender(u32::MAX), Token::Receiver(0)] {
            assert_eq!(Token::from(u64::from(token)), token);
        }
    }
}
