/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Frames sent by the switch itself. A program cannot create frames: it overwrites one that has been sent or is
 * not needed any more.
 */
#pragma once

#include "flooding.h"

#define MIN_FRAME 60
#define CUT 128
#define MOST_OWNS 4 /* an announcement, one of a flow, one of a station; a power of 2 */

/* A frame of the switch's own. */
struct own {
	__u64 from, to;
	__u32 id;
	__u16 sport, dport;
	__u16 port; /* egress; NO_PORT: flooded */
	__u8 type;
};

/* Increments the hop count of a Path frame. */
static __always_inline void count_hop(struct __sk_buff *skb, const struct frame *f)
{
	__u8 hops = f->hops < 255 ? f->hops + 1 : 255;

	bpf_skb_store_bytes(skb, f->at + 2 + __builtin_offsetof(struct path_header, hops), &hops, 1,
			    BPF_F_RECOMPUTE_CSUM);
}

static __always_inline void put_address(__u8 *b, __u64 address)
{
	for (int i = 0; i < 6; i++)
		b[i] = address >> (40 - 8 * i);
}

/* Cancels a pending checksum offload, which must not be applied to another frame. The kernel drops it if its
 * position is cut off at the front, which works for IP packets. */
static __always_inline void forget_checksum(struct __sk_buff *skb, __u32 len)
{
	if (!bpf_skb_change_tail(skb, len + CUT, 0))
		bpf_skb_adjust_room(skb, -CUT, BPF_ADJ_ROOM_MAC, 0);
}

/* If the offload could not be cancelled, the kernel requires that its position still exists: extends the padding
 * to contain it. */
static __always_inline bool keep_place(struct __sk_buff *skb, __u32 len)
{
	__u64 zeros = 0;

	if (bpf_skb_change_tail(skb, len + CUT, 0))
		return false;
	for (__u32 i = 0; i < CUT; i += sizeof(zeros))
		if (bpf_skb_store_bytes(skb, len + i, &zeros, sizeof(zeros), BPF_F_RECOMPUTE_CSUM))
			return false;
	return true;
}

/* Overwrites the current frame, keeping its VLAN tags, with one of the switch's own; false on failure. */
static __noinline bool write_own(struct __sk_buff *skb, const struct frame *f, const struct own *own)
{
	/* The outer tag is not in the bytes. */
	__u32 len = MIN_FRAME - (skb->vlan_present ? TAG_LEN : 0), at = f->at;
	__u8 addresses[ADDRESSES_LEN];
	struct {
		__be16 ethertype;
		struct path_header path;
		__u8 padding[MIN_FRAME - ADDRESSES_LEN - 2 - sizeof(struct path_header)];
	} __attribute__((packed)) rest = {
		.ethertype = bpf_htons(settings.path_type),
		.path = {
			.version = 1,
			.type = own->type,
			.id = bpf_htonl(own->id),
			.sport = bpf_htons(own->sport),
			.dport = bpf_htons(own->dport),
		},
	};

	put_address(rest.path.destination, own->to);
	put_address(addresses, own->type == FLOW_REQUEST ? BROADCAST : own->to);
	put_address(addresses + 6, own->from);
	if (at < ADDRESSES_LEN || at > ADDRESSES_LEN + MAX_TAGS * TAG_LEN)
		return false;
	forget_checksum(skb, len);
	if (bpf_skb_change_tail(skb, len, 0) && !keep_place(skb, len))
		return false;
	len -= at;
	if (len < sizeof(rest) - MAX_TAGS * TAG_LEN || len > sizeof(rest))
		return false;
	return !bpf_skb_store_bytes(skb, 0, addresses, sizeof(addresses), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_store_bytes(skb, at, &rest, len, BPF_F_RECOMPUTE_CSUM);
}

/* Own frames to send after the current frame; the last announcement, and its time. */
struct owns {
	struct own each[MOST_OWNS];
	__u64 announced, at;
	__u32 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct owns);
} weft_owns SEC(".maps");

/* Queues an own frame, to be sent after the current frame. */
static __noinline int tell(struct frame *f, const struct own *own)
{
	__u32 zero = 0;
	struct owns *owns = bpf_map_lookup_elem(&weft_owns, &zero);

	if (owns && f->tells < MOST_OWNS)
		owns->each[f->tells++ % MOST_OWNS] = *own;
	return 0;
}

/* How long after an announcement a search for a path from the station has its id, so that both locate the station as one
 * flood. */
#define TOGETHER 100000ULL

/* Draws the id of an announcement. */
static __noinline __u32 draw_announced(__u64 station, __u64 now)
{
	__u32 zero = 0, id = draw();
	struct owns *owns = bpf_map_lookup_elem(&weft_owns, &zero);

	if (owns) {
		owns->announced = station;
		owns->at = now;
		owns->id = id;
	}
	return id;
}

/* The id of a search for a path from a station: that of its announcement just before, or a new one. */
static __noinline __u32 draw_search(__u64 station, __u64 now)
{
	__u32 zero = 0;
	struct owns *owns = bpf_map_lookup_elem(&weft_owns, &zero);

	return owns && owns->announced == station && now <= owns->at + TOGETHER ? owns->id : draw();
}

/* Writes and sends an own frame. A global function: verified once, separately. */
__noinline int send_own(struct __sk_buff *skb, const struct frame *f, const struct own *own)
{
	if (!f || !own || !write_own(skb, f, own))
		return 0;
	if (own->port == NO_PORT)
		return flood(skb, f->now, NO_PORT, TO_FABRIC);
	return send_copy(skb, own->port);
}

/* The frame has been sent or dropped: sends the queued own frames. */
static __always_inline int then_tell(struct __sk_buff *skb, const struct frame *f, int action)
{
	__u32 zero = 0;
	struct owns *owns = bpf_map_lookup_elem(&weft_owns, &zero);

	if (!f->tells || !owns)
		return action;
	for (__u32 i = 0; i < MOST_OWNS && i < f->tells; i++)
		send_own(skb, f, &owns->each[i]);
	return TC_ACT_SHOT;
}
