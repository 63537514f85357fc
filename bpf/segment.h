/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Parses the TCP segment in a frame, for modes with flows. Fragments, truncated headers, and segments without
 * ports or to a group belong to no flow.
 */
#pragma once

#include "frame.h"

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define ACK 0x10

static __noinline int read_segment(struct __sk_buff *skb, struct frame *f)
{
	struct packet p = {};
	struct {
		__be16 sport, dport;
		__be32 sequence, acknowledgement;
		__u8 offset, flags;
		__u8 rest[6];
	} tcp ALIGNED;

	if (f->kind != OTHER || is_group(f->dst))
		return 0;
	if (!(f->ethertype == ETHERTYPE_IPV4 && read_ipv4(skb, f->at + 2, &p)) &&
	    !(f->ethertype == ETHERTYPE_IPV6 && read_ipv6(skb, f->at + 2, &p)))
		return 0;
	if (p.protocol != 6 || p.fragment || p.at + sizeof(tcp) > p.end ||
	    !load(skb, p.at, &tcp, sizeof(tcp)) || tcp.offset >> 4 < 5 ||
	    p.at + (tcp.offset >> 4) * 4 > p.end || (!tcp.sport && !tcp.dport))
		return 0;
	f->kind = TCP;
	f->sport = bpf_ntohs(tcp.sport);
	f->dport = bpf_ntohs(tcp.dport);
	f->id = bpf_ntohl(tcp.sequence);
	f->tcp_flags = tcp.flags;
	f->traffic_class = p.traffic_class;
	f->payload = p.end - p.at - (tcp.offset >> 4) * 4;
	return 0;
}
