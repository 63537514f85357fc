/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * A segment into a Path frame and out again: the frame grows or shrinks at its end, and the payload
 * moves. No helper that makes room in front takes frames of any EtherType.
 */
#pragma once

#include "send.h"

#define CHUNK 64
#define LONGEST 2048 /* of frames that are wrapped, whatever ports can send */

/* Moves bytes `from` to the end by 20 up, the last ones first. The frame has grown. */
__noinline int move_up(struct __sk_buff *skb, __u32 from, __u32 to)
{
	__u32 by = sizeof(struct path_header), rest = (to - from) % CHUNK;
	__u8 bytes[CHUNK] = {};

	if (rest) {
		to -= rest;
		if (bpf_skb_load_bytes(skb, to, bytes, rest) ||
		    bpf_skb_store_bytes(skb, to + by, bytes, rest, BPF_F_RECOMPUTE_CSUM))
			return -1;
	}
	for (int i = 0; i < LONGEST / CHUNK && to > from; i++) {
		to -= CHUNK;
		if (bpf_skb_load_bytes(skb, to, bytes, CHUNK) ||
		    bpf_skb_store_bytes(skb, to + by, bytes, CHUNK, BPF_F_RECOMPUTE_CSUM))
			return -1;
	}
	return to == from ? 0 : -1;
}

/* Moves bytes `from` to the end by 20 down, the first ones first. */
__noinline int move_down(struct __sk_buff *skb, __u32 from, __u32 to)
{
	__u32 by = sizeof(struct path_header), rest = (to - from) % CHUNK;
	__u8 bytes[CHUNK] = {};

	for (int i = 0; i < LONGEST / CHUNK && to - from >= CHUNK; i++, from += CHUNK)
		if (bpf_skb_load_bytes(skb, from, bytes, CHUNK) ||
		    bpf_skb_store_bytes(skb, from - by, bytes, CHUNK, BPF_F_RECOMPUTE_CSUM))
			return -1;
	if (to - from != rest)
		return -1;
	if (rest && (bpf_skb_load_bytes(skb, from, bytes, rest) ||
		     bpf_skb_store_bytes(skb, from - by, bytes, rest, BPF_F_RECOMPUTE_CSUM)))
		return -1;
	return 0;
}

static __always_inline bool fits_wrapped(const struct __sk_buff *skb)
{
	__u32 len = skb->len + sizeof(struct path_header);

	return len <= settings.longest && len <= LONGEST;
}

/* The segment becomes what a Path frame of this type and exploration carries. */
static __noinline bool wrap(struct __sk_buff *skb, const struct frame *f, __u8 type, __u32 id)
{
	__u32 len = skb->len, at = f->at;
	__u8 destination[6];
	struct {
		__be16 ethertype;
		struct path_header path;
	} __attribute__((packed)) head = {
		.ethertype = bpf_htons(settings.path_type),
		.path = {
			.version = 1,
			.type = type,
			.id = bpf_htonl(id),
			.sport = bpf_htons(f->sport),
			.dport = bpf_htons(f->dport),
			.original = bpf_htons(f->ethertype),
		},
	};

	put_address(head.path.destination, f->dst);
	put_address(destination, type == REQUEST ? BROADCAST : f->dst);
	return !bpf_skb_change_tail(skb, len + sizeof(head.path), 0) && !move_up(skb, at + 2, len) &&
	       !bpf_skb_store_bytes(skb, at, &head, sizeof(head), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_store_bytes(skb, 0, destination, sizeof(destination), BPF_F_RECOMPUTE_CSUM);
}

/* What the Path frame carries becomes the frame. */
static __noinline bool unwrap(struct __sk_buff *skb, const struct frame *f)
{
	__u32 len = skb->len, at = f->at;
	__u8 destination[6];

	put_address(destination, f->dst);
	/* The original EtherType is the header's end, and moves along. */
	return !move_down(skb, at + sizeof(struct path_header), len) &&
	       !bpf_skb_change_tail(skb, len - sizeof(struct path_header), 0) &&
	       !bpf_skb_store_bytes(skb, 0, destination, sizeof(destination), BPF_F_RECOMPUTE_CSUM);
}
