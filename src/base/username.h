/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_USERNAME_H
#define BASE_USERNAME_H

#include <stddef.h>
#include <sys/types.h>

/* The user's name, or "user 12" if it has none. */
void username_of(uid_t uid, char *name, size_t size);
#endif
