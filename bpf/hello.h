/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Which frames are accepted from which ports (crates/switching/src/hello.rs). Hosts are not trusted: frames
 * that only switches may send are refused on host ports.
 */
#pragma once

#include "counters.h"

/* Hellos and probes are accepted from every port; other frames that only switches may send, from fabric ports. */
static __always_inline enum reason refuses(const struct frame *f)
{
	if (f->kind == HELLO || is_fabric(f->port, f->now))
		return NO_REASON;
	/* No station has a group address or a zero address (IEEE 802, 8.2): bridges drop such frames too. */
	if (is_control(f) || f->marked || !f->src)
		return UNTRUSTED;
	return is_host(f->port, f->now) ? NO_REASON : UNKNOWN_PORT;
}

/* Spanning tree, LACP, LLDP and similar, which the machine itself may read: never forwarded. */
static __always_inline bool is_for_machine(const struct frame *f)
{
	return is_link_local(f->dst) && !is_control(f);
}

/* Passes Hellos to the daemon, from ports that may become fabric ports, and probes, which are sent to all stations, from
 * every port (crates/switching/src/loop_guard.rs). */
static __always_inline int on_hello(const struct frame *f)
{
	struct port *port = port_at(f->port);

	return port && (port->may_be_fabric || f->dst == BROADCAST) ? consume(TC_ACT_OK) : drop(f, UNTRUSTED);
}
