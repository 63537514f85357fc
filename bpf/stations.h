/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The tables of ARP-Path: stations, and repairs in progress. Unused entries expire; an expired entry
 * counts as missing, whether or not the daemon has swept it. Full tables evict approximately the least
 * recently used entries.
 */
#pragma once

#include "counters.h"

/* Only this switch can tell the others about its attached stations, so these have a longer lifetime. */
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
} weft_stations SEC(".maps");

/* Stations being searched for, with the end of the repair. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} weft_repairs SEC(".maps");

static __always_inline struct station *station_at(__u64 address, __u64 now)
{
	struct station *station = bpf_map_lookup_elem(&weft_stations, &address);

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

/* Until this time, flows may have entries for host ports that their stations have left. */
static __u64 left_until;

/* A station has left a host port: entries of its flows that are in use are hit within their lifetime. */
static __always_inline void note_departure(__u64 now)
{
	left_until = now + settings.confirmed;
}

/* Adds a station, in `class` unless it is on a host port. A global function: verified once, separately. */
__noinline int put_station(const struct frame *f, __u64 address, __u32 port, __u8 class)
{
	struct station station = { .port = port, .class = class };
	struct station *known;

	if (!f)
		return 0;
	if (is_host(port, f->now))
		station.class = ATTACHED;
	known = station_at(address, f->now);
	if (known && known->port != port && is_host(known->port, f->now))
		note_departure(f->now);
	station.expiry = f->now + life(station.class);
	bpf_map_update_elem(&weft_stations, &address, &station, BPF_ANY);
	trace_station(f, station.class == LOCKED ? STATION_LOCKED : STATION_LEARNT, address, port);
	return 0;
}

/* A known station has answered, or was requested. */
static __always_inline void confirm_station(const struct frame *f, __u64 address)
{
	struct station *station = station_at(address, f->now);

	if (station)
		put_station(f, address, station->port, LEARNT);
}

static __always_inline bool is_repairing(__u64 address, __u64 now)
{
	__u64 *until = bpf_map_lookup_elem(&weft_repairs, &address);

	return until && *until > now;
}

static __always_inline void start_repair(__u64 address, __u64 now)
{
	__u64 until = now + settings.repair;

	bpf_map_update_elem(&weft_repairs, &address, &until, BPF_ANY);
}
