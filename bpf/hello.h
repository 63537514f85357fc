/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Which frames are taken from which ports (crates/switching/src/hello.rs). Hosts are not trusted: on a
 * host port nothing counts that only switches may send.
 */
#pragma once

#include "counters.h"

/* A Hello is taken from every port; what only switches may send from those with a switch behind. */
static __always_inline enum reason refuses(const struct frame *f)
{
	if (f->kind == HELLO || is_fabric(f->port, f->now))
		return NO_REASON;
	/* No station has a group's address or none (IEEE 802, 8.2): a bridge takes no such frame either. */
	if (is_control(f) || f->marked || !f->src)
		return UNTRUSTED;
	return is_host(f->port, f->now) ? NO_REASON : UNKNOWN_PORT;
}

/* Spanning tree, LACP, LLDP and the like, which the machine itself may read: no switch forwards them. */
static __always_inline bool is_for_machine(const struct frame *f)
{
	return is_link_local(f->dst) && !is_control(f);
}

/* The daemon reads Hellos, from ports that may lead to a switch. */
static __always_inline int on_hello(const struct frame *f)
{
	struct port *port = port_at(f->port);

	return port && port->may_be_fabric ? consume(TC_ACT_OK) : drop(f, UNTRUSTED);
}
