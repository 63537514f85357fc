/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * VLAN tags. Their helpers are the only ones that insert and remove room after the addresses of a frame of
 * any EtherType without touching the rest.
 */
#pragma once

#include "frame.h"

struct vlan_tag {
	__be16 protocol;
	__u16 tci;
};

/* The outer tag, which is not in the bytes; an arbitrary tag if there is none. */
static __always_inline struct vlan_tag outer_tag(const struct __sk_buff *skb)
{
	struct vlan_tag tag = { .protocol = bpf_htons(ETHERTYPE_VLAN) };

	if (skb->vlan_present) {
		tag.protocol = skb->vlan_proto;
		tag.tci = skb->vlan_tci;
	}
	return tag;
}
