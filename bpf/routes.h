/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Forwarding by routes, modes ecmp and spray: the next hops of each station, which the daemon writes
 * (crates/switching/src/routed.rs). ARP-Path handles stations without a route, and frames to groups.
 */
#pragma once

#include "arp_path.h"
#include "flow_hash.h"
#include "router.h"

struct route {
	__u32 count;
	__u8 ports[MAX_PORTS]; /* in their order; several times: a greater share */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address */
	__type(value, struct route);
} weft_routes SEC(".maps");

/* Preference of next hops: first hosts and healthy links, then last resorts over which a neighbour's frames still arrive
 * (ports.h), then silent neighbours with a carrier, which avoid dropping the frame. */
#define LASTS 3

static __always_inline __u32 how_last(__u32 number, __u64 now)
{
	struct port *port = port_at(number);

	if (!port)
		return LASTS;
	if (is_known(number, now))
		return port->last_resort & 1;
	return port->up & port->last_resort ? 2 : LASTS;
}

/* One of the usable next hops to a station, by 32 uniform bits (`pick` of crates/switching/src/hash.rs);
 * NO_PORT if there is none. */
static __noinline __u32 next_hop(const struct frame *f, __u32 random)
{
	__u64 dst = f->dst;
	struct route *route = bpf_map_lookup_elem(&weft_routes, &dst);
	struct order *working;
	__u32 zero = 0, at;

	working = bpf_map_lookup_elem(&weft_order, &zero);
	if (!route || !working)
		return NO_PORT;
	working->count = 0;
	for (__u32 last = 0; last < LASTS && !working->count; last++)
		for (__u32 i = 0; i < MAX_PORTS && i < route->count; i++)
			if (how_last(route->ports[i], f->now) == last)
				working->ports[working->count++ % MAX_PORTS] = route->ports[i];
	if (!working->count)
		return NO_PORT;
	at = (__u64)random * working->count >> 32;
	return working->ports[at % MAX_PORTS];
}

/* Whether the frame's destination has a route. Everything else uses the default forwarding. */
static __always_inline bool is_routed(const struct frame *f)
{
	__u64 dst = f->dst;

	return !is_control(f) && !f->marked && !is_group(f->dst) && bpf_map_lookup_elem(&weft_routes, &dst);
}

static __always_inline int route(struct __sk_buff *skb, const struct frame *f, __u32 random)
{
	__u32 port = next_hop(f, random);

	if (port == NO_PORT)
		return drop(f, NO_ROUTE);
	return port == f->port ? drop(f, SAME_PORT) : send(skb, f, port, f->tells);
}

/* Receives a frame in the modes with routes: sends it to a next hop chosen by its flow's hash or, with `sprays`, drawn
 * for each frame. */
static __always_inline int receive_routed(struct __sk_buff *skb, const bool sprays)
{
	struct frame *f = take_in(skb);
	int refused;

	if (!f)
		return TC_ACT_SHOT;
	if (settings.has_router && !is_control(f))
		switch (route_message(skb, f)) {
		case IS_PASSED:
			return consume(TC_ACT_OK);
		case IS_CONSUMED:
			return consume(TC_ACT_SHOT);
		case IS_REFUSED:
			return drop(f, UNTRUSTED);
		case IS_LIMITED:
			return drop(f, RATE_LIMITED);
		}
	if (!is_routed(f))
		return then_tell(skb, f, receive(skb, f));
	refused = learn_source(skb, f);
	if (refused != NO_REASON)
		return then_tell(skb, f, refuse(f, refused));
	return then_tell(skb, f, route(skb, f, sprays ? draw() : mix64(flow_hash(skb, f) ^ settings.hash_key) >> 32));
}
