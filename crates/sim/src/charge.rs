//! [`Charge`]: the accounts in which a packet counts while it waits at a port.

/// The accounts in which a waiting packet counts, in 8 bytes: packets that wait are many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    link: u32,
    queue: u8,
    has_ingress: bool,
    /// Whether it counts in the switch's shared buffer.
    pub shared: bool,
}

impl Charge {
    /// No account.
    pub const NOTHING: Self = Self::new(None, false);

    /// The account of a link with flow control and the packet's queue there, if any, and the switch's buffer if it is
    /// `shared`.
    pub const fn new(ingress: Option<(u32, u8)>, shared: bool) -> Self {
        let (link, queue) = match ingress {
            Some(account) => account,
            None => (0, 0),
        };
        Self { link, queue, has_ingress: ingress.is_some(), shared }
    }

    /// The link with flow control over which the packet came, and its queue there.
    #[inline]
    pub fn ingress(self) -> Option<(u32, u8)> {
        self.has_ingress.then_some((self.link, self.queue))
    }
}
