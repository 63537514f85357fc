/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Frames without a rule, passed to the daemon, which may receive a rule for them.
 */
#pragma once

#include "ends.h"
#include "limits.h"
#include "send.h"

struct miss {
	__u32 port; /* ingress */
	__u32 len;  /* of the frame, whose start follows */
	__be32 source[4], destination[4];
	__u32 is_v6;
	__u8 bytes[COPY_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} weft_misses SEC(".maps");

static __noinline int tell_miss(struct __sk_buff *skb, const struct frame *f, const struct ends *ends)
{
	struct miss *miss;

	if (!take_token(EXPLORATIONS, f->port, time_now()))
		return 0;
	miss = bpf_ringbuf_reserve(&weft_misses, sizeof(*miss), 0);
	if (!miss)
		return 0;
	miss->port = f->port;
	__builtin_memcpy(miss->source, ends->packet.source, sizeof(miss->source));
	__builtin_memcpy(miss->destination, ends->packet.destination, sizeof(miss->destination));
	miss->is_v6 = ends->is_v6;
	miss->len = copy_bytes(skb, miss->bytes);
	bpf_ringbuf_submit(miss, 0);
	return 0;
}
