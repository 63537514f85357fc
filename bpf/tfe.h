/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * TFE: TCP-Path for elephant flows, ARP-Path for the rest (crates/switching/src/tfe.rs). A flow is classified by
 * TCP ports or DSCP, and explored from its SYN on; or by bytes carried, and then moved.
 */
#pragma once

#include "tcp_path.h"

/* The bytes carried by a flow from a host port, until it is moved. */
struct load {
	__u64 expiry;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 20);
	__type(key, struct flow);
	__type(value, struct load);
} weft_carried SEC(".maps");

static __always_inline bool is_in_range(__u16 port)
{
	return port >= settings.first_port && port <= settings.last_port;
}

/* Whether a flow is explored from its SYN on. */
static __always_inline bool selects(const struct frame *f)
{
	return settings.classifier == BY_DSCP ? f->traffic_class >> 2 == settings.dscp :
						is_in_range(f->sport) || is_in_range(f->dport);
}

/* Counts a segment from a host port, and moves its flow once it has carried enough. */
static __noinline int count(struct frame *f)
{
	struct flow flow = to_source(f), back = to_destination(f);
	struct load *load, fresh = { .expiry = f->now + settings.confirmed, .bytes = f->payload };
	__u64 bytes = f->payload;

	/* A flow with an entry has been moved, at least in one direction. */
	if (is_fabric(f->port, f->now) || !f->payload || path_at(&flow, f->now) || path_at(&back, f->now))
		return 0;
	load = bpf_map_lookup_elem(&weft_carried, &flow);
	if (load && load->expiry > f->now) {
		load->expiry = fresh.expiry;
		bytes += __sync_fetch_and_add(&load->bytes, bytes);
	} else {
		bpf_map_update_elem(&weft_carried, &flow, &fresh, BPF_ANY);
	}
	if (bytes >= settings.elephant_bytes) {
		bpf_map_delete_elem(&weft_carried, &flow);
		recover_for_host(f);
	}
	return 0;
}

/* A TCP segment of a flow that is not explored from its SYN on, but may have been moved. */
static __always_inline int on_moved(struct __sk_buff *skb, struct frame *f)
{
	int refused = learn_source(skb, f);

	if (refused != NO_REASON)
		return refuse(f, refused);
	count(f);
	return on_data(skb, f);
}

static __always_inline int on_segment(struct __sk_buff *skb, struct frame *f)
{
	if (settings.classifier == BY_BYTES)
		return on_moved(skb, f);
	return selects(f) ? on_tcp(skb, f) : receive(skb, f);
}
