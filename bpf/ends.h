/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Source and destination of a frame, as matched by the rules of a flow table (`addresses_of` in crates/switchd):
 * the addresses of its IP packet, sender and target of ARP, source and target of a Neighbour Solicitation.
 */
#pragma once

#include "frame.h"

struct ends {
	struct packet packet; /* with these addresses; for ARP everything else is zero */
	__u32 bytes;          /* of the packet, by its header */
	bool is_v6;
};

static __always_inline bool read_arp_ends(struct __sk_buff *skb, __u32 at, struct ends *ends)
{
	struct {
		__be16 hardware, protocol, lengths, operation;
		__be16 sender[3], source[2], target[3], destination[2];
	} arp ALIGNED;

	if (!load(skb, at, &arp, sizeof(arp)) || arp.hardware != bpf_htons(1) ||
	    arp.protocol != bpf_htons(ETHERTYPE_IPV4) || arp.lengths != bpf_htons(0x0604) ||
	    (arp.operation != bpf_htons(1) && arp.operation != bpf_htons(2)))
		return false;
	__builtin_memcpy(ends->packet.source, arp.source, sizeof(arp.source));
	__builtin_memcpy(ends->packet.destination, arp.destination, sizeof(arp.destination));
	ends->bytes = sizeof(arp);
	return true;
}

/* A Neighbour Solicitation (RFC 4861, section 7.1) is for its target, whatever group it is sent to. */
static __always_inline void read_solicited(struct __sk_buff *skb, struct packet *p)
{
	struct {
		__u8 type, code, rest[6];
		__be32 target[4];
	} message ALIGNED;

	if (p->protocol == 58 && !p->fragment && p->hop_limit == 255 && p->at + sizeof(message) <= p->end &&
	    load(skb, p->at, &message, sizeof(message)) && message.type == 135 && !message.code)
		__builtin_memcpy(p->destination, message.target, sizeof(message.target));
}

/* Reads source and destination; false if there are none. */
static __noinline bool read_ends(struct __sk_buff *skb, const struct frame *f, struct ends *ends)
{
	struct packet *p = &ends->packet;
	__u32 at = f->at + 2;

	ends->is_v6 = f->ethertype == ETHERTYPE_IPV6;
	if (f->ethertype == ETHERTYPE_ARP)
		return read_arp_ends(skb, at, ends);
	if (ends->is_v6 ? !read_ipv6(skb, at, p) :
			  f->ethertype != ETHERTYPE_IPV4 || !read_ipv4(skb, at, p))
		return false;
	ends->bytes = p->end - at;
	if (ends->is_v6)
		read_solicited(skb, p);
	return true;
}
