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

/* How elephants are told, mode tfe. */
enum classifier { BY_PORTS, BY_DSCP, BY_BYTES };

struct settings {
	__u64 lock;           /* life of a station that a request has locked, in ns like all times */
	__u64 learnt;         /* life of a station that is known */
	__u64 attached;       /* life of a station on a host port of this switch */
	__u64 broadcast_lock; /* how long a source's broadcasts are locked to a port */
	__u64 repair;         /* how long a repair goes on before the next is started */
	__u64 confirmed;      /* life of a flow that a reply has confirmed */
	__u64 closing;        /* life of a flow once FIN or RST was seen */
	__u64 refresh_after;  /* age of a path at which a better one is looked for; 0: never */
	__u64 rate_gap;       /* between explorations that a host port may start in the long run */
	__u64 rate_slack;     /* what a burst of them may run ahead */
	__u64 flood_gap;      /* the same two of floods that the frames from a host port start */
	__u64 flood_slack;
	__u64 station_gap;    /* and of stations that they add or move */
	__u64 station_slack;
	__u64 hash_key;       /* under which flows are hashed */
	__u64 elephant_bytes; /* what a flow has carried when it is moved, mode tfe by bytes */
	__u32 longest;        /* frame that a fabric port sends, in bytes without the outer VLAN tag */
	__u16 hello_type;     /* EtherTypes */
	__u16 path_type;
	__u16 first_port;     /* of elephants, mode tfe by ports */
	__u16 last_port;
	__u8 dscp;            /* of elephants, mode tfe by DSCP */
	__u8 classifier;
	__u8 hops;            /* how often a flooded frame may be sent on */
	__u8 valley_free;     /* whether what came down a tier only goes down */
	__u8 fixed_order;     /* whether copies of a flood leave in order of ports */
	__u8 recovers;        /* whether a flow without an entry gets a path of its own */
	__u8 detours;         /* whether a frame that meets a dead port goes by the default forwarding */
	__u8 testing;
	__u8 down_bits;       /* of a tag */
	__u8 sprays;          /* whether a frame takes any way of its group, else that of its flow */
	__u16 tag_type;       /* EtherType */
	__u16 queue_major;    /* of the classes that frames queue in by QID, counted from 1; 0: by none */
	__u8 floods_unknown;  /* whether a frame to a station that is not known is flooded, else dropped */
	__u8 announces;       /* whether a station that is new at a port is announced to the other switches */
	__u8 reserved[4];
};

const volatile struct settings settings = {};

/* What a test hands in with a frame. */
struct test {
	__u64 now;
	__u32 port; /* the port that the frame comes in on */
	__u32 drawn;
	__u32 random[4]; /* what is drawn, in order */
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
	/* As old as a tick, 1 to 10 ms: lives are longer, and the exact time costs as much as a look into a
	 * table. Linux 5.11. */
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
