//! The controller's core and the bytes of OpenFlow, with emulated switches and without a socket or Python between:
//! what is found wrong here is wrong in one of the two.

mod joined;
mod smoc;
