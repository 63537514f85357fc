/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * TCP-Path when a path breaks, or is old (crates/switching/src/recovery.rs). Both sides of the break notify
 * the ends that they still reach; the edge that explored the flow explores again. The frame that triggers it
 * is sent first, then overwritten by the notifications. The daemon recovers idle flows
 * (crates/switchd/src/recovery.rs).
 */
#pragma once

#include "arp_path.h"
#include "paths.h"

/* Records a flood about a flow, started here. */
static __always_inline bool note_own(const struct flow *flow, __u8 kind, __u32 id, __u64 now)
{
	struct flood_key key = {
		.from = flow->host >> 16, .to = flow->peer >> 16, .id = id, .kind = kind,
		.sport = flow->host, .dport = flow->peer,
	};

	return note(&key, NO_PORT, settings.lock, now) == NO_REASON;
}

/* Queues a frame about the flow from `flow->host` to its peer, to be sent after the current frame. */
static __always_inline void tell_of_flow(struct frame *f, const struct flow *flow, __u8 type, __u32 id, __u16 port)
{
	struct own own = {
		.from = flow->host >> 16, .to = flow->peer >> 16, .sport = flow->host, .dport = flow->peer,
		.id = id, .type = type, .port = port,
	};

	tell(f, &own);
	if (type == FAIL)
		trace_flow(f, FAILED, flow, id, port);
}

/* Whether a flow's other end is elsewhere, and no exploration is in progress. */
static __always_inline bool may_recover(const struct flow *flow, __u64 now)
{
	struct path *path = path_at(flow, now);

	return attached(flow->peer >> 16, now) == NO_PORT && !(path && path->class == PATH_LOCKED);
}

/* Explores a path for the flow of `flow->host`, which is on the host port `port`. */
static __noinline int look_for_path(struct frame *f, const struct flow *flow, __u32 port)
{
	__u32 id = draw();

	if (!note_own(flow, RECOVERY_REQUEST, id, f->now))
		return 0;
	trace_flow(f, RECOVERING, flow, id, port);
	lock_path(f, flow, port, id);
	tell_of_flow(f, flow, FLOW_REQUEST, id, NO_PORT);
	return 0;
}

static __always_inline void recover(struct frame *f, const struct flow *flow, __u32 port)
{
	if (may_recover(flow, f->now))
		look_for_path(f, flow, port);
}

/* Searches for a path because of a host's frame, within its port's exploration rate. */
static __noinline int recover_for_host(struct frame *f)
{
	struct flow flow = to_source(f);

	if (may_recover(&flow, f->now) && take_token(EXPLORATIONS, f->port, f->now))
		look_for_path(f, &flow, f->port);
	return 0;
}

/* The entry of `flow` leads nowhere: notifies the other end's edge. */
static __noinline int break_path(struct frame *f, const struct flow *flow)
{
	struct flow back = reversed(flow);
	struct path *path = path_at(flow, f->now), *other = path_at(&back, f->now);
	__u32 id = path ? path->id : 0, port = other ? other->port : NO_PORT;
	bool initiator = other && other->initiator;

	remove_path(flow);
	remove_path(&back);
	if (is_fabric(port, f->now))
		tell_of_flow(f, flow, FAIL, id, port);
	else if (initiator && is_host(port, f->now))
		recover(f, &back, port);
	return 0;
}

/* At the edge of the flow's source: explores again once the path is old. */
static __always_inline void refresh_path(struct frame *f, const struct flow *back)
{
	struct path *path = path_at(back, f->now);

	if (path && path->initiator && path->port == f->port && path->class == PATH_CONFIRMED &&
	    is_host(f->port, f->now) &&
	    (__u64)((__u32)(f->now / 1000000) - path->made) * 1000000 >= settings.refresh_after)
		recover_for_host(f);
}

/* Minimum age of an entry that a Path Fail without an exploration id may erase, in milliseconds: such a frame comes
 * from a switch without an entry, and may be older than a newly found path. */
#define UNNAMED_AGE 1000

/* Whether a Path Fail is about the path of an entry; its exploration is 0 if its sender knew none. */
static __always_inline bool is_named(const struct frame *f, const struct path *path)
{
	return path->id == f->id || (!f->id && (__u32)(f->now / 1000000) - path->made >= UNNAMED_AGE);
}

/* Path Fail: the source cannot be reached in the direction it came from. */
static __noinline int on_flow_fail(struct __sk_buff *skb, struct frame *f)
{
	struct flow broken = to_source(f), reached = to_destination(f);
	struct path *path = path_at(&broken, f->now);
	bool initiator;
	__u32 port;

	if (!path || path->port != f->port || !is_named(f, path))
		return drop(f, STALE);
	remove_path(&broken);
	path = path_at(&reached, f->now);
	/* A newer exploration's entry uses an intact path. */
	if (!path || !is_named(f, path))
		return consume(TC_ACT_SHOT);
	port = path->port;
	initiator = path->initiator;
	remove_path(&reached);
	if (is_fabric(port, f->now) && port != f->port) {
		count_hop(skb, f);
		return send(skb, f, port, false);
	}
	if (initiator && is_host(port, f->now))
		recover(f, &reached, port);
	return consume(TC_ACT_SHOT);
}
