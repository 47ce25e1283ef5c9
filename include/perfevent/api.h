/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/api.h - included by all other headers of the library */
#ifndef PEV_API_H
#define PEV_API_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Exports a function from the shared library; it must also be in libperfevent.map. */
#define PEV_API __attribute__((visibility("default")))

#endif
