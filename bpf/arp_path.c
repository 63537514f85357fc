/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `arp-path`: hosts are found by racing their ARP Requests and Neighbour Solicitations
 * through the fabric. Attached to the ingress of every port.
 */
#include "arp_path.h"

SEC("classifier")
int weft_arp_path(struct __sk_buff *skb)
{
	struct frame *frame = take_in(skb);

	if (!frame)
		return TC_ACT_SHOT;
	return then_tell(skb, frame, receive(skb, frame));
}

char _license[] SEC("license") = "Dual MIT/GPL";
