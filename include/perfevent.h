/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfevent.h - everything perf_event_open(2) can do, without its pitfalls.
 *
 * Conventions of the whole library
 *   - A function that can fail returns 0 (or a value >= 0) on success and -errno on
 *     failure. Where a user may have to read the reason, it also fills a struct
 *     pev_error, which may be NULL.
 *   - The library prints nothing, keeps no global state and starts no thread.
 *     Different objects may be used from different threads at the same time;
 *     one object belongs to one thread at a time.
 *   - Times are ns, sizes are bytes and ring sizes are pages unless said otherwise.
 *   - No byte from a ring may be trusted until pev_decode() has checked it.
 */
#ifndef PERFEVENT_H
#define PERFEVENT_H

/* By subject; each can be included alone, in any order. */
#include "perfevent/error.h"
#include "perfevent/kernel.h"
#include "perfevent/attr.h"
#include "perfevent/names.h"
#include "perfevent/pmu.h"
#include "perfevent/probe.h"
#include "perfevent/parse.h"
#include "perfevent/target.h"
#include "perfevent/event.h"
#include "perfevent/group.h"
#include "perfevent/self.h"
#include "perfevent/ring.h"
#include "perfevent/aux.h"
#include "perfevent/record.h"
#include "perfevent/text.h"
#include "perfevent/features.h"

#endif
