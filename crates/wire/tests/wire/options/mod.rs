//! TCP options, mainly those of Multipath TCP: compared with a second implementation, the kernel and
//! tshark, and their general properties.

mod captures;
mod notation;
mod properties;
mod tshark;
mod vectors;
