/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * TCP-Path: the decisions of crates/switching/src/tcp_path.rs and recovery.rs, in their order and under
 * their names. Everything that is no flow's is ARP-Path's.
 */
#pragma once

#include "arp_path.h"
#include "paths.h"
#include "wrap.h"

/* Takes note of a flood about a flow that starts here. */
static __always_inline bool note_own(const struct flow *flow, __u8 kind, __u32 id, __u64 now)
{
	struct flood_key key = {
		.from = flow->host >> 16, .to = flow->peer >> 16, .id = id, .kind = kind,
		.sport = flow->host, .dport = flow->peer,
	};

	return note(&key, NO_PORT, settings.lock, now) == NO_REASON;
}

/* Has a frame about the flow from `flow->host` to its peer written over the one at hand, when that is sent. */
static __always_inline void tell(struct frame *f, const struct flow *flow, __u8 type, __u32 id, __u16 port)
{
	f->own.from = flow->host >> 16;
	f->own.to = flow->peer >> 16;
	f->own.sport = flow->host;
	f->own.dport = flow->peer;
	f->own.id = id;
	f->own.type = type;
	f->own.port = port;
	if (type == FAIL)
		trace_flow(f, FAILED, flow, id, port);
}

/* Whether a flow's other end is elsewhere, and nobody looks for a path to it yet. */
static __always_inline bool may_recover(const struct flow *flow, __u64 now)
{
	struct path *path = path_at(flow, now);

	return attached(flow->peer >> 16, now) == NO_PORT && !(path && path->class == PATH_LOCKED);
}

/* Looks for a path for the flow of `flow->host`, which is on the host port `port`. */
static __noinline int look_for_path(struct frame *f, const struct flow *flow, __u32 port)
{
	__u32 id = draw();

	if (!note_own(flow, RECOVERY_REQUEST, id, f->now))
		return 0;
	trace_flow(f, RECOVERING, flow, id, port);
	lock_path(f, flow, port, id);
	tell(f, flow, FLOW_REQUEST, id, NO_PORT);
	return 0;
}

static __always_inline void recover(struct frame *f, const struct flow *flow, __u32 port)
{
	if (may_recover(flow, f->now))
		look_for_path(f, flow, port);
}

/* The same where a host's frames are the cause: no more often than its port may explore. */
static __noinline int recover_for_host(struct frame *f)
{
	struct flow flow = to_source(f);

	if (may_recover(&flow, f->now) && may_explore(f->port, f->now))
		look_for_path(f, &flow, f->port);
	return 0;
}

/* The entry of `flow` leads nowhere: tells the other end's edge. */
static __noinline int break_path(struct frame *f, const struct flow *flow)
{
	struct flow back = reversed(flow);
	struct path *path = path_at(flow, f->now), *other = path_at(&back, f->now);
	__u32 id = path ? path->id : 0, port = other ? other->port : NO_PORT;
	bool initiator = other && other->initiator;

	remove_path(flow);
	remove_path(&back);
	if (is_fabric(port, f->now))
		tell(f, flow, FAIL, id, port);
	else if (initiator && is_host(port, f->now))
		recover(f, &back, port);
	return 0;
}

/* A segment of a flow without an entry. */
static __noinline int on_miss(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_destination(f);
	bool fabric = is_fabric(f->port, f->now);
	int action;

	if (settings.recovers && !fabric)
		recover_for_host(f);
	action = forward(skb, f);
	/* The entry was evicted here, and the default forwarding does not come this way: whoever still
	 * sends the flow here is told not to. */
	if (fabric && action == TC_ACT_SHOT)
		tell(f, &flow, FAIL, 0, f->port);
	return action;
}

/* At the edge of the flow's source: looks for a better path once the one it has is old. */
static __always_inline void refresh_path(struct frame *f, const struct flow *back)
{
	struct path *path = path_at(back, f->now);

	if (path && path->initiator && path->port == f->port && path->class == PATH_CONFIRMED &&
	    is_host(f->port, f->now) &&
	    (__u64)((__u32)(f->now / 1000000) - path->made) * 1000000 >= settings.refresh_after)
		recover_for_host(f);
}

static __always_inline void close_path(const struct flow *flow, __u64 now)
{
	struct path *path = path_at(flow, now);

	if (path)
		reclass(flow, path, PATH_CLOSING, now);
}

/* Any segment that opens nothing. */
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
	return forwarded(send(skb, port, f->own.type != 0));
}

/* A SYN from a host of this switch. */
static __noinline int on_syn(struct __sk_buff *skb, struct frame *f)
{
	struct flow flow = to_source(f);
	struct path *path;

	if (attached(f->dst, f->now) != NO_PORT || !fits_wrapped(skb))
		return forward(skb, f);
	path = path_at(&flow, f->now);
	if (path && path->id == f->id && path->port == f->port) {
		/* Sent again, on a path that stands. */
		if (path->class != PATH_LOCKED)
			return on_data(skb, f);
		/* Sent again, since nothing came back: perhaps no switch knows the destination. The
		 * default forwarding finds out, every other time. */
		if (path->explored) {
			path->expiry = f->now + settings.lock;
			path->explored = 0;
			return forward(skb, f);
		}
	}
	if (!may_explore(f->port, f->now) || !note_own(&flow, PATH_REQUEST, f->id, f->now))
		return forward(skb, f);
	lock_path(f, &flow, f->port, f->id);
	trace_frame(f, EXPLORED, f->port);
	return wrap(skb, f, REQUEST, f->id) ? flood_on(skb, f, false) : drop(f, NO_MEMORY);
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
	return wrap(skb, f, REPLY, id) ? forwarded(send(skb, port, false)) : drop(f, NO_MEMORY);
}

static __always_inline int deliver(struct __sk_buff *skb, struct frame *f, __u32 port)
{
	trace_frame(f, DELIVERED, port);
	return unwrap(skb, f) ? forwarded(send(skb, port, false)) : drop(f, NO_MEMORY);
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
	if (f->kind == PATH_REQUEST)
		return deliver(skb, f, port);
	confirm(f, &flow, port, f->id);
	tell(f, &back, FLOW_REPLY, f->id, f->port);
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
			return forwarded(send(skb, port, false));
		}
		return wraps ? deliver(skb, f, port) : consume(TC_ACT_SHOT);
	}
	/* The path is gone, or another exploration has taken its place: what is wrapped still arrives. */
	if (!wraps)
		return drop(f, STALE);
	return unwrap(skb, f) ? forward(skb, f) : drop(f, NO_MEMORY);
}

/* Path Fail: the source cannot be reached the way it came. */
static __noinline int on_flow_fail(struct __sk_buff *skb, struct frame *f)
{
	struct flow broken = to_source(f), reached = to_destination(f);
	struct path *path = path_at(&broken, f->now);
	bool initiator;
	__u32 port;

	if (!path || path->port != f->port)
		return drop(f, STALE);
	remove_path(&broken);
	path = path_at(&reached, f->now);
	if (!path)
		return consume(TC_ACT_SHOT);
	port = path->port;
	initiator = path->initiator;
	remove_path(&reached);
	if (is_fabric(port, f->now) && port != f->port) {
		count_hop(skb, f);
		return forwarded(send(skb, port, false));
	}
	if (initiator && is_host(port, f->now))
		recover(f, &reached, port);
	return consume(TC_ACT_SHOT);
}

/* A TCP segment. */
static __always_inline int on_tcp(struct __sk_buff *skb, struct frame *f)
{
	enum reason refused = takes(f);

	if (refused != NO_REASON)
		return drop(f, refused);
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
	if (f->kind == HELLO || !is_control(f) || !is_about_flow(f) || f->malformed != NO_REASON ||
	    refuses(f) != NO_REASON)
		return receive(skb, f);
	if (f->kind == PATH_REQUEST || f->kind == RECOVERY_REQUEST)
		return on_flow_request(skb, f);
	if (f->kind == PATH_REPLY || f->kind == RECOVERY_REPLY)
		return on_flow_reply(skb, f);
	return on_flow_fail(skb, f);
}

/* The frame has been sent, or goes no further: what is to be told about its flow is written over it. */
static __always_inline int then_tell(struct __sk_buff *skb, const struct frame *f, int action)
{
	if (!f->own.type)
		return action;
	send_own(skb, f, &f->own);
	return TC_ACT_SHOT;
}
