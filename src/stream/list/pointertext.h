/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text behind a pointer of a system call, which is in the memory of the program: syscalls:sys_enter_openat has only the address
 * of `filename`. In filename=="x" the kernel takes the address for one of its own, and finds nothing: the filter is never true.
 * Since Linux 5.19 filename.ustring=="x" compares the text; since 6.19 the event has it, in __filename_val.
 */
#ifndef STREAM_LIST_POINTERTEXT_H
#define STREAM_LIST_POINTERTEXT_H

#include "expr/expr.h"
#include "stream/asked/event.h"

struct pointertext {
	char field[64];                 /* as it is written in a filter for the kernel: "filename.ustring" */
	char instead[400];              /* the comparison with it */
};

/* Whether the event's filter compares such a text by the pointer, or as bpftrace writes it: str(args->filename). Then err says
 * so, except what is expected. */
bool pointertext_compared(const struct stream_event *event, const struct expr_schema *schema, struct pointertext *found,
			  struct expr_error *err);
#endif
