/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Untagged frames: looked up once, and sent by their rule
 * (crates/switching/src/tag_forward/switch.rs).
 */
#pragma once

#include "flow_hash.h"
#include "flows.h"
#include "hello.h"
#include "misses.h"
#include "tags.h"

/* With the names of `Counters` in crates/switching/src/tag_forward/switch.rs. */
struct tag_counters {
	__u64 lookups, misses, pushed, popped, forwarded, tags_of_hosts;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tag_counters);
} weft_tag_counters SEC(".maps");

static __always_inline struct tag_counters *the_tag_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&weft_tag_counters, &zero);
}

/* Adds one to a counter of `struct tag_counters`. */
#define COUNT_TAG(name)                                              \
	do {                                                         \
		struct tag_counters *counters = the_tag_counters(); \
		if (counters)                                        \
			counters->name++;                            \
	} while (0)

/* The egress port of a frame and UP of its tag, or the reason to drop it, in one number: global functions return
 * only a scalar. */
#define CHOSEN(port, up) ((__u64)(port) << 32 | (up))
#define NOT_CHOSEN(reason) (1ULL << 63 | (reason))

#define DEAD_PORT MAX_PORTS /* the gate exists, but its port is down */

/* The port of a gate that accepts new frames. A global function, verified separately, like the next one. */
__noinline __u32 open_port(__u32 table, __u32 number)
{
	const struct gates *known = bpf_map_lookup_elem(&weft_gates, &table);
	const struct gate *gate = known ? gate_at(known, number) : NULL;
	struct port *port = gate ? port_at(gate->port) : NULL;

	if (!port)
		return NO_PORT;
	return port->up && carries(port) ? gate->port : DEAD_PORT;
}

/* One of a group's ways: the one selected by 32 uniform bits, or the next one with a usable gate
 * (crates/switching/src/tag_forward/choice.rs). */
__noinline __u64 choose_way(__u32 id, __u32 table, __u32 random)
{
	const struct group *group = bpf_map_lookup_elem(&weft_groups, &id);
	enum reason reason = NO_ROUTE;
	__u32 first, at, port;

	if (!group)
		return NOT_CHOSEN(NO_ROUTE);
	first = (__u64)random * group->count >> 32;
	for (__u32 i = 0; i < MAX_WAYS && i < group->count; i++) {
		at = first + i;
		if (at >= group->count)
			at -= group->count;
		at &= MAX_WAYS - 1;
		port = open_port(table, group->ways[at].gate);
		if (port < MAX_PORTS)
			return CHOSEN(port, group->ways[at].up);
		if (port == DEAD_PORT)
			reason = LINK_DOWN;
	}
	return NOT_CHOSEN(reason);
}

/* The egress port for a frame by its rule. */
static __always_inline __u64 choose_by(struct __sk_buff *skb, const struct frame *f, const struct ends *ends,
				       const struct rule *rule, const struct gates *known, __u32 table)
{
	const struct gate *gate;
	__u32 random;

	if (!rule->to_group) {
		gate = gate_at(known, rule->to);
		return gate ? CHOSEN(gate->port, rule->up) : NOT_CHOSEN(NO_ROUTE);
	}
	if (settings.sprays)
		random = draw();
	else
		random = mix64(packet_hash(skb, f, &ends->packet) ^ settings.hash_key) >> 32;
	return choose_way(rule->to, table, random);
}

/* Why frames from `ingress` cannot leave by a port, or NO_REASON. */
static __always_inline enum reason refuses_to_leave(__u32 ingress, __u32 number)
{
	struct port *port = port_at(number);

	if (number == ingress)
		return SAME_PORT;
	return port && carries(port) ? NO_REASON : LINK_DOWN;
}

/* Selects the traffic class of the QID, if classes are configured. */
static __always_inline void put_into_queue(struct __sk_buff *skb, __u8 queue)
{
	if (settings.queue_major)
		skb->priority = (__u32)settings.queue_major << 16 | (queue + 1);
}

/* GSO frames are segmented by their protocol, which the kernel does not know for a tagged frame. */
static __noinline int drop_gso(const struct frame *f)
{
	struct port_counters *count = bpf_map_lookup_elem(&weft_port_counters, &f->port);

	if (count)
		count->gso++;
	return drop(f, GSO);
}

/* An untagged frame; with `tags` it is tagged, unless it leaves the fabric. */
static __always_inline int steer(struct __sk_buff *skb, const struct frame *f, const struct gates *known,
				 __u32 table, const bool tags)
{
	enum reason refused;
	struct ends ends = {};
	struct rule *rule;
	__u32 port, up;
	__u64 chosen;

	if (!read_ends(skb, f, &ends))
		return drop(f, NO_ROUTE);
	COUNT_TAG(lookups);
	rule = find_rule(&ends);
	if (!rule) {
		COUNT_TAG(misses);
		tell_miss(skb, f, &ends);
		return drop(f, NO_ROUTE);
	}
	chosen = choose_by(skb, f, &ends, rule, known, table);
	port = chosen >> 32;
	up = chosen;
	if (chosen >> 63)
		return drop(f, up);
	refused = refuses_to_leave(f->port, port);
	if (refused != NO_REASON)
		return drop(f, refused);
	if (tags && !pops(role_at(known, port))) {
		if (!up && !rule->down)
			return drop(f, NO_ROUTE);
		if (skb->gso_size)
			return drop_gso(f);
		if (!push_tag(skb, f, make_tag(rule->queue, up, rule->down)))
			return drop(f, NO_MEMORY);
		COUNT_TAG(pushed);
	}
	put_into_queue(skb, rule->queue);
	return send(skb, f, port, false);
}

/* An untagged frame. Frames that only switches may send are refused from hosts, and link-local frames are never
 * forwarded. */
static __always_inline int receive_untagged(struct __sk_buff *skb, const struct frame *f, const bool tags)
{
	__u32 table = current_table(CURRENT_GATES);
	const struct gates *known = bpf_map_lookup_elem(&weft_gates, &table);
	__u8 role = known ? role_at(known, f->port) : NO_GATE;
	bool is_hello = f->ethertype == settings.hello_type;

	/* Neighbours are discovered before there are gates. */
	if (is_hello && !pops(role))
		return on_hello(f);
	if (!is_hello && f->ethertype != settings.path_type && is_link_local(f->dst))
		return consume(TC_ACT_OK);
	if (!known || role == NO_GATE)
		return drop(f, UNKNOWN_PORT);
	if (is_hello || f->ethertype == settings.path_type)
		return drop(f, pops(role) ? UNTRUSTED : STALE);
	return steer(skb, f, known, table, tags);
}
