/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Events for `weftctl trace`: how stations and flows are found. Written while tracing is on.
 */
#pragma once

#include "frame.h"

enum what {
	EXPLORED,   /* a segment was wrapped and flooded from its source's edge */
	FLOW_LOCKED,
	LATE,       /* a late copy of a flood was dropped */
	DELIVERED,  /* a wrapped segment leaves for its destination */
	CONFIRMED,  /* a flow's path, which leads to the initiator by this port */
	RECOVERING, /* the edge explores a path for a flow */
	FAILED,     /* the other end's edge is notified that a path is broken */
	STATION_LOCKED,
	STATION_LEARNT,
};

struct event {
	__u64 time;
	__u64 src, dst; /* ends of the frame or flow */
	__u32 id;       /* of the exploration */
	__u16 sport, dport;
	__u16 port;
	__u8 what;
	__u8 kind; /* of the frame that caused it */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} weft_trace SEC(".maps");

/* Whether tracing is on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} weft_tracing SEC(".maps");

/* An end is an address and, in the lower 16 bits, a TCP port. */
static __noinline int write_event(const struct frame *f, __u32 what, __u64 from, __u64 to, __u32 id)
{
	struct event *event = bpf_ringbuf_reserve(&weft_trace, sizeof(*event), 0);

	if (!event)
		return 0;
	event->time = settings.testing ? f->now : bpf_ktime_get_ns();
	event->src = from >> 16;
	event->dst = to >> 16;
	event->id = id;
	event->sport = from;
	event->dport = to;
	event->port = what;
	event->what = what >> 16;
	event->kind = f->kind;
	event->reserved = 0;
	bpf_ringbuf_submit(event, 0);
	return 0;
}

static __always_inline bool is_traced(void)
{
	__u32 zero = 0, *wanted = bpf_map_lookup_elem(&weft_tracing, &zero);

	return wanted && *wanted;
}

/* An event about the frame's ends. */
static __always_inline void trace_frame(const struct frame *f, __u8 what, __u16 port)
{
	if (is_traced())
		write_event(f, what << 16 | port, f->src << 16 | f->sport, f->dst << 16 | f->dport, f->id);
}

/* An event about a station. */
static __always_inline void trace_station(const struct frame *f, __u8 what, __u64 station, __u16 port)
{
	if (is_traced())
		write_event(f, what << 16 | port, station << 16, 0, 0);
}
