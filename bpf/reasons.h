/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Why a frame is dropped. The reasons have the names and numbers of `DropReason` in crates/switching, followed
 * by those of crates/wire for an invalid Path frame or tag, and the kernel's.
 */
#pragma once

enum reason {
	QUEUE_FULL,
	LINK_DOWN,
	NO_ROUTE,
	NOT_FOR_ME,
	SAME_PORT,
	LATE_COPY,
	UNTRUSTED,
	REPAIRING,
	STALE,
	TOO_MANY_HOPS,
	DEAD_END,
	UNKNOWN_PORT,
	RATE_LIMITED,
	RETURNED,
	RULE, /* this and the next belong to a central controller: unused by programs */
	NOT_RELEASED,
	LINK_LOSS, /* this and the next belong to the simulator's gray failures: unused by programs */
	BLACKHOLE,
	SHORT,
	VERSION,
	TYPE,
	NO_MEMORY, /* to extend a frame */
	MISSING, /* a tag without a gate */
	REPEATED, /* a tag after a tag */
	GSO, /* a GSO frame, which cannot be tagged */
	TOO_LONG, /* for the link of its egress port */
	REASONS,
	NO_REASON = REASONS,
	COMES_AGAIN, /* not dropped: the frame is received once more, after one of the switch's own */
};
