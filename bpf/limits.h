/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Rate limits for frames received on a port that cause work elsewhere: explorations and frames for the daemon,
 * floods, new stations (crates/switching/src/rate_limit.rs, port_limits.rs).
 */
#pragma once

#include "ports.h"

enum limit { EXPLORATIONS, FLOODS, STATIONS, FLOODED_BYTES, LIMITS };

/* Flooded frames that a port may send at once, as the time that its share takes to carry them: longer than the coarsest
 * clock's tick. */
#define FLOODED_AT_ONCE 50000000ULL

/* When each of a port's buckets will be full again. */
struct limits {
	__u64 full_at[LIMITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct limits);
} weft_limits SEC(".maps");

/* The share of a port's rate that its flooded frames may take, as the time per byte in ps; 0: no limit. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u64);
} weft_shares SEC(".maps");

/* Takes a token, if there is one. Frames of a port may arrive on several CPUs. A global function: verified once,
 * separately. */
__noinline bool take(__u64 *full_at, __u64 gap, __u64 slack, __u64 now)
{
	__u64 was, next;

	if (!full_at)
		return false;
	for (int i = 0; i < 8; i++) {
		was = *(volatile __u64 *)full_at;
		next = (was > now ? was : now) + gap;
		if (next > now + slack)
			return false;
		if (__sync_val_compare_and_swap(full_at, was, next) == was)
			return true;
	}
	return false;
}

/* Takes a token of the port. Returns whether there was one: otherwise its limit is exceeded. */
static __always_inline bool take_token(enum limit limit, __u32 port, __u64 now)
{
	struct limits *of = bpf_map_lookup_elem(&weft_limits, &port);

	if (!of)
		return false;
	switch (limit) {
	case FLOODS:
		return take(&of->full_at[FLOODS], settings.flood_gap, settings.flood_slack, now);
	case STATIONS:
		return take(&of->full_at[STATIONS], settings.station_gap, settings.station_slack, now);
	case EXPLORATIONS:
		return take(&of->full_at[EXPLORATIONS], settings.rate_gap, settings.rate_slack, now);
	default:
		return false;
	}
}

/* Takes a flooded frame from the port's share of its rate, if enough of it is left. */
static __always_inline bool take_bytes(__u32 port, __u32 bytes, __u64 now)
{
	struct limits *of = bpf_map_lookup_elem(&weft_limits, &port);
	__u64 *byte_ps = bpf_map_lookup_elem(&weft_shares, &port);

	if (!of || !byte_ps)
		return false;
	return !*byte_ps || take(&of->full_at[FLOODED_BYTES], bytes * *byte_ps / 1000, FLOODED_AT_ONCE, now);
}
