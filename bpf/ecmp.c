/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The mode `ecmp`: each flow on one of the next hops to its destination, chosen by a hash with the
 * switch's key (crates/switching/src/ecmp.rs). Attached to the ingress of every port.
 */
#include "routes.h"

SEC("classifier")
int weft_ecmp(struct __sk_buff *skb)
{
	return receive_routed(skb, false);
}

char _license[] SEC("license") = "Dual MIT/GPL";
