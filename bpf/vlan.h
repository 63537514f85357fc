/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * VLAN tags. The helpers for them are the only ones that make room behind the addresses of a frame of any
 * EtherType, without touching what follows, and take it away again.
 */
#pragma once

#include "frame.h"

struct vlan_tag {
	__be16 protocol;
	__u16 tci;
};

/* The outer tag, which is not among the bytes; any tag where there is none. */
static __always_inline struct vlan_tag outer_tag(const struct __sk_buff *skb)
{
	struct vlan_tag tag = { .protocol = bpf_htons(ETHERTYPE_VLAN) };

	if (skb->vlan_present) {
		tag.protocol = skb->vlan_proto;
		tag.tci = skb->vlan_tci;
	}
	return tag;
}
