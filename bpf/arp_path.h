/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * ARP-Path: the decisions of crates/switching/src/arp_path.rs, in its order and under its names.
 */
#pragma once

#include "floods.h"
#include "hello.h"
#include "own.h"
#include "stations.h"

/* The port of a station, if that is a host port of this switch; else NO_PORT. */
static __always_inline __u32 attached(__u64 address, __u64 now)
{
	struct station *station = station_at(address, now);

	return station && is_host(station->port, now) ? station->port : NO_PORT;
}

/* A station is known at its own edge while it sends; one that sends from elsewhere has moved. */
static __always_inline void hear_host(const struct frame *f)
{
	struct station *station;

	if (!is_host(f->port, f->now) || is_group(f->src))
		return;
	station = refresh(f->src, f->now);
	if (!station || station->port != f->port)
		put_station(f, f->src, f->port, LEARNT);
}

/* A frame for a host of this switch has come from another one: its source is not on a port of ours,
 * whoever has sent in its name there. Verified once, on its own. */
__noinline int hear_from_afar(__u64 src, __u32 ingress, __u32 egress, __u64 now)
{
	if (is_host(egress, now) && is_fabric(ingress, now) && attached(src, now) != NO_PORT)
		bpf_map_delete_elem(&stations, &src);
	return 0;
}

/* Why a host's frame is not taken from a port, if it is not; the host on a port of its own is heard. */
static __always_inline enum reason takes(const struct frame *f)
{
	enum reason refused = refuses(f);

	if (refused == NO_REASON)
		hear_host(f);
	return refused;
}

static __always_inline int pass_on(struct __sk_buff *skb, const struct frame *f)
{
	count_hop(skb, f);
	return flood_on(skb, f, false);
}

static __always_inline void flood_own(struct __sk_buff *skb, const struct frame *f, __u8 kind, __u64 from,
				      __u64 to)
{
	struct own own = { .from = from, .to = to, .id = draw(), .port = NO_PORT };
	struct flood_key key = { .from = from, .to = to, .id = own.id, .kind = kind };

	own.type = kind == PATH_FAIL ? FAIL : FLOW_REQUEST;
	if (note(&key, NO_PORT, settings.lock, f->now) == NO_REASON)
		send_own(skb, f, &own);
}

/* The source's edge looks for a path between two stations. */
static __always_inline void look_for(struct __sk_buff *skb, const struct frame *f, __u64 from, __u64 to)
{
	__u32 port = attached(from, f->now);

	if (port == NO_PORT)
		return;
	/* Copies that come back are late. */
	put_station(f, from, port, LOCKED);
	flood_own(skb, f, PATH_REQUEST, from, to);
}

/* Nobody here knows the destination. */
static __noinline int miss(struct __sk_buff *skb, const struct frame *f)
{
	if (is_repairing(f->dst, f->now))
		return drop(f, REPAIRING);
	start_repair(f->dst, f->now);
	if (attached(f->src, f->now) != NO_PORT)
		look_for(skb, f, f->src, f->dst);
	else
		flood_own(skb, f, PATH_FAIL, f->dst, f->src);
	return drop(f, NO_ROUTE);
}

/* Whether a frame on its way from switch to switch has been here before: it came from here. */
static __always_inline bool has_returned(const struct frame *f, __u32 egress)
{
	return is_fabric(f->port, f->now) && is_fabric(egress, f->now) && attached(f->src, f->now) != NO_PORT;
}

/* A frame to one station. */
static __always_inline int forward(struct __sk_buff *skb, const struct frame *f)
{
	struct station *station = refresh(f->dst, f->now);
	__u64 dst = f->dst;
	__u32 port;

	if (!station || !is_known(station->port, f->now))
		return miss(skb, f);
	port = station->port;
	if (port == f->port && is_host(port, f->now))
		return drop(f, SAME_PORT);
	if (port == f->port) {
		/* A flood and a reply that crossed each other can leave two switches pointing at each
		 * other: what is known here is not true. */
		bpf_map_delete_elem(&stations, &dst);
		return miss(skb, f);
	}
	if (has_returned(f, port)) {
		/* Entries of several floods, of which some copies were lost, can close a circle. */
		bpf_map_delete_elem(&stations, &dst);
		return drop(f, RETURNED);
	}
	hear_from_afar(f->src, f->port, port, f->now);
	return forwarded(send(skb, port, f->own.type != 0));
}

static __always_inline int on_request(struct __sk_buff *skb, const struct frame *f)
{
	int reason = note_copy(f);

	if (reason != NO_REASON)
		return drop(f, reason);
	put_station(f, f->src, f->port, LOCKED);
	return flood_on(skb, f, true);
}

/* The source of a reply is found, and its destination has been asked for. */
static __always_inline void on_answer(const struct frame *f)
{
	__u64 src = f->src;

	put_station(f, src, f->port, LEARNT);
	bpf_map_delete_elem(&repairs, &src);
	confirm_station(f, f->dst);
}

static __always_inline int on_path_reply(struct __sk_buff *skb, const struct frame *f)
{
	struct station *station;

	on_answer(f);
	station = station_at(f->dst, f->now);
	if (!station)
		return drop(f, STALE);
	if (is_host(station->port, f->now))
		return consume(TC_ACT_SHOT);
	if (station->port == f->port || !is_fabric(station->port, f->now))
		return drop(f, STALE);
	count_hop(skb, f);
	return forwarded(send(skb, station->port, false));
}

static __always_inline int on_path_request(struct __sk_buff *skb, const struct frame *f)
{
	struct own own = {
		.from = f->dst, .to = f->src, .id = f->id, .type = FLOW_REPLY, .port = f->port,
	};
	int reason = admit(f);

	if (reason != NO_REASON)
		return drop(f, reason);
	put_station(f, f->src, f->port, LOCKED);
	if (attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	confirm_station(f, f->src);
	send_own(skb, f, &own);
	return consume(TC_ACT_SHOT);
}

static __always_inline int on_path_fail(struct __sk_buff *skb, const struct frame *f)
{
	int reason = admit(f);

	if (reason != NO_REASON)
		return drop(f, reason);
	if (attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	look_for(skb, f, f->dst, f->src);
	return consume(TC_ACT_SHOT);
}

/* A frame about the path between two stations, or from a switch that speaks of flows. */
static __always_inline int on_control(struct __sk_buff *skb, const struct frame *f)
{
	if (is_about_flow(f))
		return drop(f, STALE);
	switch (f->kind) {
	case PATH_REPLY:
		return on_path_reply(skb, f);
	case PATH_REQUEST:
		return on_path_request(skb, f);
	default:
		return on_path_fail(skb, f);
	}
}

static __noinline int receive(struct __sk_buff *skb, const struct frame *f)
{
	bool explores = f->kind == ARP_REQUEST && is_group(f->dst);
	enum reason refused;

	if (f->kind == HELLO)
		return on_hello(f);
	if (is_for_machine(f))
		return consume(TC_ACT_OK);
	refused = explores ? refuses(f) : takes(f);
	if (refused != NO_REASON)
		return drop(f, refused);
	if (f->malformed != NO_REASON)
		return drop(f, f->malformed);
	if (is_control(f))
		return on_control(skb, f);
	if (explores)
		return on_request(skb, f);
	if (is_group(f->dst))
		return on_broadcast(skb, f);
	if (f->kind == ARP_REPLY)
		on_answer(f);
	return forward(skb, f);
}
