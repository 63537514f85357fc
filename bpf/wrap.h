/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Wraps a segment in a Path frame and unwraps it. Only the VLAN helpers make room after the addresses
 * of a frame of any EtherType without touching the rest: the header of 20 bytes is inserted and removed
 * as five VLAN tags. So the position of an offloaded checksum stays valid, and so does the kernel's
 * idea of the protocol.
 */
#pragma once

#include "own.h"
#include "vlan.h"

#define UNITS (sizeof(struct path_header) / TAG_LEN)

/* The maximum frame that all fabric ports take, in bytes without the outer VLAN tag. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} weft_longest SEC(".maps");

static __always_inline bool fits_wrapped(const struct __sk_buff *skb)
{
	__u32 zero = 0, *longest = bpf_map_lookup_elem(&weft_longest, &zero);

	return longest && skb->len + sizeof(struct path_header) <= *longest;
}

/* Wraps the segment in a Path frame of this type and exploration. */
static __noinline bool wrap(struct __sk_buff *skb, struct frame *f, __u8 type, __u32 id)
{
	bool tagged = skb->vlan_present;
	struct vlan_tag tag = outer_tag(skb);
	__u8 inner[MAX_TAGS * TAG_LEN], destination[6];
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
	if (bpf_skb_load_bytes(skb, ADDRESSES_LEN, inner, sizeof(inner)))
		return false;
	/* A tag moves into the bytes when the next one becomes the outer tag. */
	if (!tagged && bpf_skb_vlan_push(skb, tag.protocol, tag.tci))
		return false;
	for (__u32 i = 0; i < UNITS + 1; i++)
		if (bpf_skb_vlan_push(skb, tag.protocol, tag.tci))
			return false;
	/* The first of them becomes the outer tag again, and the frame's protocol that of the next bytes. */
	if (bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, inner, sizeof(inner), BPF_F_RECOMPUTE_CSUM) ||
	    bpf_skb_store_bytes(skb, f->at + TAG_LEN, &head, sizeof(head), BPF_F_RECOMPUTE_CSUM) ||
	    bpf_skb_store_bytes(skb, 0, destination, sizeof(destination), BPF_F_RECOMPUTE_CSUM) ||
	    bpf_skb_vlan_pop(skb))
		return false;
	if (tagged)
		return true;
	/* A tag in the bytes becomes the outer tag now. */
	if (f->at > ADDRESSES_LEN)
		f->at -= TAG_LEN;
	return !bpf_skb_vlan_pop(skb);
}

/* Unwraps the segment of a Path frame. */
static __noinline bool unwrap(struct __sk_buff *skb, struct frame *f)
{
	bool tagged = skb->vlan_present;
	struct vlan_tag tag = outer_tag(skb), unit = { .protocol = tag.protocol, .tci = bpf_htons(tag.tci) };
	struct vlan_tag units[UNITS] = { unit, unit, unit, unit, unit };
	__u32 tags = f->at - ADDRESSES_LEN, at = ADDRESSES_LEN + TAG_LEN + sizeof(units);
	__u8 inner[MAX_TAGS * TAG_LEN], destination[6];

	put_address(destination, f->dst);
	if (bpf_skb_load_bytes(skb, ADDRESSES_LEN, inner, sizeof(inner)) ||
	    (!tagged && bpf_skb_vlan_push(skb, tag.protocol, tag.tci)) ||
	    bpf_skb_vlan_push(skb, tag.protocol, tag.tci) ||
	    bpf_skb_store_bytes(skb, 0, destination, sizeof(destination), BPF_F_RECOMPUTE_CSUM) ||
	    bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, units, sizeof(units), BPF_F_RECOMPUTE_CSUM) ||
	    (tags == TAG_LEN && bpf_skb_store_bytes(skb, at, inner, TAG_LEN, BPF_F_RECOMPUTE_CSUM)) ||
	    (tags == 2 * TAG_LEN && bpf_skb_store_bytes(skb, at, inner, sizeof(inner), BPF_F_RECOMPUTE_CSUM)))
		return false;
	for (__u32 i = 0; i < UNITS + 1; i++)
		if (bpf_skb_vlan_pop(skb))
			return false;
	if (tagged)
		return true;
	/* A tag in the bytes becomes the outer tag now. */
	if (tags)
		f->at -= TAG_LEN;
	return !bpf_skb_vlan_pop(skb);
}
