/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `spray`: each frame to a random one of the next hops to its destination, drawn independently
 * (crates/switching/src/spray.rs). Attached to the ingress of every port.
 */
#include "routes.h"

SEC("classifier")
int weft_spray(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);
	int refused, action;

	if (!frame)
		return TC_ACT_SHOT;
	if (!is_routed(frame)) {
		action = receive(skb, frame);
	} else {
		refused = takes(skb, frame);
		action = refused == NO_REASON ? route(skb, frame, draw()) :
						refuse(frame, refused);
	}
	return then_tell(skb, frame, action);
}

char _license[] SEC("license") = "Dual MIT/GPL";
