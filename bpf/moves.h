/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Stations that sent from another port than their known one, for the daemon to log: two hosts may have the same
 * address.
 */
#pragma once

#include "frame.h"

struct move {
	__u64 count;
	__u64 last; /* time */
	__u16 to, from; /* ports of the last move */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address */
	__type(value, struct move);
} weft_moves SEC(".maps");

static __noinline int count_move(const struct frame *f, __u32 from)
{
	struct move fresh = { .count = 1, .last = f->now, .to = f->port, .from = from }, *move;
	__u64 station = f->src;

	move = bpf_map_lookup_elem(&weft_moves, &station);
	if (!move) {
		bpf_map_update_elem(&weft_moves, &station, &fresh, BPF_ANY);
		return 0;
	}
	__sync_fetch_and_add(&move->count, 1);
	move->last = f->now;
	move->to = f->port;
	move->from = from;
	return 0;
}
