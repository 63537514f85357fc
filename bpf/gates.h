/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The gates of the switch (crates/switching/src/tag_forward/gate_table.rs), which the daemon writes: all in
 * one value, so that a frame uses either the old or the new ones, never a mix.
 */
#pragma once

#include "ports.h"

#define GATE_TABLES 8 /* one of which is current */
#define GATE_BITS 10
#define GATE_PLACES (1 << GATE_BITS)

/* The flag of a port's gate, with the numbers of `FLAGS` in crates/switchd/src/tags/gates.rs. */
enum gate_role { NO_GATE, PLAIN, SRV, EXT, ASS };

enum direction { DOWN, UP };

struct gate {
	__u32 number; /* 0: none */
	__u8 port;
	__u8 direction;
	__u16 reserved;
};

struct gates {
	__u32 divisors[2];            /* by direction */
	__u32 multiplier;             /* of a hash without collisions */
	__u32 layer;                  /* of the switch; read only by the daemon */
	__u8 roles[MAX_PORTS];        /* by port */
	struct gate places[GATE_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GATE_TABLES);
	__type(key, __u32);
	__type(value, struct gates);
} weft_gates SEC(".maps");

/* The current tables: of gates, and of kinds of rules. */
enum { CURRENT_GATES, CURRENT_KINDS, CURRENTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CURRENTS);
	__type(key, __u32);
	__type(value, __u32);
} weft_current SEC(".maps");

static __always_inline __u32 current_table(__u32 which)
{
	__u32 *table = bpf_map_lookup_elem(&weft_current, &which);

	return table ? *table : 0;
}

static __always_inline __u8 role_at(const struct gates *known, __u32 port)
{
	return port < MAX_PORTS ? known->roles[port] : NO_GATE;
}

/* Whether tags are popped there: a host or an external network is behind it. */
static __always_inline bool pops(__u8 role)
{
	return role == SRV || role == EXT;
}

/* The gate with this number. */
static __always_inline const struct gate *gate_at(const struct gates *known, __u32 number)
{
	const struct gate *gate = &known->places[number * known->multiplier >> (32 - GATE_BITS)];

	return number && gate->number == number ? gate : NULL;
}

/* Whether frames may leave by a port. The daemon writes decisions, not deadlines, so no time is compared. */
static __always_inline bool carries(const struct port *port)
{
	return port->neighbour_until || (port->up && !port->host_from);
}
