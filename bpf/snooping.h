/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Which ports want the frames of which groups, from the reports and queries of IGMP and MLD
 * (crates/switching/src/snooping.rs).
 */
#pragma once

#include "counters.h"

enum family { FAMILY_V4, FAMILY_V6, NO_FAMILY };

/* The ports of members or routers, by bits. Those heard last replace earlier ones after a lifetime. */
struct members {
	__u64 fresh;       /* heard since `turn_at` less a lifetime */
	__u64 old;         /* heard before */
	__u64 turn_at;     /* when the fresh ones become old */
	__u64 old_until;   /* when the old ones expire */
	__u64 until;       /* when all expire */
	__u64 asked_until; /* of routers: until when one counts as querier */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* group */
	__type(value, struct members);
} weft_members SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NO_FAMILY);
	__type(key, __u32); /* enum family */
	__type(value, struct members);
} weft_routers SEC(".maps");

/* How long members of a group that a router asks about have to answer. */
#define ANSWER 2000000000ULL
#define EVERYONE (~0ULL)
#define MOST_RECORDS 32 /* read of a message */

/* The version of IP of a group that hosts report: not link-local, all nodes or solicited nodes. */
static __always_inline __u32 family_of(__u64 group)
{
	if (group >> 24 == 0x01005e)
		return group & 0x800000 || !(group & 0xffff00) ? NO_FAMILY : FAMILY_V4;
	if (group >> 32 == 0x3333 && (group & 0xffffffff) != 1 && (group >> 24 & 0xff) != 0xff)
		return FAMILY_V6;
	return NO_FAMILY;
}

static __always_inline __u64 ports_of(const struct members *of, __u64 now)
{
	return of->fresh | (of->old_until > now ? of->old : 0);
}

/* A member or router was heard on a port. Several CPUs may hear some at once: bits are set and moved by atomic
 * instructions. */
static __always_inline void hear_port(struct members *of, __u32 port, __u64 now)
{
	__u64 turn_at = of->turn_at, until = now + settings.membership, fresh;

	if (of->until <= now) {
		of->fresh = of->old = of->old_until = 0;
		of->turn_at = until;
	} else if (turn_at <= now && __sync_val_compare_and_swap(&of->turn_at, turn_at, until) == turn_at) {
		fresh = of->fresh;
		of->old = fresh;
		of->old_until = of->until;
		__sync_fetch_and_and(&of->fresh, ~fresh);
	}
	__sync_fetch_and_or(&of->fresh, 1ULL << (port & (MAX_PORTS - 1)));
	of->until = until;
}

/* A global function: verified once, separately. */
__noinline int hear_member(__u64 group, __u32 port, __u64 now)
{
	struct members fresh = {
		.fresh = 1ULL << (port & (MAX_PORTS - 1)),
		.turn_at = now + settings.membership,
		.until = now + settings.membership,
	};
	struct members *of;

	if (family_of(group) == NO_FAMILY)
		return 0;
	of = bpf_map_lookup_elem(&weft_members, &group);
	if (!of && bpf_map_update_elem(&weft_members, &group, &fresh, BPF_NOEXIST))
		of = bpf_map_lookup_elem(&weft_members, &group);
	if (of)
		hear_port(of, port, now);
	return 0;
}

static __always_inline void hear_router(__u32 family, __u32 port, bool asks, __u64 now)
{
	struct members *of = bpf_map_lookup_elem(&weft_routers, &family);

	if (!of)
		return;
	hear_port(of, port, now);
	if (asks)
		of->asked_until = of->until;
}

/* A router asks for members of all groups, or of one. A global function: verified once, separately. */
__noinline int hear_query(__u32 family, __u64 group, __u32 port, __u64 now)
{
	struct members *of;
	__u64 fresh;

	hear_router(family, port, true, now);
	of = group ? bpf_map_lookup_elem(&weft_members, &group) : NULL;
	if (!of || of->until <= now)
		return 0;
	fresh = of->fresh;
	of->old = ports_of(of, now);
	of->old_until = now + ANSWER;
	__sync_fetch_and_and(&of->fresh, ~fresh);
	return 0;
}

/* The host ports that want a frame to a group, by bits; `reports`: it is a report of one group, for routers. A global
 * function: verified once, separately. */
__noinline __u64 listeners(__u64 group, bool reports, __u64 now)
{
	__u32 family = family_of(group);
	struct members *routers, *of;

	if (!settings.snoops || family == NO_FAMILY)
		return EVERYONE;
	routers = bpf_map_lookup_elem(&weft_routers, &family);
	if (!routers || routers->asked_until <= now)
		return EVERYONE;
	if (reports)
		return ports_of(routers, now);
	of = bpf_map_lookup_elem(&weft_members, &group);
	return of && of->until > now ? ports_of(of, now) | ports_of(routers, now) : EVERYONE;
}
