/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `ecmp`: each flow on one of the next hops to its destination, chosen by a hash with the
 * switch's key (crates/switching/src/ecmp.rs). Attached to the ingress of every port.
 */
#include "flow_hash.h"
#include "routes.h"

SEC("classifier")
int weft_ecmp(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);
	int refused, action;

	if (!frame)
		return TC_ACT_SHOT;
	if (!is_routed(frame)) {
		action = receive(skb, frame);
	} else {
		refused = takes(skb, frame);
		action = refused == NO_REASON ? route(skb, frame, mix64(flow_hash(skb, frame) ^ settings.hash_key) >> 32) :
						refuse(frame, refused);
	}
	return then_tell(skb, frame, action);
}

char _license[] SEC("license") = "Dual MIT/GPL";
