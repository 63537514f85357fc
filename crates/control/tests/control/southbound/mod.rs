//! What a controller decides, as its switches are told it in OpenFlow.

mod messages;
mod scripted;
mod transactions;
