/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Frames to an unknown station: flooded, while a path to it is explored
 * (crates/switching/src/arp_path/).
 */
#pragma once

#include "heard.h"

/* Whether a frame would be flooded because its destination is unknown. */
static __always_inline bool is_to_be_flooded(const struct frame *f)
{
	struct station *station = station_at(f->dst, f->now);

	return settings.floods_unknown && !(station && is_known(station->port, f->now));
}

/* The source's edge explores a path between two stations. */
static __always_inline void look_for(struct frame *f, __u64 from, __u64 to, __u32 id)
{
	__u32 port = attached(from, f->now);

	if (port == NO_PORT)
		return;
	/* Copies that return are late. */
	put_station(f, from, port, LOCKED);
	flood_own(f, PATH_REQUEST, from, to, id);
}

/* Floods a frame to an unknown station: marked to other switches, unmodified to hosts, but not to the port of its
 * source, if that is on this switch. */
static __noinline int flood_unknown(struct __sk_buff *skb, const struct frame *f, __u32 ingress)
{
	__u32 spared = attached(f->src, f->now);
	int copies;

	/* First in the received form, then in the other one. */
	if (f->marked)
		copies = flood(skb, f->now, ingress, TO_FABRIC);
	else
		copies = flood_but(skb, f->now, ingress, spared, TO_HOSTS);
	if (!set_mark(skb, f, !f->marked))
		return drop(f, NO_MEMORY);
	if (f->marked)
		copies += flood_but(skb, f->now, ingress, spared, TO_HOSTS);
	else
		copies += flood(skb, f->now, ingress, TO_FABRIC);
	return flooded(f, copies);
}

/* The destination is unknown. A global function: verified once, separately. */
__noinline int miss(struct __sk_buff *skb, struct frame *f)
{
	bool repairing, is_on, searches;

	if (!f)
		return TC_ACT_SHOT;
	repairing = is_repairing(f->dst, f->now);
	if (repairing && !settings.floods_unknown)
		return drop(f, REPAIRING);
	if (settings.floods_unknown && is_host(f->port, f->now) && !take_bytes(f->port, skb->len, f->now))
		return drop(f, RATE_LIMITED);
	/* A repair started by another sender has notified other switches about its own pair only, not that floods of this
	 * pair start here. Other switches may still expect copies from elsewhere, also if this switch has lost its entry. */
	is_on = settings.floods_unknown && goes_on_unknown(f);
	searches = !(is_on && repairing) && take_token(FLOODS, f->port, f->now);
	if (!is_on && !searches)
		return drop(f, RATE_LIMITED);
	if (settings.floods_unknown)
		note_unknown(f);
	if (searches) {
		if (!repairing)
			start_repair(f->dst, f->now);
		if (attached(f->src, f->now) != NO_PORT)
			look_for(f, f->src, f->dst, draw_search(f->src, f->now));
		else
			flood_own(f, PATH_FAIL, f->dst, f->src, draw());
	}
	if (!settings.floods_unknown)
		return drop(f, NO_ROUTE);
	/* A frame from another switch is flooded back there too: that switch may have sent it the wrong way. */
	return flood_unknown(skb, f, is_host(f->port, f->now) ? f->port : NO_PORT);
}

/* A frame flooded by another switch because the destination is unknown. Nothing is learnt from it: its flood may
 * have started anywhere on the way, and entries towards there could form a loop. */
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
	return set_mark(skb, f, false) ? send(skb, f, port, false) : drop(f, NO_MEMORY);
}
