/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `arp-path`: hosts are found by racing their ARP Requests and Neighbour Solicitations
 * through the fabric. Attached to the ingress of every port.
 */
#include "arp_path.h"
#include "layout.h"

SEC("classifier")
int arp_path(struct __sk_buff *skb)
{
	struct frame *frame = arrive(skb);

	if (!frame)
		return TC_ACT_SHOT;
	if (frame->port == NO_PORT)
		return drop(frame, UNKNOWN_PORT);
	if (!read_frame(skb, frame))
		return drop(frame, SHORT);
	return receive(skb, frame);
}

char _license[] SEC("license") = "Dual MIT/GPL";
