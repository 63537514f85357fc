/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Hosts that are heard at a port: known while they send, announced where they are new or have moved
 * (crates/switching/src/arp_path.rs).
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
	flood = bpf_map_lookup_elem(&weft_floods, &key);
	return flood && is_late(flood->state, f->port, settings.broadcast_lock, f->now);
}

/* A station is new at a host port, or has moved there: the other switches are told, unless it asks them itself.
 * Where the port may add no station or start no flood at the moment, the station is not learned, and its next frame
 * tries again. What it sends has to come behind the announcement, or a broadcast is a late copy to switches that have
 * seen one from elsewhere lately: the frame comes in again while the announcement is written over this one. Verified
 * once, on its own. */
__noinline int appears(struct __sk_buff *skb, struct frame *f)
{
	struct station *known;
	bool announces;

	if (!f)
		return NO_REASON;
	known = station_at(f->src, f->now);
	announces = settings.announces && (known || !explores(f));
	if (has_come_round(f))
		return LATE_COPY;
	if (!is_within_limit(STATIONS, f->port, f->now) || (announces && !is_within_limit(FLOODS, f->port, f->now)))
		return NO_REASON;
	if (known)
		count_move(f, known->port);
	put_station(f, f->src, f->port, LEARNT);
	if (!announces)
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

/* A frame for a host of this switch has come from another one: its source is not on a port of ours,
 * whoever has sent in its name there. Verified once, on its own. */
__noinline int hear_from_afar(__u64 src, __u32 ingress, __u32 egress, __u64 now)
{
	if (is_host(egress, now) && is_fabric(ingress, now) && attached(src, now) != NO_PORT) {
		bpf_map_delete_elem(&weft_stations, &src);
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
