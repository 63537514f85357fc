/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * TCP-Path: the decisions of crates/switching/src/tcp_path.rs, with the same order and names.
 * Everything that does not belong to a flow is handled by ARP-Path.
 */
#pragma once

#include "recovery.h"
#include "wrap.h"

/* A segment of a flow without an entry. */
static __noinline int on_miss(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_destination(f);
	bool fabric = is_fabric(f->port, f->now);
	int action;

	if (settings.recovers && !fabric)
		recover_for_host(f);
	action = forward(skb, f);
	/* The entry was evicted here, and the default forwarding does not use this switch: notify the
	 * switch that still sends the flow here. */
	if (fabric && action == TC_ACT_SHOT)
		tell_of_flow(f, &flow, FAIL, 0, f->port);
	return action;
}

static __always_inline void close_path(const struct flow *flow, __u64 now)
{
	struct path *path = path_at(flow, now);

	if (path)
		reclass(flow, path, PATH_CLOSING, now);
}

/* Whether the station of a flow whose entry leads to the host port `port` has moved away. */
static __always_inline bool has_moved_from(const struct frame *f, __u32 port)
{
	struct station *station;

	if (f->now >= left_until || !is_host(port, f->now))
		return false;
	station = station_at(f->dst, f->now);
	return station && station->port != port;
}

/* Any segment except a host's SYN or SYN+ACK. */
static __noinline int on_data(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_destination(f), back = to_source(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port;

	if (!path)
		return on_miss(skb, f);
	path->expiry = f->now + path_life(path->class);
	port = path->port;
	if (!is_known(port, f->now)) {
		break_path(f, &flow);
		return settings.detours ? forward(skb, f) : drop(f, LINK_DOWN);
	}
	if (port == f->port)
		return forward(skb, f);
	if (has_moved_from(f, port)) {
		break_path(f, &flow);
		return forward(skb, f);
	}
	if (has_returned(f, port)) {
		remove_path(&flow);
		return drop(f, RETURNED);
	}
	if (f->tcp_flags & (FIN | RST)) {
		close_path(&flow, f->now);
		close_path(&back, f->now);
	} else if (settings.refresh_after) {
		refresh_path(f, &back);
	}
	return send(skb, f, port, f->tells);
}

/* A SYN from a host of this switch. */
static __noinline int on_syn(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_source(f);
	struct path *path;

	/* No path is explored to a station on a port of this switch. A frame to an unknown station is flooded
	 * unwrapped: it reaches the station even if the station's own switch has no entry for it. */
	if (attached(f->dst, f->now) != NO_PORT || is_to_be_flooded(f) || !fits_wrapped(skb))
		return forward(skb, f);
	path = path_at(&flow, f->now);
	if (path && path->id == f->id && path->port == f->port) {
		/* Retransmitted, on an intact path. */
		if (path->class != PATH_LOCKED)
			return on_data(skb, f);
		/* Retransmitted without a reply: perhaps no switch knows the destination. Every other
		 * retransmission uses the default forwarding. */
		if (path->explored) {
			path->expiry = f->now + settings.lock;
			path->explored = 0;
			return forward(skb, f);
		}
	}
	if (!take_token(EXPLORATIONS, f->port, f->now) || !note_own(&flow, PATH_REQUEST, f->id, f->now))
		return forward(skb, f);
	lock_path(f, &flow, f->port, f->id);
	trace_frame(f, EXPLORED, f->port);
	return wrap(skb, f, REQUEST, f->id) ? flood_on(skb, f, TO_FABRIC) : drop(f, NO_MEMORY);
}

/* A SYN+ACK from a host of this switch. */
static __noinline int on_syn_ack(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_destination(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port, id;

	if (!path || !is_fabric(path->port, f->now) || !fits_wrapped(skb))
		return forward(skb, f);
	port = path->port;
	id = path->id;
	confirm(f, &flow, f->port, id);
	return wrap(skb, f, REPLY, id) ? send(skb, f, port, f->tells) : drop(f, NO_MEMORY);
}

static __always_inline int deliver(struct __sk_buff *skb, struct frame *f, __u32 port)
{
	trace_frame(f, DELIVERED, port);
	return unwrap(skb, f) ? send(skb, f, port, false) : drop(f, NO_MEMORY);
}

/* A Path Request or a Recovery Request from another switch. */
static __noinline int on_flow_request(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_source(f), back = to_destination(f);
	int reason = admit(f);
	__u32 port;

	if (reason != NO_REASON)
		return drop(f, reason);
	lock_path(f, &flow, f->port, f->id);
	port = attached(f->dst, f->now);
	if (port == NO_PORT)
		return pass_on(skb, f);
	hear_from_afar(f->src, f->port, port, f->now);
	if (f->kind == PATH_REQUEST)
		return deliver(skb, f, port);
	confirm(f, &flow, port, f->id);
	tell_of_flow(f, &back, FLOW_REPLY, f->id, f->port);
	return consume(TC_ACT_SHOT);
}

/* A Path Reply or a Recovery Reply from another switch. */
static __noinline int on_flow_reply(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_destination(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port = path && path->id == f->id ? path->port : NO_PORT;
	bool wraps = f->kind == PATH_REPLY;

	if (port == f->port)
		return drop(f, SAME_PORT);
	if (is_known(port, f->now)) {
		confirm(f, &flow, f->port, f->id);
		if (is_fabric(port, f->now)) {
			count_hop(skb, f);
			return send(skb, f, port, false);
		}
		return wraps ? deliver(skb, f, port) : consume(TC_ACT_SHOT);
	}
	/* The path is gone, or another exploration has replaced it: the wrapped segment is still delivered. */
	if (!wraps)
		return drop(f, STALE);
	return unwrap(skb, f) ? forward(skb, f) : drop(f, NO_MEMORY);
}

/* A TCP segment. */
static __always_inline int on_tcp(struct __sk_buff *skb, struct frame *f)
{
	int refused = learn_source(skb, f);

	if (refused != NO_REASON)
		return refuse(f, refused);
	if (!is_fabric(f->port, f->now)) {
		switch (f->tcp_flags & (SYN | ACK | RST)) {
		case SYN:
			return on_syn(skb, f);
		case SYN | ACK:
			return on_syn_ack(skb, f);
		}
	}
	return on_data(skb, f);
}

/* Anything that is not a TCP segment. */
static __always_inline int on_other(struct __sk_buff *skb, struct frame *f)
{
	if (f->kind == HELLO || !is_control(f) || f->marked || !is_about_flow(f) || f->malformed != NO_REASON ||
	    refuses(f) != NO_REASON)
		return receive(skb, f);
	if (f->kind == PATH_REQUEST || f->kind == RECOVERY_REQUEST)
		return on_flow_request(skb, f);
	if (f->kind == PATH_REPLY || f->kind == RECOVERY_REPLY)
		return on_flow_reply(skb, f);
	return on_flow_fail(skb, f);
}
