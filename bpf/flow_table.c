/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `flow-table`: the flow table of `tag-forward`, looked up at every switch, without tags: the
 * baseline for tags. Attached to the ingress of every port.
 */
#include "steer.h"

SEC("classifier")
int weft_flow_table(struct __sk_buff *skb)
{
	struct frame frame = {};

	if (!take_in_plain(skb, &frame))
		return TC_ACT_SHOT;
	return receive_untagged(skb, &frame, false);
}

char _license[] SEC("license") = "Dual MIT/GPL";
