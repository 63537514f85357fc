//! [`Reception`]: what a switch says in a Hello about the Hello messages of the neighbour to which it sends it.

use crate::header::Header;

/// What the sender of a Hello receives from the other end of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reception {
    /// The port has not been up for a hold time, and no Hello has arrived.
    #[default]
    Unknown,
    /// A Hello arrived within the hold time.
    Heard,
    /// No Hello arrived within the hold time: frames from the other end are lost.
    Nothing,
}

impl Reception {
    /// Reads it from a Hello.
    pub const fn of(hello: &Header) -> Self {
        match hello.overlay[0] {
            1 => Self::Heard,
            2 => Self::Nothing,
            _ => Self::Unknown,
        }
    }

    /// Writes it to a Hello.
    pub const fn write(self, hello: &mut Header) {
        hello.overlay[0] = self as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_says_what_was_written() {
        let mut hello = Header::default();
        assert_eq!(Reception::of(&hello), Reception::Unknown);
        for reception in [Reception::Heard, Reception::Nothing, Reception::Unknown] {
            reception.write(&mut hello);
            assert_eq!(Reception::of(&hello), reception);
        }
    }
}
