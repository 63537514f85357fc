/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `tcp-path`: each TCP connection on the path that a copy of its SYN found fastest, and
 * everything else by ARP-Path. Attached to the ingress of every port.
 */
#include "tcp_path.h"

SEC("classifier")
int weft_tcp_path(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);

	if (!frame)
		return TC_ACT_SHOT;
	/* Frames flooded by a switch use the default forwarding, whatever their flow. */
	if (!frame->marked)
		read_segment(skb, frame);
	return then_tell(skb, frame, frame->kind == TCP ? on_tcp(skb, frame) : on_other(skb, frame));
}

char _license[] SEC("license") = "Dual MIT/GPL";
