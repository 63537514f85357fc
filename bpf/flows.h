/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The flow table of the switch (crates/switching/src/tag_forward/flow_table/), which the daemon writes:
 * rules with the same priority, family and masks are of one kind, and found by their masked addresses
 * (tuple space search). All kinds are in one value, in order: a frame uses either the old or the new ones.
 */
#pragma once

#include "ends.h"
#include "gates.h"

#define MAX_KINDS 64
#define MAX_RULES 200000
#define MAX_GROUPS 4096
#define MAX_WAYS 1024
#define KIND_TABLES 8

struct kind_v4 {
	__be32 source, destination; /* masks */
	__u16 id;
	__u16 priority; /* read only by the daemon */
};

struct kind_v6 {
	__be32 source[4], destination[4];
	__u16 id;
	__u16 priority;
};

/* By descending priority. */
struct kinds {
	__u32 count_v4, count_v6;
	struct kind_v4 v4[MAX_KINDS];
	struct kind_v6 v6[MAX_KINDS];
};

struct key_v4 {
	__be32 source, destination; /* masked */
	__u32 kind;
};

struct key_v6 {
	__be32 source[4], destination[4];
	__u32 kind;
};

/* The action of a rule, and its counters. */
struct rule {
	__u64 packets, bytes;
	__u32 down;
	__u32 to; /* the egress gate, or a group of ways */
	__u32 up; /* if `to` is a gate */
	__u8 queue;
	__u8 to_group;
	__u16 reserved;
};

struct group_way {
	__u32 gate, up;
};

struct group {
	__u32 count, reserved;
	struct group_way ways[MAX_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KIND_TABLES);
	__type(key, __u32);
	__type(value, struct kinds);
} weft_kinds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_RULES);
	__type(key, struct key_v4);
	__type(value, struct rule);
} weft_flows_v4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_RULES);
	__type(key, struct key_v6);
	__type(value, struct rule);
} weft_flows_v6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_GROUPS);
	__type(key, __u32);
	__type(value, struct group);
} weft_groups SEC(".maps");

static __noinline struct rule *find_v4(const struct kinds *known, const struct ends *ends)
{
	struct rule *rule;

	for (__u32 i = 0; i < MAX_KINDS && i < known->count_v4; i++) {
		struct key_v4 key = {
			.source = ends->packet.source[0] & known->v4[i].source,
			.destination = ends->packet.destination[0] & known->v4[i].destination,
			.kind = known->v4[i].id,
		};

		rule = bpf_map_lookup_elem(&weft_flows_v4, &key);
		if (rule)
			return rule;
	}
	return NULL;
}

static __noinline struct rule *find_v6(const struct kinds *known, const struct ends *ends)
{
	struct rule *rule;

	for (__u32 i = 0; i < MAX_KINDS && i < known->count_v6; i++) {
		const struct kind_v6 *kind = &known->v6[i];
		struct key_v6 key = { .kind = kind->id };

		for (__u32 word = 0; word < 4; word++) {
			key.source[word] = ends->packet.source[word] & kind->source[word];
			key.destination[word] = ends->packet.destination[word] & kind->destination[word];
		}
		rule = bpf_map_lookup_elem(&weft_flows_v6, &key);
		if (rule)
			return rule;
	}
	return NULL;
}

/* Finds the rule of the highest priority for a frame, and counts the frame. */
static __always_inline struct rule *find_rule(const struct ends *ends)
{
	__u32 table = current_table(CURRENT_KINDS);
	const struct kinds *known = bpf_map_lookup_elem(&weft_kinds, &table);
	struct rule *rule;

	if (!known)
		return NULL;
	rule = ends->is_v6 ? find_v6(known, ends) : find_v4(known, ends);
	if (rule) {
		__sync_fetch_and_add(&rule->packets, 1);
		__sync_fetch_and_add(&rule->bytes, ends->bytes);
	}
	return rule;
}
