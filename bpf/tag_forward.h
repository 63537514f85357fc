/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Tagged frames: forwarded by the numbers of their tag, without a lookup in the flow table
 * (crates/switching/src/tag_forward/switch.rs).
 */
#pragma once

#include "steer.h"

/* The contents of a tag. */
struct steering {
	__u32 up, down;
	__be16 inner; /* EtherType after the tag */
	__u8 queue;
};

/* Reads the tag of a frame with the EtherType of tags; returns the reason if it is invalid. */
static __always_inline enum reason read_tag(struct __sk_buff *skb, struct steering *steering)
{
	struct {
		__be16 bits[3], inner;
	} tag ALIGNED;
	__u64 bits;

	if (!load(skb, ADDRESSES_LEN + 2, &tag, sizeof(tag)))
		return SHORT;
	bits = (__u64)bpf_ntohs(tag.bits[0]) << 32 | (__u32)bpf_ntohs(tag.bits[1]) << 16 |
	       bpf_ntohs(tag.bits[2]);
	steering->inner = tag.inner;
	steering->queue = bits >> 45;
	steering->up = bits >> settings.down_bits & (1ULL << (45 - settings.down_bits)) - 1;
	steering->down = bits & (1ULL << settings.down_bits) - 1;
	if (!steering->up && !steering->down)
		return MISSING;
	return tag.inner == bpf_htons(settings.tag_type) ? REPEATED : NO_REASON;
}

/* The gate of f(g, d) (section III-C). If the tag has both numbers, UP is used for a frame from an edge switch,
 * otherwise DOWN (section III-D). */
static __always_inline const struct gate *output(const struct gates *known, __u8 from,
						 const struct steering *steering)
{
	enum direction direction = !steering->down || (steering->up && from == ASS) ? UP : DOWN;
	__u32 number = direction == UP ? steering->up : steering->down;
	__u32 divisor = known->divisors[direction], rest;
	const struct gate *gate;

	if (!divisor)
		return NULL;
	rest = number % divisor;
	if (rest && number + (divisor - rest) < number)
		return NULL; /* beyond 32 bits */
	gate = gate_at(known, rest ? number + (divisor - rest) : number);
	return gate && gate->direction == direction ? gate : NULL;
}

static __always_inline int receive_tagged(struct __sk_buff *skb, const struct frame *f)
{
	__u32 table = current_table(CURRENT_GATES);
	const struct gates *known = bpf_map_lookup_elem(&weft_gates, &table);
	__u8 role = known ? role_at(known, f->port) : NO_GATE;
	struct steering steering = {};
	const struct gate *gate;
	enum reason refused;

	if (!known || role == NO_GATE)
		return drop(f, UNKNOWN_PORT);
	if (pops(role)) {
		/* A host must not bypass the rules. */
		COUNT_TAG(tags_of_hosts);
		return drop(f, UNTRUSTED);
	}
	refused = read_tag(skb, &steering);
	if (refused != NO_REASON)
		return drop(f, refused);
	gate = output(known, role, &steering);
	if (!gate)
		return drop(f, NO_ROUTE);
	refused = refuses_to_leave(f->port, gate->port);
	if (refused != NO_REASON)
		return drop(f, refused);
	COUNT_TAG(forwarded);
	if (pops(role_at(known, gate->port))) {
		COUNT_TAG(popped);
		if (!pop_tag(skb, steering.inner))
			return drop(f, NO_MEMORY);
	}
	put_into_queue(skb, steering.queue);
	return send(skb, f, gate->port, false);
}

/* Whether a frame is tagged; a tag after a VLAN tag does not count. */
static __always_inline bool is_tagged(const struct __sk_buff *skb, const struct frame *f)
{
	return f->ethertype == settings.tag_type && f->at == ADDRESSES_LEN && !skb->vlan_present;
}
