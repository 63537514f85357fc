/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The sizes that crates/switchd/src/layout.rs expects.
 */
#pragma once

#include "send.h"

_Static_assert(sizeof(struct settings) == 160, "settings");
_Static_assert(sizeof(struct test) == 32, "test");
_Static_assert(sizeof(struct port) == 24, "port");
_Static_assert(sizeof(struct copy) == 2056, "copy");
_Static_assert(sizeof(struct port_counters) == 48, "port_counters");
_Static_assert(sizeof(struct event) == 40, "event");
_Static_assert(sizeof(struct counters) == 200, "counters");
