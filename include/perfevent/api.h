/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/api.h - what all other headers of the library begin with */
#ifndef PEV_API_H
#define PEV_API_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Marks what the shared library exports, and libperfevent.map lists. */
#define PEV_API __attribute__((visibility("default")))

#endif
