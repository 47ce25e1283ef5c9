/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of libperfevent as messages for the user. */
#ifndef STREAM_STATE_PEVFAULT_H
#define STREAM_STATE_PEVFAULT_H

#include "base/fault.h"

#include <perfevent.h>

/* Sets f from err. Returns -1. */
int fault_from_pev(struct fault *f, int exit_code, const struct pev_error *err);
#endif
