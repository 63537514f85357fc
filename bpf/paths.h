/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The table of TCP-Path: for each direction of a flow, the port towards one of its ends
 * (crates/switching/src/path_table.rs), and how fast host ports may add to it.
 */
#pragma once

#include "segment.h"
#include "tables.h"

enum path_class { PATH_LOCKED, PATH_CLOSING, PATH_CONFIRMED };

/* The entry leads to `host`. An end is an address and a TCP port. */
struct flow {
	__u64 host, peer;
};

struct path {
	__u64 expiry;
	__u32 id;       /* the exploration that made it */
	__u32 made;     /* when, in milliseconds */
	__u16 port;     /* where it leads */
	__u8 class;
	__u8 initiator; /* whether the end that it leads to started the exploration */
	__u8 explored;  /* whether the next SYN goes by the default forwarding */
	__u8 reserved[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 20);
	__type(key, struct flow);
	__type(value, struct path);
} paths SEC(".maps");

/* When each port's bucket of explorations will be full again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u64);
} limits SEC(".maps");

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
	struct path *path = bpf_map_lookup_elem(&paths, flow);

	return path && path->expiry > now ? path : NULL;
}

static __always_inline __u64 path_life(__u8 class)
{
	return class == PATH_CONFIRMED ? settings.confirmed :
	       class == PATH_CLOSING   ? settings.closing :
					 settings.lock;
}

static __always_inline void reclass(struct path *path, __u8 class, __u64 now)
{
	path->class = class;
	path->expiry = now + path_life(class);
}

static __always_inline void put_path(const struct flow *flow, struct path path, __u64 now)
{
	path.made = now / 1000000;
	path.expiry = now + path_life(path.class);
	bpf_map_update_elem(&paths, flow, &path, BPF_ANY);
}

/* Locks a flow to the port of its request's first copy. */
static __always_inline void lock_path(const struct flow *flow, __u16 port, __u32 id, __u64 now)
{
	struct path path = { .port = port, .id = id, .class = PATH_LOCKED, .initiator = 1, .explored = 1 };

	put_path(flow, path, now);
}

/* Confirms the entry of `flow` and makes that of the other direction, which leads to `port`. Of two
 * ends that have opened at once, the path of the lower one stays (RFC 9293, section 3.5). */
static __noinline int confirm(const struct flow *flow, __u32 port, __u32 id, __u64 now)
{
	struct path *path = path_at(flow, now), *theirs, fresh = { .port = port, .id = id };
	struct flow other = reversed(flow);
	bool before = other.host < flow->host || (other.host == flow->host && other.peer < flow->peer);

	if (!path)
		return 0;
	reclass(path, PATH_CONFIRMED, now);
	theirs = path_at(&other, now);
	if (before && path->initiator && theirs && theirs->initiator && theirs->id != id)
		return 0;
	fresh.class = PATH_CONFIRMED;
	put_path(&other, fresh, now);
	return 0;
}

/* Whether the port may start one more exploration. */
static __always_inline bool may_explore(__u32 port, __u64 now)
{
	__u64 *full_at = bpf_map_lookup_elem(&limits, &port), next;

	if (!full_at)
		return false;
	next = (*full_at > now ? *full_at : now) + settings.rate_gap;
	if (next > now + settings.rate_slack)
		return false;
	*full_at = next;
	return true;
}
