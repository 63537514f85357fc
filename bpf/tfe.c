/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `tfe`: TCP-Path for elephant flows, ARP-Path for the rest. Attached to the ingress of every
 * port.
 */
#include "tfe.h"

SEC("classifier")
int weft_tfe(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);

	if (!frame)
		return TC_ACT_SHOT;
	/* Frames flooded by a switch use the default forwarding, whatever their flow. */
	if (!frame->marked)
		read_segment(skb, frame);
	return then_tell(skb, frame, frame->kind == TCP ? on_segment(skb, frame) : on_other(skb, frame));
}

char _license[] SEC("license") = "Dual MIT/GPL";
