/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * ARP-Path: the decisions of crates/switching/src/arp_path.rs, in its order and under its names.
 */
#pragma once

#include "floods.h"
#include "hello.h"
#include "limits.h"
#include "moves.h"
#include "own.h"
#include "stations.h"

/* The port of a station, if that is a host port of this switch; else NO_PORT. */
static __always_inline __u32 attached(__u64 address, __u64 now)
{
	struct station *station = station_at(address, now);

	return station && is_host(station->port, now) ? station->port : NO_PORT;
}

static __always_inline void flood_own(struct frame *f, __u8 kind, __u64 from, __u64 to)
{
	struct own own = { .from = from, .to = to, .id = draw(), .port = NO_PORT };
	struct flood_key key = { .from = from, .to = to, .id = own.id, .kind = kind };

	own.type = kind == PATH_FAIL ? FAIL : FLOW_REQUEST;
	if (note(&key, NO_PORT, settings.lock, f->now) == NO_REASON)
		tell(f, &own);
}

static __always_inline bool explores(const struct frame *f)
{
	return f->kind == ARP_REQUEST && is_group(f->dst);
}

/* Whether the frame is a copy of one to a station that is not known, which a wire between two host ports has
 * brought back. */
static __always_inline bool has_come_round(const struct frame *f)
{
	struct flood_key key = key_of_unknown(f);
	struct flood *flood;

	if (is_group(f->dst))
		return false;
	flood = bpf_map_lookup_elem(&floods, &key);
	return flood && is_late(flood->state, f->port, settings.broadcast_lock, f->now);
}

/* A station is new at a host port, or has moved there: the other switches are told, unless it asks them itself.
 * Where the port has too many of them it remains unknown. What it sends has to come behind that, or a broadcast is a
 * late copy to switches that have seen one from elsewhere lately: the frame comes in again while the announcement is
 * written over this one. Verified once, on its own. */
__noinline int appears(struct __sk_buff *skb, struct frame *f)
{
	struct station *known;
	bool has_moved;

	if (!f)
		return NO_REASON;
	known = station_at(f->src, f->now);
	has_moved = known != NULL;
	if (has_come_round(f))
		return LATE_COPY;
	if (!is_within_limit(STATIONS, f->port, f->now))
		return NO_REASON;
	if (known)
		count_move(f, known->port);
	put_station(f, f->src, f->port, LEARNT);
	if (!settings.announces || (explores(f) && !has_moved) || !is_within_limit(FLOODS, f->port, f->now))
		return NO_REASON;
	reroot(f->src, f->port, f->now);
	flood_own(f, PATH_REQUEST, f->src, f->src);
	if (settings.testing || bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS))
		return NO_REASON;
	return COMES_AGAIN;
}

/* A station is known at its own edge while it sends. */
static __always_inline int hear_host(struct __sk_buff *skb, struct frame *f)
{
	struct station *station = refresh(f->src, f->now);

	return station && station->port == f->port ? NO_REASON : appears(skb, f);
}

/* The frame goes no further for a reason that taking it in has given. */
static __always_inline int refuse(const struct frame *f, int reason)
{
	return reason == COMES_AGAIN ? consume(TC_ACT_SHOT) : drop(f, reason);
}

/* Whether a frame would be flooded since its destination is not known. */
static __always_inline bool is_to_be_flooded(const struct frame *f)
{
	struct station *station = station_at(f->dst, f->now);

	return settings.floods_unknown && !(station && is_known(station->port, f->now));
}

/* A frame for a host of this switch has come from another one: its source is not on a port of ours,
 * whoever has sent in its name there. Verified once, on its own. */
__noinline int hear_from_afar(__u64 src, __u32 ingress, __u32 egress, __u64 now)
{
	if (is_host(egress, now) && is_fabric(ingress, now) && attached(src, now) != NO_PORT) {
		bpf_map_delete_elem(&stations, &src);
		has_left(now);
	}
	return 0;
}

/* Why a frame is not taken from a port, if it is not; the host on a port of its own is heard. */
static __always_inline int takes(struct __sk_buff *skb, struct frame *f)
{
	enum reason refused = refuses(f);

	return refused == NO_REASON && is_host(f->port, f->now) ? hear_host(skb, f) : (int)refused;
}

static __always_inline int pass_on(struct __sk_buff *skb, const struct frame *f)
{
	count_hop(skb, f);
	return flood_on(skb, f, TO_FABRIC);
}

/* The source's edge looks for a path between two stations. */
static __always_inline void look_for(struct frame *f, __u64 from, __u64 to)
{
	__u32 port = attached(from, f->now);

	if (port == NO_PORT)
		return;
	/* Copies that come back are late. */
	put_station(f, from, port, LOCKED);
	flood_own(f, PATH_REQUEST, from, to);
}

/* Floods a frame to a station that is not known: marked to other switches, as its host sent it to hosts; not to
 * the port of its source, if that is one of ours. */
static __noinline int flood_unknown(struct __sk_buff *skb, const struct frame *f, __u32 ingress)
{
	__u32 spared = attached(f->src, f->now);
	int copies;

	/* A frame from a host is not marked, one from a switch may be. */
	if (!f->marked)
		copies = flood_but(skb, f->now, ingress, spared, TO_HOSTS);
	if (!f->marked && !set_mark(skb, f, true))
		return drop(f, NO_MEMORY);
	if (f->marked)
		copies = 0;
	copies += flood(skb, f->now, ingress, TO_FABRIC);
	if (f->marked) {
		if (!set_mark(skb, f, false))
			return drop(f, NO_MEMORY);
		copies += flood_but(skb, f->now, ingress, spared, TO_HOSTS);
	}
	return copies ? forwarded(TC_ACT_SHOT) : drop(f, DEAD_END);
}

/* Nobody here knows the destination. Verified once, on its own. */
__noinline int miss(struct __sk_buff *skb, struct frame *f)
{
	bool repairing;

	if (!f)
		return TC_ACT_SHOT;
	repairing = is_repairing(f->dst, f->now);
	if (repairing && !settings.floods_unknown)
		return drop(f, REPAIRING);
	if (!is_within_limit(FLOODS, f->port, f->now))
		return drop(f, RATE_LIMITED);
	if (!repairing) {
		start_repair(f->dst, f->now);
		if (attached(f->src, f->now) != NO_PORT)
			look_for(f, f->src, f->dst);
		else
			flood_own(f, PATH_FAIL, f->dst, f->src);
	}
	if (!settings.floods_unknown)
		return drop(f, NO_ROUTE);
	note_unknown(f);
	/* One from another switch goes back there too: that switch may have sent it the wrong way. */
	return flood_unknown(skb, f, is_host(f->port, f->now) ? f->port : NO_PORT);
}

/* A frame that another switch floods because it does not know the destination. It teaches nothing: its flood may
 * have started anywhere on the way, and entries turned towards there could close a circle. */
static __noinline int on_marked(struct __sk_buff *skb, const struct frame *f)
{
	__u32 port;
	int reason;

	if (is_group(f->dst) || is_control(f))
		return drop(f, STALE);
	reason = note_copy(f);
	if (reason != NO_REASON)
		return drop(f, reason);
	port = attached(f->dst, f->now);
	if (port == NO_PORT)
		return flood_unknown(skb, f, f->port);
	return set_mark(skb, f, false) ? forwarded(send(skb, port, false)) : drop(f, NO_MEMORY);
}

/* Whether a frame on its way from switch to switch has been here before: it came from here. */
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
		/* A flood and a reply that crossed each other can leave two switches pointing at each
		 * other: what is known here is not true. */
		bpf_map_delete_elem(&stations, &dst);
		return miss(skb, f);
	}
	if (has_returned(f, port)) {
		/* Entries of several floods, of which some copies were lost, can close a circle. */
		bpf_map_delete_elem(&stations, &dst);
		return settings.floods_unknown ? miss(skb, f) : drop(f, RETURNED);
	}
	hear_from_afar(f->src, f->port, port, f->now);
	return forwarded(send(skb, port, f->tells));
}

/* Takes note of a copy of a host's broadcast, or says why it goes no further. The host on a port of its own is
 * heard. */
static __always_inline int admit_of_host(struct __sk_buff *skb, struct frame *f)
{
	bool host = is_host(f->port, f->now);
	int reason;

	if (host && !is_within_limit(FLOODS, f->port, f->now))
		return RATE_LIMITED;
	reason = note_copy(f);
	return reason == NO_REASON && host ? hear_host(skb, f) : reason;
}

static __always_inline int on_request(struct __sk_buff *skb, struct frame *f)
{
	int reason = admit_of_host(skb, f);

	if (reason != NO_REASON)
		return refuse(f, reason);
	if (is_fabric(f->port, f->now))
		put_station(f, f->src, f->port, LOCKED);
	return flood_on(skb, f, TO_ALL);
}

static __always_inline int on_broadcast(struct __sk_buff *skb, struct frame *f)
{
	int reason = admit_of_host(skb, f);

	return reason == NO_REASON ? flood_on(skb, f, TO_ALL) : refuse(f, reason);
}

/* The source of a reply is found, and its destination has been asked for. */
static __always_inline void on_answer(const struct frame *f)
{
	__u64 src = f->src;

	if (is_fabric(f->port, f->now))
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

static __always_inline int on_path_request(struct __sk_buff *skb, struct frame *f)
{
	struct own own = {
		.from = f->dst, .to = f->src, .id = f->id, .type = FLOW_REPLY, .port = f->port,
	};
	int reason = admit(f);

	if (reason != NO_REASON)
		return drop(f, reason);
	put_station(f, f->src, f->port, LOCKED);
	/* The station is new behind that port, or has moved there. */
	if (f->src == f->dst)
		reroot(f->src, f->port, f->now);
	if (f->src == f->dst || attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	confirm_station(f, f->src);
	tell(f, &own);
	return consume(TC_ACT_SHOT);
}

static __always_inline int on_path_fail(struct __sk_buff *skb, struct frame *f)
{
	int reason = admit(f);

	if (reason != NO_REASON)
		return drop(f, reason);
	if (attached(f->dst, f->now) == NO_PORT)
		return pass_on(skb, f);
	look_for(f, f->dst, f->src);
	return consume(TC_ACT_SHOT);
}

/* A frame about the path between two stations, or from a switch that speaks of flows. */
static __always_inline int on_control(struct __sk_buff *skb, struct frame *f)
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

static __noinline int receive(struct __sk_buff *skb, struct frame *f)
{
	int refused;

	if (f->kind == HELLO)
		return on_hello(f);
	if (is_for_machine(f))
		return consume(TC_ACT_OK);
	refused = is_group(f->dst) ? (int)refuses(f) : takes(skb, f);
	if (refused != NO_REASON)
		return refuse(f, refused);
	if (f->malformed != NO_REASON)
		return drop(f, f->malformed);
	if (f->marked)
		return on_marked(skb, f);
	if (is_control(f))
		return on_control(skb, f);
	if (explores(f))
		return on_request(skb, f);
	if (is_group(f->dst))
		return on_broadcast(skb, f);
	if (f->kind == ARP_REPLY)
		on_answer(f);
	return forward(skb, f);
}
