/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Which flooded frames have been here, so that only the first copy goes on
 * (crates/switching/src/floods.rs). A full table takes no more: a flood that is not remembered might
 * never end.
 */
#pragma once

#include "flooding.h"

/* What the copies of a flooded frame have in common. */
struct flood_key {
	__u64 from, to;
	__u32 id;
	__u16 sport, dport;
	__u64 kind;
};

struct flood {
	__u64 expiry;
	__u16 port; /* where the first copy came in; NO_PORT: it started here */
	__u16 reserved;
	struct bpf_spin_lock lock; /* of two copies on two CPUs one is the first */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flood_key);
	__type(value, struct flood);
} floods SEC(".maps");

_Static_assert(sizeof(struct flood_key) == 32, "flood_key");
_Static_assert(sizeof(struct flood) == 16, "flood");

static long forget_expired(void *map, const struct flood_key *key, struct flood *flood, __u64 *now)
{
	if (flood->expiry <= *now)
		bpf_map_delete_elem(map, key);
	return 0;
}

static __u64 last_sweep;

/* Whether a full table of floods may have room now. */
static __always_inline bool sweep_floods(__u64 now)
{
	if (now < last_sweep + settings.sweep_gap)
		return false;
	last_sweep = now;
	bpf_for_each_map_elem(&floods, forget_expired, &now, 0);
	return true;
}

/* Takes note of a copy that came in on `port`, or says why it goes no further. A copy on the port of
 * the first one is the frame sent again, and goes on. */
static __noinline int note(const struct flood_key *key, __u32 port, __u64 span, __u64 now)
{
	struct flood *first, fresh = { .expiry = now + span, .port = port };
	int reason = NO_REASON, error;

	first = bpf_map_lookup_elem(&floods, key);
	if (!first) {
		error = bpf_map_update_elem(&floods, key, &fresh, BPF_NOEXIST);
		if (error == -7 /* E2BIG */ && sweep_floods(now))
			error = bpf_map_update_elem(&floods, key, &fresh, BPF_NOEXIST);
		if (!error)
			return NO_REASON;
		first = bpf_map_lookup_elem(&floods, key);
		if (!first)
			return TABLE_FULL;
	}
	bpf_spin_lock(&first->lock);
	if (first->expiry > now && first->port != port) {
		reason = LATE_COPY;
	} else {
		first->port = port;
		first->expiry = now + span;
	}
	bpf_spin_unlock(&first->lock);
	return reason;
}

/* A copy of a flooded frame: those of a control frame are told by what it says, those of a request
 * and of any other broadcast by their source. */
static __always_inline int note_copy(const struct frame *f)
{
	struct flood_key key = { .from = f->src, .to = BROADCAST, .kind = OTHER };

	if (is_control(f)) {
		key.to = f->dst;
		key.id = f->id;
		key.sport = f->sport;
		key.dport = f->dport;
	}
	if (is_control(f) || f->kind == ARP_REQUEST)
		key.kind = f->kind;
	return note(&key, f->port, key.kind == OTHER ? settings.broadcast_lock : settings.lock, f->now);
}

/* A flooded frame about a path. */
static __always_inline int admit(const struct frame *f)
{
	return f->hops >= settings.hops ? TOO_MANY_HOPS : note_copy(f);
}

static __always_inline int flood_on(struct __sk_buff *skb, const struct frame *f, bool to_hosts)
{
	return flood(skb, f->now, f->port, to_hosts) ? forwarded(TC_ACT_SHOT) : drop(f, DEAD_END);
}

static __always_inline int on_broadcast(struct __sk_buff *skb, const struct frame *f)
{
	int reason = note_copy(f);

	return reason == NO_REASON ? flood_on(skb, f, true) : drop(f, reason);
}
