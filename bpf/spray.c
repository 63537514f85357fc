/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `spray`: each frame to a random one of the next hops to its destination, drawn independently
 * (crates/switching/src/spray.rs). Attached to the ingress of every port.
 */
#include "routes.h"
#include "layout.h"

SEC("classifier")
int weft_spray(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);
	int refused;

	if (!frame)
		return TC_ACT_SHOT;
	if (!is_routed(frame))
		return then_tell(skb, frame, receive(skb, frame));
	refused = takes(skb, frame);
	if (refused != NO_REASON)
		return then_tell(skb, frame, refuse(frame, refused));
	return then_tell(skb, frame, route(skb, frame, draw()));
}

char _license[] SEC("license") = "Dual MIT/GPL";
