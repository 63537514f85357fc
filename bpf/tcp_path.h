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

/* Writes a frame about the flow from `flow->host` to its peer. */
static __noinline bool write_about(struct __sk_buff *skb, const struct frame *f, const struct flow *flow, __u8 type,
				   __u32 id)
{
	struct own own = {
		.from = flow->host >> 16, .to = flow->peer >> 16, .id = id, .type = type,
		.sport = flow->host, .dport = flow->peer,
	};

	return write_own(skb, f, &own);
}

/* Looks for a path for the flow of `flow->host`, which is on the host port `port`. */
static __noinline int recover(struct __sk_buff *skb, const struct frame *f, const struct flow *flow, __u32 port)
{
	struct path *path = path_at(flow, f->now);
	__u32 id;

	if (attached(flow->peer >> 16, f->now) != NO_PORT || (path && path->class == PATH_LOCKED))
		return 0;
	id = draw_id();
	if (!note_own(flow, RECOVERY_REQUEST, id, f->now))
		return 0;
	lock_path(flow, port, id, f->now);
	if (write_about(skb, f, flow, FLOW_REQUEST, id))
		flood(skb, f->now, NO_PORT, false);
	return 0;
}

/* The entry of `flow` leads nowhere: tells the other end's edge. */
static __always_inline void break_path(struct __sk_buff *skb, const struct frame *f, const struct flow *flow)
{
	struct flow back = reversed(flow);
	struct path *path = path_at(flow, f->now), *other = path_at(&back, f->now);
	__u32 id = path ? path->id : 0, port = other ? other->port : NO_PORT;
	bool initiator = other && other->initiator;

	bpf_map_delete_elem(&paths, flow);
	bpf_map_delete_elem(&paths, &back);
	if (is_fabric(port, f->now)) {
		if (write_about(skb, f, flow, FAIL, id))
			send(skb, port, true);
	} else if (initiator && is_host(port, f->now)) {
		recover(skb, f, &back, port);
	}
}

/* A segment of a flow without an entry. */
static __noinline int on_miss(struct __sk_buff *skb, const struct frame *f)
{
	struct flow flow = to_destination(f);
	int action = forward(skb, f);

	if (action != TC_ACT_SHOT || !is_fabric(f->port, f->now))
		return action;
	/* The entry was evicted here, and the default forwarding does not come this way: whoever still
	 * sends the flow here is told not to. */
	if (write_about(skb, f, &flow, FAIL, 0))
		send(skb, f->port, true);
	return action;
}

static __always_inline void close_path(const struct flow *flow, __u64 now)
{
	struct path *path = path_at(flow, now);

	if (path)
		reclass(path, PATH_CLOSING, now);
}

/* Any segment that opens nothing. */
static __noinline int on_data(struct __sk_buff *skb, const struct frame *f)
{
	struct flow flow = to_destination(f), back = to_source(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port;

	if (!path)
		return on_miss(skb, f);
	reclass(path, path->class, f->now);
	port = path->port;
	if (!is_known(port, f->now)) {
		break_path(skb, f, &flow);
		return drop(LINK_DOWN);
	}
	if (port == f->port)
		return forward(skb, f);
	if (has_returned(f, port)) {
		bpf_map_delete_elem(&paths, &flow);
		return drop(RETURNED);
	}
	if (f->tcp_flags & (FIN | RST)) {
		close_path(&flow, f->now);
		close_path(&back, f->now);
	}
	return forwarded(send(skb, port, false));
}

/* A SYN from a host of this switch. */
static __noinline int on_syn(struct __sk_buff *skb, const struct frame *f)
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
			reclass(path, PATH_LOCKED, f->now);
			path->explored = 0;
			return forward(skb, f);
		}
	}
	if (!may_explore(f->port, f->now) || !note_own(&flow, PATH_REQUEST, f->id, f->now))
		return forward(skb, f);
	lock_path(&flow, f->port, f->id, f->now);
	return wrap(skb, f, REQUEST, f->id) ? flood_on(skb, f, false) : drop(NO_MEMORY);
}

/* A SYN+ACK from a host of this switch. */
static __noinline int on_syn_ack(struct __sk_buff *skb, const struct frame *f)
{
	struct flow flow = to_destination(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port, id;

	if (!path || !is_fabric(path->port, f->now) || !fits_wrapped(skb))
		return forward(skb, f);
	port = path->port;
	id = path->id;
	confirm(&flow, f->port, id, f->now);
	return wrap(skb, f, REPLY, id) ? forwarded(send(skb, port, false)) : drop(NO_MEMORY);
}

static __always_inline int deliver(struct __sk_buff *skb, const struct frame *f, __u32 port)
{
	return unwrap(skb, f) ? forwarded(send(skb, port, false)) : drop(NO_MEMORY);
}

/* A Path Request or a Recovery Request from another switch. */
static __noinline int on_flow_request(struct __sk_buff *skb, const struct frame *f)
{
	struct flow flow = to_source(f), back = to_destination(f);
	int reason = admit(f);
	__u32 port;

	if (reason != NO_REASON)
		return drop(reason);
	lock_path(&flow, f->port, f->id, f->now);
	port = attached(f->dst, f->now);
	if (port == NO_PORT)
		return pass_on(skb, f);
	if (f->kind == PATH_REQUEST)
		return deliver(skb, f, port);
	confirm(&flow, port, f->id, f->now);
	if (write_about(skb, f, &back, FLOW_REPLY, f->id))
		send(skb, f->port, true);
	return consume(TC_ACT_SHOT);
}

/* A Path Reply or a Recovery Reply from another switch. */
static __noinline int on_flow_reply(struct __sk_buff *skb, const struct frame *f)
{
	struct flow flow = to_destination(f);
	struct path *path = path_at(&flow, f->now);
	__u32 port = path && path->id == f->id ? path->port : NO_PORT;
	bool wraps = f->kind == PATH_REPLY;

	if (port == f->port)
		return drop(SAME_PORT);
	if (is_known(port, f->now)) {
		confirm(&flow, f->port, f->id, f->now);
		if (is_fabric(port, f->now)) {
			count_hop(skb, f);
			return forwarded(send(skb, port, false));
		}
		return wraps ? deliver(skb, f, port) : consume(TC_ACT_SHOT);
	}
	/* The path is gone, or another exploration has taken its place: what is wrapped still arrives. */
	if (!wraps)
		return drop(STALE);
	return unwrap(skb, f) ? forward(skb, f) : drop(NO_MEMORY);
}

/* Path Fail: the source cannot be reached the way it came. */
static __noinline int on_flow_fail(struct __sk_buff *skb, const struct frame *f)
{
	struct flow broken = to_source(f), reached = to_destination(f);
	struct path *path = path_at(&broken, f->now);
	bool initiator;
	__u32 port;

	if (!path || path->port != f->port)
		return drop(STALE);
	bpf_map_delete_elem(&paths, &broken);
	path = path_at(&reached, f->now);
	if (!path)
		return consume(TC_ACT_SHOT);
	port = path->port;
	initiator = path->initiator;
	bpf_map_delete_elem(&paths, &reached);
	if (is_fabric(port, f->now) && port != f->port) {
		count_hop(skb, f);
		return forwarded(send(skb, port, false));
	}
	if (initiator && is_host(port, f->now))
		recover(skb, f, &reached, port);
	return consume(TC_ACT_SHOT);
}

static __always_inline int on_tcp(struct __sk_buff *skb, const struct frame *f)
{
	enum reason refused = refuses(f);

	if (refused != NO_REASON)
		return drop(refused);
	hear_host(f);
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

static __always_inline int receive_flow(struct __sk_buff *skb, const struct frame *f)
{
	if (f->kind == TCP)
		return on_tcp(skb, f);
	if (f->kind == HELLO || !is_control(f) || !is_about_flow(f) || f->malformed != NO_REASON ||
	    refuses(f) != NO_REASON)
		return receive(skb, f);
	if (f->kind == PATH_REQUEST || f->kind == RECOVERY_REQUEST)
		return on_flow_request(skb, f);
	if (f->kind == PATH_REPLY || f->kind == RECOVERY_REPLY)
		return on_flow_reply(skb, f);
	return on_flow_fail(skb, f);
}
