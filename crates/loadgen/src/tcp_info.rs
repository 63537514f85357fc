//! [`TcpInfo`]: the kernel's counters of a connection (`TCP_INFO`, tcp(7)).
//!
//! `struct tcp_info` of include/uapi/linux/tcp.h only grows at its end, and the kernel returns its
//! length, so fields are read by offset; fields that an older kernel does not have are `None`.

use std::io;
use std::os::fd::AsRawFd;

/// Larger than the structure of any current kernel.
const ROOM: usize = 512;

/// Offsets of fields, each with the Linux version that added it.
mod offset {
    /// `tcpi_total_retrans`, 2.6.
    pub const TOTAL_RETRANS: usize = 100;
    /// `tcpi_data_segs_in`, 4.6.
    pub const DATA_SEGS_IN: usize = 152;
    /// `tcpi_data_segs_out`, 4.6.
    pub const DATA_SEGS_OUT: usize = 156;
    /// `tcpi_delivered_ce`, 4.18.
    pub const DELIVERED_CE: usize = 196;
    /// `tcpi_rcv_ooopack`, 5.4.
    pub const RCV_OOOPACK: usize = 224;
    /// `tcpi_total_rto`, 6.7.
    pub const TOTAL_RTO: usize = 240;
}

/// The kernel's counters of a connection; `None` where the kernel does not have one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpInfo {
    /// Retransmitted segments, including SYNs.
    pub total_retrans: Option<u64>,
    /// Data segments received.
    pub data_segs_in: Option<u64>,
    /// Data segments sent, including retransmissions.
    pub data_segs_out: Option<u64>,
    /// Segments that the receiver reported as marked.
    pub delivered_ce: Option<u64>,
    /// Data segments that arrived while an earlier one was missing.
    pub rcv_ooopack: Option<u64>,
    /// Retransmission timeouts, including those of SYNs.
    pub total_rto: Option<u64>,
}

impl TcpInfo {
    /// Reads the counters of a socket, connected or closed.
    ///
    /// # Errors
    /// It is not a TCP socket.
    pub fn of(socket: &impl AsRawFd) -> io::Result<Self> {
        let mut bytes = [0_u8; ROOM];
        let mut length = ROOM as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, which is the size of `bytes`, and both live
        // until the call returns.
        let answer = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self::parse(bytes.get(..length as usize).unwrap_or(&bytes)))
    }

    fn parse(bytes: &[u8]) -> Self {
        let long = |at: usize| {
            let field = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u64::from(u32::from_ne_bytes(field)))
        };
        let short = |at: usize| {
            let field = bytes.get(at..at + 2)?.try_into().ok()?;
            Some(u64::from(u16::from_ne_bytes(field)))
        };
        Self {
            total_retrans: long(offset::TOTAL_RETRANS),
            data_segs_in: long(offset::DATA_SEGS_IN),
            data_segs_out: long(offset::DATA_SEGS_OUT),
            delivered_ce: long(offset::DELIVERED_CE),
            rcv_ooopack: long(offset::RCV_OOOPACK),
            total_rto: short(offset::TOTAL_RTO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_an_older_kernel_does_not_have_is_none() {
        let info = TcpInfo::parse(&[1; 232]);
        assert_eq!((info.rcv_ooopack, info.total_rto), (Some(0x0101_0101), None));
        assert_eq!(TcpInfo::parse(&[1; 242]).total_rto, Some(0x0101));
    }

    #[test]
    fn the_kernel_counts_segments_where_they_are_looked_for() {
        use std::io::{Read, Write};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(b"one").unwrap();
        receiver.read_exact(&mut [0; 3]).unwrap();
        let (out, into) = (TcpInfo::of(&sender).unwrap(), TcpInfo::of(&receiver).unwrap());
        assert_eq!((out.data_segs_out, into.data_segs_in), (Some(1), Some(1)));
        assert_eq!((out.total_retrans, out.delivered_ce, into.rcv_ooopack), (Some(0), Some(0), Some(0)));
    }
}
