/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The table of TCP-Path: for each direction of a flow, the port towards one of its ends
 * (crates/switching/src/path_table.rs). Unconfirmed entries have a separate map: a flood of requests
 * can evict only other unconfirmed entries.
 */
#pragma once

#include "limits.h"
#include "segment.h"
#include "stations.h"

enum path_class { PATH_LOCKED, PATH_CLOSING, PATH_CONFIRMED };

/* The entry leads to `host`. An end is an address and a TCP port. */
struct flow {
	__u64 host, peer;
};

struct path {
	__u64 expiry;
	__u32 id;       /* the exploration that created it */
	__u32 made;     /* creation time, in milliseconds */
	__u16 port;     /* the port that it leads to */
	__u8 class;
	__u8 initiator; /* whether the end that it leads to started the exploration */
	__u8 explored;  /* whether the next SYN uses the default forwarding */
	__u8 reserved[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 20);
	__type(key, struct flow);
	__type(value, struct path);
} weft_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 18);
	__type(key, struct flow);
	__type(value, struct path);
} weft_locked SEC(".maps");

static __always_inline struct flow to_destination(const struct frame *f)
{
	return (struct flow){ .host = f->dst << 16 | f->dport, .peer = f->src << 16 | f->sport };
}

static __always_inline struct flow reversed(const struct flow *flow)
{
	return (struct flow){ .host = flow->peer, .peer = flow->host };
}

static __always_inline struct flow to_source(const struct frame *f)
{
	return (struct flow){ .host = f->src << 16 | f->sport, .peer = f->dst << 16 | f->dport };
}

static __always_inline struct path *path_at(const struct flow *flow, __u64 now)
{
	struct path *path = bpf_map_lookup_elem(&weft_paths, flow);

	if (path && path->expiry > now)
		return path;
	path = bpf_map_lookup_elem(&weft_locked, flow);
	return path && path->expiry > now ? path : NULL;
}

static __always_inline __u64 path_life(__u8 class)
{
	return class == PATH_CONFIRMED ? settings.confirmed :
	       class == PATH_CLOSING   ? settings.closing :
					 settings.lock;
}

/* Adds an entry before removing one in the other map, so that the flow always has an entry. */
static __noinline int put_path(const struct flow *flow, const struct path *path)
{
	if (path->class == PATH_LOCKED) {
		bpf_map_update_elem(&weft_locked, flow, path, BPF_ANY);
		bpf_map_delete_elem(&weft_paths, flow);
	} else {
		bpf_map_update_elem(&weft_paths, flow, path, BPF_ANY);
		bpf_map_delete_elem(&weft_locked, flow);
	}
	return 0;
}

static __noinline int remove_path(const struct flow *flow)
{
	bpf_map_delete_elem(&weft_paths, flow);
	bpf_map_delete_elem(&weft_locked, flow);
	return 0;
}

/* Moves an entry to a class, and restarts its lifetime. */
static __noinline int reclass(const struct flow *flow, struct path *path, __u8 class, __u64 now)
{
	struct path moved;

	if ((path->class == PATH_LOCKED) == (class == PATH_LOCKED)) {
		path->class = class;
		path->expiry = now + path_life(class);
		return 0;
	}
	moved = *path;
	moved.class = class;
	moved.expiry = now + path_life(class);
	return put_path(flow, &moved);
}

static __always_inline void trace_flow(const struct frame *f, __u8 what, const struct flow *flow, __u32 id,
				       __u16 port)
{
	if (is_traced())
		write_event(f, what << 16 | port, flow->host, flow->peer, id);
}

/* Locks a flow to the port of its request's first copy. */
static __always_inline void lock_path(const struct frame *f, const struct flow *flow, __u16 port, __u32 id)
{
	struct path path = {
		.expiry = f->now + settings.lock, .made = f->now / 1000000, .port = port, .id = id,
		.class = PATH_LOCKED, .initiator = 1, .explored = 1,
	};

	put_path(flow, &path);
	trace_flow(f, FLOW_LOCKED, flow, id, port);
}

/* Confirms the entry of `flow` and creates that of the other direction, which leads to `port`. In a
 * simultaneous open, the path of the lower end is kept (RFC 9293, section 3.5). */
static __noinline int confirm(const struct frame *f, const struct flow *flow, __u32 port, __u32 id)
{
	struct path *path = path_at(flow, f->now), *theirs, fresh = { .port = port, .id = id };
	struct flow other = reversed(flow);
	bool before = other.host < flow->host || (other.host == flow->host && other.peer < flow->peer);
	bool initiator;

	if (!path)
		return 0;
	initiator = path->initiator;
	trace_flow(f, CONFIRMED, flow, id, path->port);
	reclass(flow, path, PATH_CONFIRMED, f->now);
	theirs = path_at(&other, f->now);
	if (before && initiator && theirs && theirs->initiator && theirs->id != id)
		return 0;
	fresh.class = PATH_CONFIRMED;
	fresh.made = f->now / 1000000;
	fresh.expiry = f->now + settings.confirmed;
	return put_path(&other, &fresh);
}
