/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * What became of frames, counted. The reasons have the names and numbers of `DropReason` in
 * crates/switching; behind them those for which crates/wire refuses a Path frame, and the kernel's.
 */
#pragma once

#include <linux/pkt_cls.h>

#include "settings.h"

enum reason {
	QUEUE_FULL,
	LINK_DOWN,
	NO_ROUTE,
	NOT_FOR_ME,
	SAME_PORT,
	LATE_COPY,
	UNTRUSTED,
	REPAIRING,
	STALE,
	TOO_MANY_HOPS,
	DEAD_END,
	UNKNOWN_PORT,
	TABLE_FULL,
	RETURNED,
	SHORT,
	VERSION,
	TYPE,
	NO_MEMORY, /* for a frame to grow */
	REASONS,
	NO_REASON = REASONS,
};

struct counters {
	__u64 dropped[REASONS];
	__u64 consumed;  /* frames for the switch itself */
	__u64 forwarded; /* frames sent on, a flooded one once */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

static __always_inline struct counters *the_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline int drop(enum reason reason)
{
	struct counters *count = the_counters();

	if (count && reason < REASONS)
		count->dropped[reason]++;
	return TC_ACT_SHOT;
}

static __always_inline int consume(int action)
{
	struct counters *count = the_counters();

	if (count)
		count->consumed++;
	return action;
}

static __always_inline int forwarded(int action)
{
	struct counters *count = the_counters();

	if (count)
		count->forwarded++;
	return action;
}
