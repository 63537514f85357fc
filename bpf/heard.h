/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Learning hosts on host ports: known while they send, announced if they are new or have moved
 * (crates/switching/src/arp_path/).
 */
#pragma once

#include "floods.h"
#include "hello.h"
#include "limits.h"
#include "moves.h"
#include "own.h"
#include "stations.h"

/* The port of a station, if it is a host port of this switch; otherwise NO_PORT. */
static __always_inline __u32 attached(__u64 address, __u64 now)
{
	struct station *station = station_at(address, now);

	return station && is_host(station->port, now) ? station->port : NO_PORT;
}

static __always_inline void flood_own(struct frame *f, __u8 kind, __u64 from, __u64 to, __u32 id)
{
	struct own own = { .from = from, .to = to, .id = id, .port = NO_PORT };
	struct flood_key key = { .from = from, .to = to, .id = id, .kind = kind };

	own.type = kind == PATH_FAIL ? FAIL : FLOW_REQUEST;
	if (note(&key, NO_PORT, settings.lock, f->now) == NO_REASON)
		tell(f, &own);
}

static __always_inline bool explores(const struct frame *f)
{
	return f->kind == ARP_REQUEST && is_group(f->dst);
}

/* Whether the frame is a copy of one to an unknown station, returned by a link between two host ports. */
static __always_inline bool has_come_round(const struct frame *f)
{
	struct flood_key key = key_of_unknown(f);
	struct flood *flood;

	if (is_group(f->dst))
		return false;
	flood = bpf_map_lookup_elem(&weft_floods, &key);
	return flood && is_late(flood->state, f->port, settings.broadcast_lock, f->now);
}

/* A station is new on a host port, or has moved there: announces it to the other switches, unless its frame is a
 * request that is flooded anyway. If a rate limit of the port is exceeded, the station is not learnt, and its next
 * frame tries again. Its frame must follow the announcement, or switches that recently saw a broadcast from elsewhere
 * would drop it as a late copy: a clone of the frame is received again while the announcement overwrites this one. A
 * global function: verified once, separately. */
__noinline int announce_station(struct __sk_buff *skb, struct frame *f)
{
	struct station *known;
	bool announces;

	if (!f)
		return NO_REASON;
	known = station_at(f->src, f->now);
	announces = settings.announces && (known || !explores(f));
	if (has_come_round(f))
		return LATE_COPY;
	if (!take_token(STATIONS, f->port, f->now) || (announces && !take_token(FLOODS, f->port, f->now)))
		return NO_REASON;
	if (known)
		count_move(f, known->port);
	put_station(f, f->src, f->port, LEARNT);
	if (!announces)
		return NO_REASON;
	reroot(f->src, f->port, f->now);
	flood_own(f, PATH_REQUEST, f->src, f->src, draw_announced(f->src, f->now));
	if (settings.testing || bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS))
		return NO_REASON;
	return COMES_AGAIN;
}

/* Refreshes the station on a host port, or learns it. */
static __always_inline int hear_host(struct __sk_buff *skb, struct frame *f)
{
	struct station *station = refresh(f->src, f->now);

	return station && station->port == f->port ? NO_REASON : announce_station(skb, f);
}

/* Ends a frame for a reason returned by the functions above. */
static __always_inline int refuse(const struct frame *f, int reason)
{
	return reason == COMES_AGAIN ? consume(TC_ACT_SHOT) : drop(f, reason);
}

/* A frame for a host of this switch arrived from another switch: its source is not on a host port here, even if
 * a host there has sent with its address. A global function: verified once, separately. */
__noinline int hear_from_afar(__u64 src, __u32 ingress, __u32 egress, __u64 now)
{
	if (is_host(egress, now) && is_fabric(ingress, now) && attached(src, now) != NO_PORT) {
		bpf_map_delete_elem(&weft_stations, &src);
		note_departure(now);
	}
	return 0;
}

/* Learns the source of a frame on a host port. Returns the reason to refuse the frame, or NO_REASON. */
static __always_inline int learn_source(struct __sk_buff *skb, struct frame *f)
{
	enum reason refused = refuses(f);

	return refused == NO_REASON && is_host(f->port, f->now) ? hear_host(skb, f) : (int)refused;
}
