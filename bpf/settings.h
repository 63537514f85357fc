/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * What is handed in: settings, time, random numbers. A test hands in all three; in production the
 * verifier knows that `testing` is 0, and takes those branches out.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct settings {
	__u64 lock;           /* life of a station that a request has locked, in ns like all times */
	__u64 learnt;         /* life of a station that is known */
	__u64 attached;       /* life of a station on a host port of this switch */
	__u64 broadcast_lock; /* how long a source's broadcasts are locked to a port */
	__u64 repair;         /* how long a repair goes on before the next is started */
	__u64 confirmed;      /* life of a flow that a reply has confirmed */
	__u64 closing;        /* life of a flow once FIN or RST was seen */
	__u64 rate_gap;       /* between explorations that a host port may start in the long run */
	__u64 rate_slack;     /* what a burst of them may run ahead */
	__u64 sweep_gap;      /* least time between two sweeps of a full table of floods */
	__u16 hello_type;     /* EtherTypes */
	__u16 path_type;
	__u8 hops;            /* how often a flooded frame may be sent on */
	__u8 valley_free;     /* whether what came down a tier only goes down */
	__u8 fixed_order;     /* whether copies of a flood leave in order of ports */
	__u8 testing;
	__u32 longest;        /* frame that a fabric port sends, in bytes */
	__u32 reserved;
};

const volatile struct settings settings = {};

/* What a test hands in with a frame. */
struct test {
	__u64 now;
	__u32 port; /* the port that the frame comes in on */
	__u32 id;   /* what is drawn as the number of an exploration */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct test);
} test SEC(".maps");

static __always_inline struct test *the_test(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&test, &zero);
}

static __always_inline __u64 time_now(void)
{
	if (settings.testing) {
		struct test *given = the_test();

		return given ? given->now : 0;
	}
	return bpf_ktime_get_ns();
}

static __always_inline __u32 draw_id(void)
{
	if (settings.testing) {
		struct test *given = the_test();

		return given ? given->id : 0;
	}
	return bpf_get_prandom_u32();
}
