/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The ports of the switch, and the neighbour of each (crates/switching/src/hello.rs). Written by the
 * daemon, which reads Hellos; programs only read them.
 */
#pragma once

#include "settings.h"

#define MAX_PORTS 64
#define NO_PORT 0xffff

enum way { WAY_UP, WAY_DOWN, WAY_LEVEL, WAY_HOST, WAY_UNKNOWN };

struct port {
	__u64 neighbour_until; /* until when a neighbouring switch is considered up */
	__u64 host_from;       /* a host port from this time on; 2^63 - 1: never */
	__u32 ifindex;         /* 0: no such port */
	__u32 longest;         /* maximum frame that the link takes, in bytes without the outer VLAN tag; 0: any */
	__u8 up;
	__u8 way;              /* direction of the neighbour's tier, if configured */
	__u8 may_be_fabric;    /* whether a Hello may turn it into a fabric port */
	__u8 last_resort;      /* whether other ports are preferred: the neighbour is not heard or does not hear
	                        * this switch, the link loses frames, or Hellos cannot be sent */
	__u8 reserved[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct port);
} weft_ports SEC(".maps");

/* Port numbers by interface. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} weft_interfaces SEC(".maps");

static __always_inline __u32 ingress_port(const struct __sk_buff *skb)
{
	__u32 ifindex = skb->ingress_ifindex, *number;

	if (settings.testing) {
		struct test *given = the_test();

		return given ? given->port : NO_PORT;
	}
	number = bpf_map_lookup_elem(&weft_interfaces, &ifindex);
	return number ? *number : NO_PORT;
}

static __always_inline struct port *port_at(__u32 number)
{
	return bpf_map_lookup_elem(&weft_ports, &number);
}

/* By the sign of the difference: with a comparison, the verifier would track the implied range of `now` for
 * each outcome, which is too complex in a loop over ports. */
static __always_inline bool is_past(__u64 time, __u64 now)
{
	return (__s64)(time - now) <= 0;
}

static __always_inline bool is_fabric(__u32 number, __u64 now)
{
	struct port *port = port_at(number);

	return port && !is_past(port->neighbour_until, now);
}

static __always_inline bool is_host(__u32 number, __u64 now)
{
	struct port *port = port_at(number);

	return port && port->up && is_past(port->host_from, now);
}

static __always_inline bool is_known(__u32 number, __u64 now)
{
	return is_fabric(number, now) || is_host(number, now);
}
