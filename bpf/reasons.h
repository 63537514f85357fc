/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Why a frame goes no further. The reasons have the names and numbers of `DropReason` in
 * crates/switching; behind them those for which crates/wire refuses a Path frame or a tag, and the kernel's.
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
	RULE, /* this and the next are of a central controller: no program has them */
	NOT_RELEASED,
	SHORT,
	VERSION,
	TYPE,
	NO_MEMORY, /* for a frame to grow */
	MISSING, /* a tag names no gate */
	REPEATED, /* a tag behind a tag */
	GSO, /* several segments that the kernel holds together, which can have no tag */
	REASONS,
	NO_REASON = REASONS,
	COMES_AGAIN, /* none: the frame comes in once more, behind one of the switch's own */
};
