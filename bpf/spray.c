/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `spray`: each frame to a random one of the next hops to its destination, drawn independently
 * (crates/switching/src/spray.rs). Attached to the ingress of every port.
 */
#include "routes.h"

SEC("classifier")
int weft_spray(struct __sk_buff *skb)
{
	return receive_routed(skb, true);
}

char _license[] SEC("license") = "Dual MIT/GPL";
