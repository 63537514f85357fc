/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Sends the current frame, if it fits the link.
 */
#pragma once

#include "counters.h"

#define COPY_BYTES 2048

/* A frame that would have been sent in a test. */
struct copy {
	__u32 port, len;
	__u8 bytes[COPY_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} weft_sent SEC(".maps");

/* Copies the start of the frame, including its outer VLAN tag; returns the length of the whole frame. */
static __always_inline __u32 copy_bytes(struct __sk_buff *skb, __u8 *to)
{
	__u32 len = skb->len;

	if (skb->vlan_present) {
		struct {
			__be16 protocol, tci;
		} tag = { .protocol = skb->vlan_proto, .tci = bpf_htons(skb->vlan_tci) };

		bpf_skb_load_bytes(skb, 0, to, ADDRESSES_LEN);
		__builtin_memcpy(to + ADDRESSES_LEN, &tag, sizeof(tag));
		len -= ADDRESSES_LEN;
		if (len > COPY_BYTES - ADDRESSES_LEN - TAG_LEN)
			len = COPY_BYTES - ADDRESSES_LEN - TAG_LEN;
		if (len > 0)
			bpf_skb_load_bytes(skb, ADDRESSES_LEN, to + ADDRESSES_LEN + TAG_LEN, len);
		return skb->len + TAG_LEN;
	}
	if (len > COPY_BYTES)
		len = COPY_BYTES;
	if (len > 0)
		bpf_skb_load_bytes(skb, 0, to, len);
	return skb->len;
}

static __always_inline void record(struct __sk_buff *skb, __u32 port)
{
	struct copy *copy = bpf_ringbuf_reserve(&weft_sent, sizeof(*copy), 0);

	if (!copy)
		return;
	copy->port = port;
	copy->len = copy_bytes(skb, copy->bytes);
	bpf_ringbuf_submit(copy, 0);
}

/* Hands the frame, which fits, to a port; with `copies`, a copy.
 *
 * A frame of a host on this machine still belongs to the socket that sent it, and a redirect leaves it so: TCP small
 * queues would count frames that wait anywhere in the fabric as waiting at the host. A clone belongs to no socket.
 */
static __always_inline int hand_over(struct __sk_buff *skb, const struct port *port, __u32 number, bool copies)
{
	leave(skb, number);
	if (settings.testing) {
		record(skb, number);
		return TC_ACT_REDIRECT;
	}
	if (!copies && !skb->sk)
		return bpf_redirect(port->ifindex, 0);
	bpf_clone_redirect(skb, port->ifindex, 0);
	return TC_ACT_SHOT;
}

/* Sends a copy of the frame out of a port; false if it is too long for the link. */
static __always_inline bool send_copy(struct __sk_buff *skb, __u32 number)
{
	struct port *port = port_at(number);

	if (!port || !fits(skb, port, number))
		return false;
	hand_over(skb, port, number, true);
	return true;
}

/* Forwards the frame out of a port, with `copies` a copy, or drops it if it is too long for the link. */
static __always_inline int send(struct __sk_buff *skb, const struct frame *f, __u32 number, bool copies)
{
	struct port *port = port_at(number);

	if (!port || !fits(skb, port, number))
		return drop(f, TOO_LONG);
	return forwarded(hand_over(skb, port, number, copies));
}
