//! A controller's decisions as OpenFlow messages.

mod messages;
mod scripted;
mod transactions;
