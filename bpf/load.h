/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Loads bytes of a frame.
 */
#pragma once

#include "settings.h"

#define DEEPEST 1024 /* offset, a power of 2, below which bytes are accessed directly */

typedef __u32 __attribute__((may_alias)) word;
typedef __u16 __attribute__((may_alias)) half;

#define ALIGNED __attribute__((aligned(sizeof(word))))

/* Copies `len` bytes from `at` to `to`, which is ALIGNED: directly from the linear part of the frame, where
 * headers usually are, otherwise by a helper, which costs two calls. False if the frame is too short. */
static __always_inline bool load(struct __sk_buff *skb, __u32 at, void *to, const __u32 len)
{
	void *bytes = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u64 offset = at;

	/* The verifier needs a bound on the register that is added. */
	asm volatile("%0 &= %1" : "+r"(offset) : "i"(DEEPEST - 1));
	bytes += offset;
	if (at >= DEEPEST || bytes + len > end)
		return !bpf_skb_load_bytes(skb, at, to, len);
	if (len % sizeof(word)) {
		for (__u32 i = 0; i < len / sizeof(half); i++)
			((half *)to)[i] = ((half *)bytes)[i];
	} else {
		for (__u32 i = 0; i < len / sizeof(word); i++)
			((word *)to)[i] = ((word *)bytes)[i];
	}
	return true;
}
