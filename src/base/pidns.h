/* SPDX-License-Identifier: Apache-2.0 */
/* The PID namespace of this process: what its ids mean. */
#ifndef BASE_PIDNS_H
#define BASE_PIDNS_H

#include <stdbool.h>

/* Whether it is the kernel's first one, whose ids the fields of tracepoints have. Without /proc
 * it is taken for that. */
bool pidns_is_initial(void);
/* Whether /proc shows its ids, and not those of the namespace around it. */
bool pidns_has_proc(void);
#endif
