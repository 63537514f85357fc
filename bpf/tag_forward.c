/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `tag-forward`: a frame is looked up where it enters the fabric, tagged, and forwarded by its tag
 * until it leaves (crates/switching/src/tag_forward). Attached to the ingress of every port.
 */
#include "tag_forward.h"

SEC("classifier")
int weft_tag_fwd(struct __sk_buff *skb)
{
	struct frame frame = {};

	if (!take_in_plain(skb, &frame))
		return TC_ACT_SHOT;
	return is_tagged(skb, &frame) ? receive_tagged(skb, &frame) : receive_untagged(skb, &frame, true);
}

char _license[] SEC("license") = "Dual MIT/GPL";
