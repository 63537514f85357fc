//! Linux as an oracle: vectors whose expected behaviour is that of the kernel's packetdrill selftests
//! (`tools/testing/selftests/net/packetdrill` in Linux, `gtests/net/tcp` in packetdrill) or, where they have none, of the
//! named function of `tcp_input.c` (Linux 6.18). The data is Weft's own.

mod hystart;
mod receiver;
mod script;
mod timeouts;
mod undo;
