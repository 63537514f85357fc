/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * How often each port may cause what costs others something: explorations, and frames for the daemon to
 * look at (crates/switching/src/rate_limit.rs).
 */
#pragma once

#include "ports.h"

/* When each port's bucket will be full again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u64);
} limits SEC(".maps");

/* Whether the port may have one more. Frames of a port may come in on several CPUs. */
static __noinline bool is_within_limit(__u32 port, __u64 now)
{
	__u64 *full_at = bpf_map_lookup_elem(&limits, &port), was, next;

	if (!full_at)
		return false;
	for (int i = 0; i < 8; i++) {
		was = *(volatile __u64 *)full_at;
		next = (was > now ? was : now) + settings.rate_gap;
		if (next > now + settings.rate_slack)
			return false;
		if (__sync_val_compare_and_swap(full_at, was, next) == was)
			return true;
	}
	return false;
}
