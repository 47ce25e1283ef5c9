/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from a debuginfod server, only if the user asks for it: build ids reveal which
 * programs run here. Uses libdebuginfod, loaded when it is first needed, in a child process that
 * changes from root to nobody, cannot run programs and writes only to its own folder: answers
 * from the network are parsed without privilege. Servers and cache folders set in the environment
 * are ignored.
 */
#ifndef SYMBOLS_ELF_DEBUGINFOD_H
#define SYMBOLS_ELF_DEBUGINFOD_H

#include "base/helpers.h"

#include <stddef.h>
#include <stdint.h>

/* A descriptor of the debug file for that build id. `urls` as in DEBUGINFOD_URLS. -ENOSYS:
 * libdebuginfod is missing; -ENOENT: no server has it; -ETIME. May take half a minute. */
int debuginfod_fetch(const char *urls, const uint8_t *build_id, size_t size, const struct helpers *helpers);
#endif
