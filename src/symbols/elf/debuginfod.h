/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from a debuginfod server, for who asked for that: build ids tell others what
 * runs here. Through libdebuginfod, loaded when it is first needed, in a child process that
 * is nobody where this one is root, runs nothing and writes only to its own folder: a network's
 * answers are parsed without privilege, and neither the environment's servers nor its folders are
 * heard.
 */
#ifndef SYMBOLS_ELF_DEBUGINFOD_H
#define SYMBOLS_ELF_DEBUGINFOD_H

#include "base/helpers.h"

#include <stddef.h>
#include <stdint.h>

/* A descriptor of the debug file for that build id. `urls` as in DEBUGINFOD_URLS. -ENOSYS:
 * there is no libdebuginfod; -ENOENT: no server has it; -ETIME. May take half a minute. */
int debuginfod_fetch(const char *urls, const uint8_t *build_id, size_t size, const struct helpers *helpers);
#endif
