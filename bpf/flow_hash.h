/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The hash of a flow, as in crates/switching/src/hash.rs. A station is identified by the last four bytes of
 * its address, which are the host's number in the simulator, so the same flow has the same hash there.
 */
#pragma once

#include "frame.h"

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
static __always_inline __u64 mix64(__u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* TCP and UDP by addresses, ports and protocol, anything else and fragments by addresses; an IPv6 host can
 * select another path by the flow label (RFC 6438). `p` is all zeros unless the frame is an IP packet. */
static __noinline __u32 packet_hash(struct __sk_buff *skb, const struct frame *f, const struct packet *p)
{
	__u64 stations = f->src << 32 | (__u32)f->dst, flow = 0;
	__be16 ports[2] ALIGNED;

	if ((p->protocol == 6 || p->protocol == 17) && !p->fragment && p->at + 8 <= p->end &&
	    load(skb, p->at, ports, sizeof(ports)))
		flow = (__u64)bpf_ntohs(ports[0]) << 24 | bpf_ntohs(ports[1]) << 8 | p->protocol;
	return mix64(mix64(stations) ^ flow) >> 32 ^ p->label;
}

static __always_inline __u32 flow_hash(struct __sk_buff *skb, const struct frame *f)
{
	struct packet p = {};

	if (!(f->ethertype == ETHERTYPE_IPV6 && read_ipv6(skb, f->at + 2, &p)) &&
	    !(f->ethertype == ETHERTYPE_IPV4 && read_ipv4(skb, f->at + 2, &p)))
		p = (struct packet){};
	return packet_hash(skb, f, &p);
}
