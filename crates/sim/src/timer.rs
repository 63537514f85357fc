//! [`Timer`]: an event of the queue's heap.

/// An event that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    /// An end of a connection, by its place among its partition's.
    End(u32),
    /// A switch, by its number.
    Switch(u32),
    /// The host of a flow repeats its ARP Request.
    Ask(u32),
    /// A flow that waited for others starts.
    Begin(u32),
    /// An interface of a host has space again for the sources in this line.
    Space(u32),
    /// The source of a flow in parts may send one part more.
    Part(u32),
    /// Receivers may grant credit for the link of this turn of a host.
    Credit(u32),
    /// The next flow starts.
    Start,
    /// The engine's notices are due.
    Notice,
}

const END: u32 = 1 << 31;
const SWITCH: u32 = 1 << 30;
const ASK: u32 = 1 << 29;
const BEGIN: u32 = 1 << 28;
const SPACE: u32 = 1 << 27;
const PART: u32 = 1 << 26;
const CREDIT: u32 = 1 << 25;

impl From<Timer> for u32 {
    #[inline]
    fn from(timer: Timer) -> Self {
        match timer {
            Timer::End(place) => END | place,
            Timer::Switch(number) => SWITCH | number,
            Timer::Ask(flow) => ASK | flow,
            Timer::Begin(flow) => BEGIN | flow,
            Timer::Space(line) => SPACE | line,
            Timer::Part(flow) => PART | flow,
            Timer::Credit(turn) => CREDIT | turn,
            Timer::Start => 0,
            Timer::Notice => 1,
        }
    }
}

impl From<u32> for Timer {
    #[inline]
    fn from(id: u32) -> Self {
        match id {
            id if id & END != 0 => Self::End(id & !END),
            id if id & SWITCH != 0 => Self::Switch(id & !SWITCH),
            id if id & ASK != 0 => Self::Ask(id & !ASK),
            id if id & BEGIN != 0 => Self::Begin(id & !BEGIN),
            id if id & SPACE != 0 => Self::Space(id & !SPACE),
            id if id & PART != 0 => Self::Part(id & !PART),
            id if id & CREDIT != 0 => Self::Credit(id & !CREDIT),
            0 => Self::Start,
            _ => Self::Notice,
        }
    }
}
