/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Sends copies of the current frame out of many ports, in random order; last-resort ports come last.
 */
#pragma once

#include "send.h"
#include "snooping.h"

/* The ports of a flood. In a map, since the verifier would explore every possible value of a count on the
 * stack. */
struct order {
	__u64 listeners; /* of a frame to a group: the host ports that want it, by bits */
	__u32 count;
	__u32 too_long; /* copies that were too long for their links */
	__u8 ports[MAX_PORTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct order);
} weft_order SEC(".maps");

/* Inserts a port at a random place, whose former port moves to the end (Fisher-Yates). */
static __always_inline void choose(struct order *order, __u8 number)
{
	__u32 last = order->count++ % MAX_PORTS, at = last;

	if (!settings.fixed_order)
		at = ((__u64)bpf_get_prandom_u32() * (last + 1) >> 32) % MAX_PORTS;
	order->ports[last] = order->ports[at];
	order->ports[at] = number;
}

enum { TO_FABRIC = 1, TO_HOSTS = 2, TO_LISTENERS = 4 };

/* The number of copies that were sent, and of those that were too long for their links; sums up. */
#define COPIES(sent, too_long) ((sent) | (too_long) << 16)
#define SENT(copies) ((copies) & 0xffff)

/* Floods the current frame out of all allowed fabric ports, all host ports or those that want it, except its ingress port and
 * the port `spared` (NO_PORT: none). In random order, which decides the race in an idle fabric. Returns the
 * copies, as `COPIES` has them. */
__noinline int flood_but(struct __sk_buff *skb, __u64 now, __u32 ingress, __u32 spared, __u32 to)
{
	struct port *from = port_at(ingress), *port;
	bool falls = settings.valley_free && from && from->way == WAY_UP, fabric, host;
	/* A bit mask: the verifier would explore both outcomes of a comparison to the end. */
	__u64 skipped = (ingress < MAX_PORTS ? 1ULL << ingress : 0) | (spared < MAX_PORTS ? 1ULL << spared : 0),
	      last = 0, wanted;
	struct order *chosen;
	__u32 zero = 0;

	chosen = bpf_map_lookup_elem(&weft_order, &zero);
	if (!chosen)
		return 0;
	chosen->count = 0;
	chosen->too_long = 0;
	/* A bit for each host port. */
	wanted = to & TO_HOSTS ? EVERYONE : to & TO_LISTENERS ? chosen->listeners : 0;
	for (__u32 number = 0; number < MAX_PORTS; number++) {
		port = port_at(number);
		if (!port || !port->up || skipped >> number & 1)
			continue;
		fabric = to & TO_FABRIC & !is_past(port->neighbour_until, now) & (!falls | (port->way == WAY_DOWN));
		host = (wanted >> number & 1) & is_past(port->host_from, now);
		if (fabric || host)
			choose(chosen, number);
		last |= (__u64)(port->last_resort & 1) << number;
	}
	for (__u32 i = 0; i < MAX_PORTS && i < chosen->count; i++)
		if (!(last >> chosen->ports[i] & 1) && !send_copy(skb, chosen->ports[i]))
			chosen->too_long++;
	/* Last-resort neighbours get their copies last, so that they lose a race that others can win. */
	for (__u32 i = 0; last && i < MAX_PORTS && i < chosen->count; i++)
		if ((last >> chosen->ports[i] & 1) && !send_copy(skb, chosen->ports[i]))
			chosen->too_long++;
	return COPIES(chosen->count - chosen->too_long, chosen->too_long);
}

static __always_inline int flood(struct __sk_buff *skb, __u64 now, __u32 ingress, __u32 to)
{
	return flood_but(skb, now, ingress, NO_PORT, to);
}

/* Counts a frame that was flooded, or dropped if no copy was sent. */
static __always_inline int flooded(const struct frame *f, int copies)
{
	if (SENT(copies))
		return forwarded(TC_ACT_SHOT);
	return drop(f, copies ? TOO_LONG : DEAD_END);
}

/* Floods a frame to a group out of all allowed fabric ports and the host ports with these bits. */
static __always_inline int flood_group(struct __sk_buff *skb, __u64 now, __u32 ingress, __u64 listeners)
{
	__u32 zero = 0;
	struct order *order = bpf_map_lookup_elem(&weft_order, &zero);

	if (order)
		order->listeners = listeners;
	return flood(skb, now, ingress, TO_FABRIC | TO_LISTENERS);
}

/* Sets or clears the mark of an unknown destination on the current frame. At ingress, a checksum computed by an
 * interface does not cover the Ethernet header, so none has to be corrected. */
static __always_inline bool set_mark(struct __sk_buff *skb, const struct frame *f, bool mark)
{
	__u8 first = f->src >> 40 | mark;

	return !bpf_skb_store_bytes(skb, 6, &first, sizeof(first), 0);
}
