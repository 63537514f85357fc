/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * What the switch remembers: stations, repairs under way, and floods. Entries expire unless they
 * are used; an expired entry is no entry, whether or not the daemon has swept it. All tables are
 * bounded. Full ones of stations and repairs give up about the least recently used; a full one of
 * floods takes no more, since a flood that is not remembered might never end.
 */
#pragma once

#include "counters.h"

/* Only the switch itself can tell the others of a station that is attached to it: known for longer. */
enum class { LOCKED, LEARNT, ATTACHED };

struct station {
	__u64 expiry;
	__u16 port;
	__u8 class;
	__u8 reserved[5];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address */
	__type(value, struct station);
} stations SEC(".maps");

/* Stations that are being looked for, until when. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} repairs SEC(".maps");

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

static __always_inline struct station *station_at(__u64 address, __u64 now)
{
	struct station *station = bpf_map_lookup_elem(&stations, &address);

	return station && station->expiry > now ? station : NULL;
}

static __always_inline __u64 life(__u8 class)
{
	return class == ATTACHED ? settings.attached : class == LEARNT ? settings.learnt : settings.lock;
}

static __always_inline struct station *refresh(__u64 address, __u64 now)
{
	struct station *station = station_at(address, now);

	if (station)
		station->expiry = now + life(station->class);
	return station;
}

/* Puts a station in; in `class`, unless it is on a port of its own. */
static __noinline int put_station(const struct frame *f, __u64 address, __u32 port, __u8 class)
{
	struct station station = { .port = port, .class = is_host(port, f->now) ? ATTACHED : class };

	station.expiry = f->now + life(station.class);
	bpf_map_update_elem(&stations, &address, &station, BPF_ANY);
	trace_station(f, station.class == LOCKED ? STATION_LOCKED : STATION_LEARNT, address, port);
	return 0;
}

/* A station that is known has answered, or was asked for. */
static __always_inline void confirm_station(const struct frame *f, __u64 address)
{
	struct station *station = station_at(address, f->now);

	if (station)
		put_station(f, address, station->port, LEARNT);
}

static __always_inline bool is_repairing(__u64 address, __u64 now)
{
	__u64 *until = bpf_map_lookup_elem(&repairs, &address);

	return until && *until > now;
}

static __always_inline void start_repair(__u64 address, __u64 now)
{
	__u64 until = now + settings.repair;

	bpf_map_update_elem(&repairs, &address, &until, BPF_ANY);
}

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
