/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Recent floods, so that only the first copy of a frame is forwarded (crates/switching/src/floods.rs). Rate
 * limits keep one port from filling the table within a flood's lifetime.
 */
#pragma once

#include "flooding.h"

/* The key shared by the copies of a flooded frame. */
struct flood_key {
	__u64 from, to;
	__u32 id;
	__u16 sport, dport;
	__u64 kind;
};

/* An LRU map allows no locks, so an atomic instruction on one word decides which of two copies on two CPUs is the
 * first. */
struct flood {
	__u64 state; /* expiry in ns modulo 2^56, whether its source has left, and the ingress port of the first copy */
};

#define STATE_BITS 8
#define STATE_MASK 0xffULL
#define LEFT 0x80
#define STARTED_HERE 0x7f /* for a port */

/* How long copies of one frame may be in flight. A copy that arrives on another port later than this after the last one
 * belongs to a new frame if the first port cannot be right any more; otherwise it is still treated as late, in case it
 * took longer. */
#define SETTLE 50000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flood_key);
	__type(value, struct flood);
} weft_floods SEC(".maps");

static __always_inline __u64 flood_state(__u32 port, __u64 until)
{
	return until << STATE_BITS | (port < MAX_PORTS ? port : STARTED_HERE);
}

/* Whether the entry has not expired at `now`. */
static __always_inline bool lasts(__u64 state, __u64 now)
{
	return (__s64)((state & ~STATE_MASK) - (now << STATE_BITS)) > 0;
}

/* Whether the last copy was so long ago that none is in flight; `span` is the lifetime of entries. */
static __always_inline bool has_settled(__u64 state, __u64 span, __u64 now)
{
	return !lasts(state, state & LEFT ? now : now + span - SETTLE);
}

/* Whether a copy on `port` is late; `span` is the lifetime of entries. */
static __noinline bool is_late(__u64 state, __u32 port, __u64 span, __u64 now)
{
	__u32 first = state & STARTED_HERE;

	if (!lasts(state, now) || first == (port < MAX_PORTS ? port : STARTED_HERE))
		return false;
	if (!has_settled(state, span, now))
		return true;
	/* The port of the first copy has gone, or a host has moved to a port of this switch. */
	return (first == STARTED_HERE || is_known(first, now)) && !is_host(port, now);
}

/* The state after a copy on `port` was forwarded. If the source has left that port, the entry lasts only as long as
 * other copies of the same frame may be in flight. */
static __always_inline __u64 state_after(__u64 state, __u32 port, __u64 span, __u64 now)
{
	if (state & LEFT && lasts(state, now))
		return flood_state(port, now + SETTLE) | LEFT;
	return flood_state(port, now + span);
}

/* Records a copy received on `port`, or returns why it is dropped. A copy on the port of the first one is a
 * retransmission, and is forwarded. A global function: verified once, separately. */
__noinline int note(const struct flood_key *key, __u32 port, __u64 span, __u64 now)
{
	struct flood *first, fresh = { .state = flood_state(port, now + span) };
	__u64 was;
	int error;

	if (!key)
		return LATE_COPY;
	for (int i = 0; i < 4; i++) {
		first = bpf_map_lookup_elem(&weft_floods, key);
		if (!first) {
			error = bpf_map_update_elem(&weft_floods, key, &fresh, BPF_NOEXIST);
			if (error == -17 /* EEXIST */)
				continue;
			return error ? NO_MEMORY : NO_REASON;
		}
		was = *(volatile __u64 *)&first->state;
		if (is_late(was, port, span, now))
			break;
		if (__sync_val_compare_and_swap(&first->state, was, state_after(was, port, span, now)) == was)
			return NO_REASON;
	}
	return LATE_COPY;
}

/* All broadcasts of a source share one entry, except its requests. */
static __always_inline struct flood_key key_of_source(__u64 from, __u8 kind)
{
	return (struct flood_key){ .from = from, .to = BROADCAST, .kind = kind };
}

static __always_inline struct flood_key key_of_unknown(const struct frame *f)
{
	return (struct flood_key){ .from = f->src, .to = f->dst, .kind = UNKNOWN_DESTINATION };
}

static __always_inline __u64 span_of(__u64 kind)
{
	return kind == OTHER || kind == UNKNOWN_DESTINATION ? settings.broadcast_lock : settings.lock;
}

/* The key of a flooded frame: the contents of a control frame, the source of a request or other broadcast, both
 * ends of a frame to an unknown station. */
static __always_inline struct flood_key flood_of(const struct frame *f)
{
	if (is_control(f))
		return (struct flood_key){
			.from = f->src, .to = f->dst, .id = f->id, .kind = f->kind,
			.sport = f->sport, .dport = f->dport,
		};
	if (!is_group(f->dst))
		return key_of_unknown(f);
	return key_of_source(f->src, f->kind == ARP_REQUEST ? ARP_REQUEST : OTHER);
}

static __noinline int note_copy(const struct frame *f)
{
	struct flood_key key = flood_of(f);

	return note(&key, f->port, span_of(key.kind), f->now);
}

/* Whether the first copy of a flood arrived on `port` (NO_PORT: it started here). With LEFT, it has started elsewhere
 * since. */
static __always_inline bool is_from(const struct flood_key *key, __u32 port, __u64 now)
{
	struct flood *known = bpf_map_lookup_elem(&weft_floods, key);

	return known && lasts(known->state, now) && (known->state & STATE_MASK) == (flood_state(port, 0) & STATE_MASK);
}

/* Whether a frame goes on with a flood whose first copy arrived on its port. */
static __noinline bool goes_on(const struct frame *f)
{
	struct flood_key key = flood_of(f);

	return is_from(&key, f->port, f->now);
}

static __always_inline __u32 start_of_unknown(const struct frame *f)
{
	return is_host(f->port, f->now) ? f->port : NO_PORT;
}

/* Whether floods of a frame to an unknown station already start here. */
static __noinline bool goes_on_unknown(const struct frame *f)
{
	struct flood_key key = key_of_unknown(f);

	return is_from(&key, start_of_unknown(f), f->now);
}

/* Records a frame to an unknown station: its flood starts here, wherever earlier ones started. Copies that return from
 * other switches are late. */
static __noinline int note_unknown(const struct frame *f)
{
	struct flood_key key = key_of_unknown(f);
	struct flood flood = { .state = flood_state(start_of_unknown(f), f->now + settings.broadcast_lock) };

	bpf_map_update_elem(&weft_floods, &key, &flood, BPF_ANY);
	return 0;
}

/* The next copy of a flood will arrive on `port`. Copies of an earlier one that may be in flight remain late. */
static __noinline int reroot_flood(const struct flood_key *key, __u32 port, __u64 now)
{
	struct flood *flood = bpf_map_lookup_elem(&weft_floods, key);
	__u64 state = flood ? flood->state : 0;

	if (!flood || !lasts(state, now) || (state & STARTED_HERE) == port)
		return 0;
	if (has_settled(state, span_of(key->kind), now))
		bpf_map_delete_elem(&weft_floods, key);
	else
		flood->state = flood_state(state & STARTED_HERE, now + SETTLE) | LEFT;
	return 0;
}

/* Records a Path Request at its ingress port. Returns whether it locates its source there: only the first copy of all
 * requests with its id does. If the announcement and the search each had a first copy, and some copies were lost, two
 * switches could see them in different orders, and their entries could form a loop. */
static __always_inline bool note_location(const struct frame *f)
{
	struct flood_key key = { .from = f->src, .to = BROADCAST, .id = f->id, .kind = LOCATION };

	return note(&key, f->port, settings.lock, f->now) == NO_REASON;
}

/* A station is now behind a port: accepts its broadcasts from there. */
static __always_inline void reroot(__u64 station, __u32 port, __u64 now)
{
	struct flood_key key = key_of_source(station, ARP_REQUEST);

	reroot_flood(&key, port, now);
	key.kind = OTHER;
	reroot_flood(&key, port, now);
}

/* A path between two stations is explored from behind a port, since frames between them are flooded there: accepts
 * their copies from there. */
static __always_inline void reroot_unknown(__u64 from, __u64 to, __u32 port, __u64 now)
{
	struct flood_key key = { .from = from, .to = to, .kind = UNKNOWN_DESTINATION };

	reroot_flood(&key, port, now);
}

/* Whether a Path Request about two stations has the id of a Path Fail that was seen. */
static __always_inline bool answers_fail(const struct frame *f)
{
	struct flood_key key = { .from = f->dst, .to = f->src, .id = f->id, .kind = PATH_FAIL };
	struct flood *flood = bpf_map_lookup_elem(&weft_floods, &key);

	return flood && lasts(flood->state, f->now);
}

/* Records a flooded frame about a path, or returns why it is dropped. */
static __always_inline int admit(const struct frame *f)
{
	return f->hops >= settings.hops ? TOO_MANY_HOPS : note_copy(f);
}

static __always_inline int flood_on(struct __sk_buff *skb, const struct frame *f, __u32 to)
{
	return flooded(f, flood(skb, f->now, f->port, to));
}
