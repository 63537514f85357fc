//! The controller's core and OpenFlow encoding against emulated switches, without sockets or Python in between.

mod joined;
mod smoc;
