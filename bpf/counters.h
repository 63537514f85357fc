/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Counters of frames, in total and by port.
 */
#pragma once

#include <linux/pkt_cls.h>

#include "trace.h"

struct counters {
	__u64 dropped[REASONS];
	__u64 consumed;  /* frames for the switch itself, and frames that are received once more */
	__u64 forwarded; /* flooded ones once */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} weft_counters SEC(".maps");

struct port_counters {
	__u64 received, received_bytes;
	__u64 sent, sent_bytes;
	__u64 dropped; /* of those received */
	__u64 gso;     /* of those dropped: GSO frames, which cannot be tagged */
	__u64 too_long; /* not sent: longer than the port's link takes */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct port_counters);
} weft_port_counters SEC(".maps");

static __always_inline struct counters *the_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&weft_counters, &zero);
}

/* Counts a received frame and sets its port. */
static __always_inline void arrive(struct __sk_buff *skb, struct frame *f)
{
	struct port_counters *count;

	f->port = ingress_port(skb);
	count = bpf_map_lookup_elem(&weft_port_counters, &f->port);
	if (count) {
		count->received++;
		count->received_bytes += skb->len;
	}
}

static __always_inline void leave(struct __sk_buff *skb, __u32 port)
{
	struct port_counters *count = bpf_map_lookup_elem(&weft_port_counters, &port);

	if (count) {
		count->sent++;
		count->sent_bytes += skb->len;
	}
}

/* Whether the link takes the frame, which is counted otherwise. Segments of a GSO frame are cut to the packets that the host
 * would send. */
static __always_inline bool fits(const struct __sk_buff *skb, const struct port *port, __u32 number)
{
	struct port_counters *count;

	if (!port->longest || skb->gso_size || skb->len <= port->longest)
		return true;
	count = bpf_map_lookup_elem(&weft_port_counters, &number);
	if (count)
		count->too_long++;
	return false;
}

/* A global function: verified once, separately. */
__noinline int drop(const struct frame *f, enum reason reason)
{
	struct counters *count = the_counters();
	struct port_counters *port;

	if (!f)
		return TC_ACT_SHOT;
	port = bpf_map_lookup_elem(&weft_port_counters, &f->port);
	if (count && reason < REASONS)
		count->dropped[reason]++;
	if (port)
		port->dropped++;
	if (reason == LATE_COPY)
		trace_frame(f, LATE, f->port);
	return TC_ACT_SHOT;
}

static __always_inline int consume(int action)
{
	struct counters *count = the_counters();

	if (count)
		count->consumed++;
	return action;
}

static __always_inline int forwarded(int action)
{
	struct counters *count = the_counters();

	if (count)
		count->forwarded++;
	return action;
}

/* Counts and parses a frame; NULL if it was dropped. */
static __always_inline struct frame *take_in(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct frame *f = bpf_map_lookup_elem(&weft_frames, &zero);

	if (!f)
		return NULL;
	*f = (struct frame){};
	f->now = time_now();
	arrive(skb, f);
	if (f->port == NO_PORT) {
		drop(f, UNKNOWN_PORT);
		return NULL;
	}
	if (!read_frame(skb, f)) {
		drop(f, SHORT);
		return NULL;
	}
	return f;
}

/* Reads only the Ethernet header and VLAN tags; false if the frame was dropped. */
static __always_inline bool take_in_plain(struct __sk_buff *skb, struct frame *f)
{
	arrive(skb, f);
	if (f->port == NO_PORT) {
		drop(f, UNKNOWN_PORT);
		return false;
	}
	if (!read_ethernet(skb, f)) {
		drop(f, SHORT);
		return false;
	}
	return true;
}
