//! OpenFlow 1.3: messages made by another implementation, and general properties of messages.

mod messages;
mod properties;
mod refused;
mod vectors;
