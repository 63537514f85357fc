//! TCP options, those of Multipath TCP above all: against a second implementation, against what the kernel
//! sends, against tshark, and what holds for all of them.

mod captures;
mod notation;
mod properties;
mod tshark;
mod vectors;
