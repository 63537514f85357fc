/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Inputs: settings, time, random numbers. A test supplies all three; in production the verifier knows that
 * `testing` is 0 and removes those branches.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* How elephants are classified, mode tfe. */
enum classifier { BY_PORTS, BY_DSCP, BY_BYTES };

struct settings {
	__u64 lock;           /* lifetime of a station locked by a request, in ns like all times */
	__u64 learnt;         /* lifetime of a learnt station */
	__u64 attached;       /* lifetime of a station on a host port of this switch */
	__u64 broadcast_lock; /* how long a source's broadcasts stay locked to a port */
	__u64 repair;         /* minimum time between two repairs */
	__u64 confirmed;      /* lifetime of a flow confirmed by a reply */
	__u64 closing;        /* lifetime of a flow after FIN or RST */
	__u64 refresh_after;  /* age at which a path is explored again; 0: never */
	__u64 rate_gap;       /* token bucket of explorations from a host port: time per token */
	__u64 rate_slack;     /* the same bucket: its size, as a time */
	__u64 flood_gap;      /* the same for floods started from a host port */
	__u64 flood_slack;
	__u64 station_gap;    /* the same for stations added or moved */
	__u64 station_slack;
	__u64 hash_key;       /* of the flow hash */
	__u64 elephant_bytes; /* after which a flow is moved, mode tfe by bytes */
	__u64 membership;     /* lifetime of members and routers of groups */
	__u16 hello_type;     /* EtherTypes */
	__u16 path_type;
	__u16 first_port;     /* of elephants, mode tfe by ports */
	__u16 last_port;
	__u8 dscp;            /* of elephants, mode tfe by DSCP */
	__u8 classifier;
	__u8 hops;            /* hop limit of flooded frames */
	__u8 valley_free;     /* whether frames from a higher tier are only forwarded downwards */
	__u8 fixed_order;     /* whether copies of a flood leave in order of ports */
	__u8 recovers;        /* whether a path is explored for a flow without an entry */
	__u8 detours;         /* whether a frame whose port is dead uses the default forwarding */
	__u8 testing;
	__u8 down_bits;       /* of a tag */
	__u8 sprays;          /* whether a frame takes a random way of its group instead of its flow's */
	__u16 tag_type;       /* EtherType */
	__u16 queue_major;    /* of the traffic classes, QID + 1; 0: none */
	__u8 floods_unknown;  /* whether a frame to an unknown station is flooded instead of dropped */
	__u8 announces;       /* whether a new station on a port is announced to the other switches */
	__u8 snoops;          /* whether IGMP and MLD are read */
	__u8 has_router;      /* whether messages of a routing daemon are passed to the machine */
	__u8 reserved[6];
};

const volatile struct settings settings = {};

/* A test's input with a frame. */
struct test {
	__u64 now;
	__u32 port; /* ingress */
	__u32 drawn;
	__u32 random[4]; /* numbers to draw, in order */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct test);
} weft_test SEC(".maps");

static __always_inline struct test *the_test(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&weft_test, &zero);
}

static __always_inline __u64 time_now(void)
{
	if (settings.testing) {
		struct test *given = the_test();

		return given ? given->now : 0;
	}
	/* Up to a tick old, 1 to 10 ms: lifetimes are longer, and the exact time costs as much as a table
	 * lookup. Linux 5.11. */
	return bpf_ktime_get_coarse_ns();
}

static __always_inline __u32 draw(void)
{
	if (settings.testing) {
		struct test *given = the_test();

		return given ? given->random[given->drawn++ & 3] : 0;
	}
	return bpf_get_prandom_u32();
}
