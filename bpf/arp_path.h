/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * ARP-Path: the decisions of crates/switching/src/arp_path/, with the same order and names.
 */
#pragma once

#include "membership.h"
#include "unknown.h"

static __always_inline int pass_on(struct __sk_buff *skb, const struct frame *f)
{
	count_hop(skb, f);
	return flood_on(skb, f, TO_FABRIC);
}

/* Whether a frame between two fabric ports has been here before: its source is on this switch. */
static __always_inline bool has_returned(const struct frame *f, __u32 egress)
{
	return is_fabric(f->port, f->now) && is_fabric(egress, f->now) && attached(f->src, f->now) != NO_PORT;
}

/* A frame to one station. */
static __always_inline int forward(struct __sk_buff *skb, struct frame *f)
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
		/* A flood and a reply that cross can leave two switches pointing at each other: the entry
		 * is wrong. */
		bpf_map_delete_elem(&weft_stations, &dst);
		return miss(skb, f);
	}
	if (has_returned(f, port)) {
		/* Entries of several floods can form a loop if some copies were lost. */
		bpf_map_delete_elem(&weft_stations, &dst);
		return settings.floods_unknown ? miss(skb, f) : drop(f, RETURNED);
	}
	hear_from_afar(f->src, f->port, port, f->now);
	return send(skb, f, port, f->tells);
}

/* Whether a host port may flood a frame to a group. The copies of a known station, or of a flood that goes on, need no
 * more than a look at the port that they arrive on. */
static __noinline bool admits_broadcast(struct __sk_buff *skb, const struct frame *f)
{
	struct station *station;

	if (!take_bytes(f->port, skb->len, f->now))
		return false;
	station = station_at(f->src, f->now);
	return (station && station->port == f->port) || goes_on(f) || take_token(FLOODS, f->port, f->now);
}

/* Records a copy of a broadcast, or returns why it is dropped. Learns the source on a host port. */
static __always_inline int admit_of_host(struct __sk_buff *skb, struct frame *f)
{
	bool host = is_host(f->port, f->now);
	int reason;

	if (host && !admits_broadcast(skb, f))
		return RATE_LIMITED;
	reason = note_copy(f);
	return reason == NO_REASON && host ? hear_host(skb, f) : reason;
}

/* A frame to a group. If it requests a station, its source is at the port of its first copy. */
static __always_inline int on_broadcast(struct __sk_buff *skb, struct frame *f)
{
	bool reports = hear_membership(skb, f);
	int reason = admit_of_host(skb, f);

	if (reason != NO_REASON)
		return refuse(f, reason);
	if (f->kind == ARP_REQUEST && is_fabric(f->port, f->now))
		put_station(f, f->src, f->port, LOCKED);
	return flooded(f, flood_group(skb, f->now, f->port, listeners(f->dst, reports, f->now)));
}

/* The source of a reply is found, and confirms the requester, its destination. */
static __always_inline void on_answer(const struct frame *f)
{
	__u64 src = f->src;

	if (is_fabric(f->port, f->now) && attached(src, f->now) == NO_PORT)
		put_station(f, src, f->port, LEARNT);
	bpf_map_delete_elem(&weft_repairs, &src);
	confirm_station(f, f->dst);
}

static __always_inline int on_path_reply(struct __sk_buff *skb, const struct frame *f)
{
	struct station *station;

	/* Wrong entries for its destination led it back here. */
	if (attached(f->src, f->now) != NO_PORT)
		return drop(f, RETURNED);
	on_answer(f);
	station = station_at(f->dst, f->now);
	if (!station)
		return drop(f, STALE);
	if (is_host(station->port, f->now))
		return consume(TC_ACT_SHOT);
	if (station->port == f->port || !is_fabric(station->port, f->now))
		return drop(f, STALE);
	count_hop(skb, f);
	return send(skb, f, station->port, false);
}

static __always_inline int on_path_request(struct __sk_buff *skb, struct frame *f)
{
	struct own own = {
		.from = f->dst, .to = f->src, .id = f->id, .type = FLOW_REPLY, .port = f->port,
	};

	if (note_location(f))
		put_station(f, f->src, f->port, LOCKED);
	/* An announcement: the station is new behind that port, or has moved there. */
	if (f->src == f->dst)
		reroot(f->src, f->port, f->now);
	else if (!answers_fail(f))
		/* The switch that sent a Path Fail keeps flooding frames of this pair until they have a path. */
		reroot_unknown(f->src, f->dst, f->port, f->now);
	if (f->src == f->dst || attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	confirm_station(f, f->src);
	tell(f, &own);
	return consume(TC_ACT_SHOT);
}

static __always_inline int on_path_fail(struct __sk_buff *skb, struct frame *f)
{
	reroot_unknown(f->dst, f->src, f->port, f->now);
	if (attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	look_for(f, f->dst, f->src, f->id);
	return consume(TC_ACT_SHOT);
}

/* A frame about the path between two stations, or from a switch in a mode with flows. */
static __always_inline int on_control(struct __sk_buff *skb, struct frame *f)
{
	int reason;

	if (is_about_flow(f))
		return drop(f, STALE);
	if (f->kind == PATH_REPLY)
		return on_path_reply(skb, f);
	reason = admit(f);
	if (reason != NO_REASON)
		return drop(f, reason);
	return f->kind == PATH_REQUEST ? on_path_request(skb, f) : on_path_fail(skb, f);
}

static __noinline int receive(struct __sk_buff *skb, struct frame *f)
{
	int refused;

	if (f->kind == HELLO)
		return on_hello(f);
	if (is_for_machine(f))
		return consume(TC_ACT_OK);
	refused = is_group(f->dst) ? (int)refuses(f) : learn_source(skb, f);
	if (refused != NO_REASON)
		return refuse(f, refused);
	if (f->malformed != NO_REASON)
		return drop(f, f->malformed);
	if (f->marked)
		return on_marked(skb, f);
	if (is_control(f))
		return on_control(skb, f);
	if (is_group(f->dst))
		return on_broadcast(skb, f);
	if (f->kind == ARP_REPLY)
		on_answer(f);
	return forward(skb, f);
}
