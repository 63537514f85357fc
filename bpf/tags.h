/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Pushes and pops tags of Tag-and-Forward (docs/wire-format.md): 8 bytes right after the addresses.
 */
#pragma once

#include "vlan.h"

#define TF_TAG_LEN 8
#define LEAST_TAGGED_IP (TAG_LEN + ADDRESSES_LEN + TF_TAG_LEN + 2 + 40)

struct tf_tag {
	__be16 ethertype;
	__be16 bits[3]; /* QID (3 bits), UP, DOWN (as many bits as in settings) */
} __attribute__((packed));

static __always_inline struct tf_tag make_tag(__u8 queue, __u32 up, __u32 down)
{
	__u64 bits = (__u64)queue << 45 | (__u64)up << settings.down_bits | down;

	return (struct tf_tag){
		.ethertype = bpf_htons(settings.tag_type),
		.bits = { bpf_htons(bits >> 32), bpf_htons(bits >> 16), bpf_htons(bits) },
	};
}

/* For a plain IP packet, inserts room after the Ethernet header, without moving anything behind it, and writes
 * the original EtherType again after the tag. */
static __always_inline bool push_before_ip(struct __sk_buff *skb, const struct frame *f, struct tf_tag tag)
{
	struct {
		struct tf_tag tag;
		__be16 ethertype;
	} __attribute__((packed)) head = { .tag = tag, .ethertype = bpf_htons(f->ethertype) };

	return !bpf_skb_adjust_room(skb, TF_TAG_LEN, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET) &&
	       !bpf_skb_store_bytes(skb, ADDRESSES_LEN, &head, sizeof(head), BPF_F_RECOMPUTE_CSUM);
}

/* For anything else, uses the VLAN helpers: two VLAN tags are overwritten, and a third one prevents the kernel
 * from interpreting the written bytes as a VLAN tag. */
static __noinline bool push_before_any(struct __sk_buff *skb, struct tf_tag *tag)
{
	struct vlan_tag outer = outer_tag(skb);

	for (__u32 i = 0; i < 4; i++)
		if (bpf_skb_vlan_push(skb, outer.protocol, outer.tci))
			return false;
	return !bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, tag, sizeof(*tag), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_vlan_pop(skb) && !bpf_skb_vlan_pop(skb);
}

/* Pushes a tag; false on failure. */
static __always_inline bool push_tag(struct __sk_buff *skb, const struct frame *f, struct tf_tag tag)
{
	bool is_ip = f->ethertype == ETHERTYPE_IPV4 || f->ethertype == ETHERTYPE_IPV6;

	if (is_ip && f->at == ADDRESSES_LEN && !skb->vlan_present)
		return push_before_ip(skb, f, tag);
	return push_before_any(skb, &tag);
}

/* Before a plain IP packet, the reverse: popping two VLAN tags makes the kernel reread the EtherType after them,
 * where the packet's is written; then 8 bytes after the header can be removed. */
static __always_inline bool pop_before_ip(struct __sk_buff *skb, __be16 inner)
{
	return !bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, &inner, sizeof(inner), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_vlan_pop(skb) && !bpf_skb_vlan_pop(skb) &&
	       !bpf_skb_adjust_room(skb, -TF_TAG_LEN, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET);
}

/* Before anything else, overwrites the tag with two VLAN tags, which are popped with those before them. */
static __always_inline bool pop_before_any(struct __sk_buff *skb)
{
	__be16 vlan = bpf_htons(ETHERTYPE_VLAN), over[] = { vlan, 0, vlan, 0 };

	if (bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, over, sizeof(over), BPF_F_RECOMPUTE_CSUM))
		return false;
	for (__u32 i = 0; i < 4; i++)
		if (bpf_skb_vlan_pop(skb))
			return false;
	return true;
}

/* Pops the tag, which is followed by this EtherType; false on failure. */
static __always_inline bool pop_tag(struct __sk_buff *skb, __be16 inner)
{
	bool is_ip = inner == bpf_htons(ETHERTYPE_IPV4) || inner == bpf_htons(ETHERTYPE_IPV6);
	__be16 vlan = bpf_htons(ETHERTYPE_VLAN);

	/* The first VLAN tag moves into the bytes when the second becomes the outer one. */
	if (bpf_skb_vlan_push(skb, vlan, 0) || bpf_skb_vlan_push(skb, vlan, 0))
		return false;
	/* The kernel requires a complete IP header. */
	if (is_ip && skb->len >= LEAST_TAGGED_IP)
		return pop_before_ip(skb, inner);
	return pop_before_any(skb);
}
