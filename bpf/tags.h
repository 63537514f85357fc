/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Tags of Tag-and-Forward (docs/wire-format.md): 8 bytes right behind the addresses, put on and taken off.
 */
#pragma once

#include "vlan.h"

#define TF_TAG_LEN 8
#define LEAST_TAGGED_IP (TAG_LEN + ADDRESSES_LEN + TF_TAG_LEN + 2 + 40)

struct tf_tag {
	__be16 ethertype;
	__be16 bits[3]; /* QID 3, UP, DOWN, as many as settings say */
} __attribute__((packed));

static __always_inline struct tf_tag make_tag(__u8 queue, __u32 up, __u32 down)
{
	__u64 bits = (__u64)queue << 45 | (__u64)up << settings.down_bits | down;

	return (struct tf_tag){
		.ethertype = bpf_htons(settings.tag_type),
		.bits = { bpf_htons(bits >> 32), bpf_htons(bits >> 16), bpf_htons(bits) },
	};
}

/* A plain IP packet gets room behind its Ethernet header, without anything behind that being moved: the
 * original EtherType is written anew behind the tag. */
static __always_inline bool push_before_ip(struct __sk_buff *skb, const struct frame *f, struct tf_tag tag)
{
	struct {
		struct tf_tag tag;
		__be16 ethertype;
	} __attribute__((packed)) head = { .tag = tag, .ethertype = bpf_htons(f->ethertype) };

	return !bpf_skb_adjust_room(skb, TF_TAG_LEN, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET) &&
	       !bpf_skb_store_bytes(skb, ADDRESSES_LEN, &head, sizeof(head), BPF_F_RECOMPUTE_CSUM);
}

/* Anything else gets it by the helpers for VLAN tags: two are written over, a third one keeps the kernel
 * from taking what is written for one of them. */
static __noinline bool push_before_any(struct __sk_buff *skb, struct tf_tag *tag)
{
	struct vlan_tag outer = outer_tag(skb);

	for (__u32 i = 0; i < 4; i++)
		if (bpf_skb_vlan_push(skb, outer.protocol, outer.tci))
			return false;
	return !bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, tag, sizeof(*tag), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_vlan_pop(skb) && !bpf_skb_vlan_pop(skb);
}

/* Puts a tag on; whether that was possible. */
static __always_inline bool push_tag(struct __sk_buff *skb, const struct frame *f, struct tf_tag tag)
{
	bool is_ip = f->ethertype == ETHERTYPE_IPV4 || f->ethertype == ETHERTYPE_IPV6;

	if (is_ip && f->at == ADDRESSES_LEN && !skb->vlan_present)
		return push_before_ip(skb, f, tag);
	return push_before_any(skb, &tag);
}

/* A tag before a plain IP packet goes the way it came: two VLAN tags make the kernel look at the EtherType
 * behind them anew, where it is told the packet's; then 8 bytes behind the header can be taken out. */
static __always_inline bool pop_before_ip(struct __sk_buff *skb, __be16 inner)
{
	return !bpf_skb_store_bytes(skb, ADDRESSES_LEN + TAG_LEN, &inner, sizeof(inner), BPF_F_RECOMPUTE_CSUM) &&
	       !bpf_skb_vlan_pop(skb) && !bpf_skb_vlan_pop(skb) &&
	       !bpf_skb_adjust_room(skb, -TF_TAG_LEN, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET);
}

/* One before anything else is written over with two VLAN tags, which are popped with the one before them. */
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

/* Takes the tag off, behind which there is this EtherType; whether that was possible. */
static __always_inline bool pop_tag(struct __sk_buff *skb, __be16 inner)
{
	bool is_ip = inner == bpf_htons(ETHERTYPE_IPV4) || inner == bpf_htons(ETHERTYPE_IPV6);
	__be16 vlan = bpf_htons(ETHERTYPE_VLAN);

	/* The first of them goes among the bytes when the second becomes the outer one. */
	if (bpf_skb_vlan_push(skb, vlan, 0) || bpf_skb_vlan_push(skb, vlan, 0))
		return false;
	/* The kernel wants the header of a packet to be there. */
	if (is_ip && skb->len >= LEAST_TAGGED_IP)
		return pop_before_ip(skb, inner);
	return pop_before_any(skb);
}
