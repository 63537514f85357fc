/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Reads messages about groups: IGMP (RFC 1112, 2236, 3376), MLD (RFC 2710, 3810), PIM Hello (RFC 7761).
 */
#pragma once

#include "frame.h"
#include "snooping.h"

#define IGMP 2
#define ICMPV6 58
#define PIM 103
#define PIM_HELLO 0x20 /* version 2, type 0 */

enum igmp { IGMP_QUERY = 0x11, IGMP_REPORT_1, IGMP_REPORT_2 = 0x16, IGMP_REPORT_3 = 0x22 };
enum mld { MLD_QUERY = 130, MLD_REPORT_1, MLD_REPORT_2 = 143 };
enum record { IS_INCLUDE = 1, IS_EXCLUDE, TO_INCLUDE, TO_EXCLUDE, ALLOW_NEW, BLOCK_OLD };

/* The Ethernet address of a group, by the last word of its IP address. */
static __always_inline __u64 group_v4(__be32 address)
{
	return 0x01005e000000ULL | (bpf_ntohl(address) & 0x7fffff);
}

static __always_inline __u64 group_v6(__be32 last)
{
	return 0x333300000000ULL | bpf_ntohl(last);
}

/* Whether a record says that its sender is a member: a source list that includes none means that it left. */
static __always_inline bool is_member(__u8 record, __u16 sources)
{
	return record >= IS_INCLUDE && record < BLOCK_OLD &&
	       (sources || (record != IS_INCLUDE && record != TO_INCLUDE));
}

/* The records of a report, of groups with addresses of `words` words. Beyond what is read, the port gets all groups. A
 * global function: verified once, separately. */
__noinline int hear_records(struct __sk_buff *skb, const struct frame *f, __u32 at, __u32 end, __u32 words)
{
	struct {
		__u8 type, aux;
		__be16 sources;
		__be32 group[4];
	} record;
	__be16 count;
	__u64 group;

	if (!f || bpf_skb_load_bytes(skb, at + 6, &count, sizeof(count)))
		return 0;
	count = bpf_ntohs(count);
	at += 8;
	for (__u32 i = 0; i < MOST_RECORDS && i < count; i++) {
		if (at + 4 + 4 * words > end)
			return 0;
		if (words == 1) {
			if (bpf_skb_load_bytes(skb, at, &record, 8))
				return 0;
			group = group_v4(record.group[0]);
		} else {
			if (bpf_skb_load_bytes(skb, at, &record, sizeof(record)))
				return 0;
			group = group_v6(record.group[3]);
		}
		if (is_member(record.type, record.sources))
			hear_member(group, f->port, f->now);
		at += 4 + 4 * words + 4 * words * bpf_ntohs(record.sources) + 4 * record.aux;
	}
	if (count > MOST_RECORDS)
		hear_router(words == 1 ? FAMILY_V4 : FAMILY_V6, f->port, false, f->now);
	return 0;
}

static __always_inline bool hear_igmp(struct __sk_buff *skb, const struct frame *f, const struct packet *p)
{
	struct {
		__u8 type, code;
		__be16 checksum;
		__be32 group;
	} message;

	if (p->at + sizeof(message) > p->end || bpf_skb_load_bytes(skb, p->at, &message, sizeof(message)))
		return false;
	switch (message.type) {
	case IGMP_QUERY:
		/* From 0.0.0.0 it is a switch's (RFC 4541, 2.1.1). */
		if (p->source[0])
			hear_query(FAMILY_V4, message.group ? group_v4(message.group) : 0, f->port, f->now);
		return false;
	case IGMP_REPORT_1:
	case IGMP_REPORT_2:
		hear_member(group_v4(message.group), f->port, f->now);
		return true;
	case IGMP_REPORT_3:
		hear_records(skb, f, p->at, p->end, 1);
	}
	return false;
}

static __always_inline bool hear_mld(struct __sk_buff *skb, const struct frame *f, const struct packet *p)
{
	struct {
		__u8 type, code;
		__be16 checksum, delay, reserved;
		__be32 group[4];
	} message;

	if (p->hop_limit != 1 || p->at + 8 > p->end || bpf_skb_load_bytes(skb, p->at, &message, 8))
		return false;
	if (message.type == MLD_REPORT_2)
		hear_records(skb, f, p->at, p->end, 4);
	if (message.type != MLD_QUERY && message.type != MLD_REPORT_1)
		return false;
	if (p->at + sizeof(message) > p->end || bpf_skb_load_bytes(skb, p->at, &message, sizeof(message)))
		return false;
	if (message.type == MLD_REPORT_1) {
		hear_member(group_v6(message.group[3]), f->port, f->now);
		return true;
	}
	if (p->source[0])
		hear_query(FAMILY_V6, message.group[0] ? group_v6(message.group[3]) : 0, f->port, f->now);
	return false;
}

static __always_inline void hear_pim(struct __sk_buff *skb, const struct frame *f, const struct packet *p,
				     __u32 family)
{
	__u8 type;

	if (p->at + 4 <= p->end && !bpf_skb_load_bytes(skb, p->at, &type, 1) && type == PIM_HELLO)
		hear_router(family, f->port, false, f->now);
}

/* Reads a message about groups, if the frame, to a group, is one. Returns whether it is a report of one group, which only
 * routers need. A global function: verified once, separately. */
__noinline bool hear_membership(struct __sk_buff *skb, const struct frame *f)
{
	struct packet p = {};

	if (!settings.snoops || !f || f->kind != OTHER)
		return false;
	if (f->ethertype == ETHERTYPE_IPV4) {
		if (!read_ipv4(skb, f->at + 2, &p) || p.fragment)
			return false;
		if (p.protocol == PIM)
			hear_pim(skb, f, &p, FAMILY_V4);
		return p.protocol == IGMP && hear_igmp(skb, f, &p);
	}
	if (f->ethertype != ETHERTYPE_IPV6 || !read_ipv6(skb, f->at + 2, &p) || p.fragment)
		return false;
	if (p.protocol == PIM)
		hear_pim(skb, f, &p, FAMILY_V6);
	return p.protocol == ICMPV6 && hear_mld(skb, f, &p);
}
