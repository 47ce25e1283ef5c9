/* SPDX-License-Identifier: Apache-2.0 */
/* The PID namespace of this process. */
#ifndef BASE_PIDNS_H
#define BASE_PIDNS_H

#include <stdbool.h>

/* Its number; 0 without /proc. */
unsigned long pidns_number(void);
/* Whether it is the initial namespace, to which the ids in tracepoint fields belong. True without /proc. */
bool pidns_is_initial(void);
/* Whether /proc shows the ids of this namespace, and not those of an outer one. */
bool pidns_has_proc(void);
#endif
