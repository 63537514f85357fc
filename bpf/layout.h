/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * The sizes that crates/switchd/src/layout.rs expects.
 */
#pragma once

#include "floods.h"

_Static_assert(sizeof(struct settings) == 128, "settings");
_Static_assert(sizeof(struct test) == 24, "test");
_Static_assert(sizeof(struct port) == 24, "port");
_Static_assert(sizeof(struct flood_key) == 32, "flood_key");
_Static_assert(sizeof(struct flood) == 16, "flood");
_Static_assert(sizeof(struct copy) == 2056, "copy");
_Static_assert(sizeof(struct port_counters) == 40, "port_counters");
_Static_assert(sizeof(struct event) == 40, "event");
_Static_assert(sizeof(struct counters) == 176, "counters");
