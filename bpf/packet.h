/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The headers of IP packets.
 */
#pragma once

#include "load.h"

/* A parsed IP packet. */
struct packet {
	__u32 at, end; /* where its payload begins and ends */
	__u32 label; /* flow label, IPv6 */
	__be32 source[4], destination[4]; /* IPv4: only the first word */
	__u8 protocol;
	__u8 traffic_class;
	__u8 hop_limit;
	bool fragment;
};

static __always_inline bool is_extension(__u8 protocol)
{
	return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 || protocol == 60;
}

struct ipv6_header {
	__u8 version, label[3];
	__be16 length;
	__u8 next, hop_limit;
	__be32 source[4], destination[4];
};

/* The IPv6 header and up to six extension headers. */
static __always_inline bool read_ipv6(struct __sk_buff *skb, __u32 at, struct packet *p)
{
	struct ipv6_header ip ALIGNED;
	__u8 ext[8];
	__u16 place;
	__u32 len;

	if (!load(skb, at, &ip, sizeof(ip)) || ip.version >> 4 != 6)
		return false;
	p->at = at + sizeof(ip);
	p->end = skb->len;
	len = bpf_ntohs(ip.length);
	if (len && p->at + len < p->end)
		p->end = p->at + len;
	p->label = (ip.label[0] & 15) << 16 | ip.label[1] << 8 | ip.label[2];
	p->traffic_class = ip.version << 4 | ip.label[0] >> 4;
	p->protocol = ip.next;
	p->hop_limit = ip.hop_limit;
	__builtin_memcpy(p->source, ip.source, sizeof(ip.source));
	__builtin_memcpy(p->destination, ip.destination, sizeof(ip.destination));
	p->fragment = false;
	for (int i = 0; i < 6 && is_extension(p->protocol); i++) {
		if (p->at + sizeof(ext) > p->end || bpf_skb_load_bytes(skb, p->at, ext, sizeof(ext)))
			return false;
		len = p->protocol == 44 ? 8 : p->protocol == 51 ? (ext[1] + 2) * 4 : (ext[1] + 1) * 8;
		if (p->at + len > p->end)
			return false;
		place = p->protocol == 44 ? ext[2] << 8 | ext[3] : 0;
		p->protocol = ext[0];
		p->at += len;
		/* RFC 6946: without offset and more-fragments flag it is a whole packet. */
		p->fragment |= (place & 0xfff9) != 0;
		if (place & 0xfff8)
			return true; /* not the first fragment: no further header */
	}
	return !is_extension(p->protocol);
}

static __always_inline bool read_ipv4(struct __sk_buff *skb, __u32 at, struct packet *p)
{
	struct {
		__u8 version, class;
		__be16 length, id, place;
		__u8 ttl, protocol;
		__be16 checksum;
		__be32 source, destination;
	} ip ALIGNED;
	__u32 header, total;

	if (!load(skb, at, &ip, sizeof(ip)) || ip.version >> 4 != 4)
		return false;
	header = (ip.version & 15) * 4;
	total = bpf_ntohs(ip.length);
	if (header < sizeof(ip) || (total && total < header))
		return false;
	p->at = at + header;
	p->end = total && at + total < skb->len ? at + total : skb->len;
	p->protocol = ip.protocol;
	p->traffic_class = ip.class;
	p->source[0] = ip.source;
	p->destination[0] = ip.destination;
	p->fragment = ip.place & bpf_htons(0x3fff);
	return p->at <= p->end;
}
