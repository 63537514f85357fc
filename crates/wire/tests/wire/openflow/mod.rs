//! OpenFlow 1.3: messages that another implementation made, and what holds for all messages.

mod messages;
mod properties;
mod refused;
mod vectors;
