/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFEVENT_PARSE_USDT_H
#define PERFEVENT_PARSE_USDT_H

#include "perfevent.h"

/* As pev_usdt_open(), with a descriptor, which stays the caller's. The result has no path: it is for
 * pev_usdt_at() only. */
int pev_usdt_begin_(struct pev_usdt **out, int fd);
#endif
