/* SPDX-License-Identifier: Apache-2.0 */
/* Open files: their limit (RLIMIT_NOFILE; each event needs a file per task and CPU), and which are closed. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Makes sure that n more files can be opened: raises the soft limit, and the hard one if the
 * kernel allows it (CAP_SYS_RESOURCE), by no more than needed. False if that many cannot be
 * opened; the soft limit is then as high as possible. */
bool descriptors_reserve(size_t n);
/* Closes all descriptors but these two, which may be equal. */
void descriptors_close_but(int one, int two);
/* Closes what this process was started with, apart from the standard streams and these two (-1: none): all that exec(2) would pass
 * on, since descriptors of our own are close-on-exec. False: they cannot be listed. */
bool descriptors_close_inherited(int one, int two);
/* The current limit and what to do, as the end of a message. more: descriptors that are needed beside those that are open; 0:
 * not known. */
const char *descriptors_remedy(size_t more, char *buf, size_t size);
/* Text to follow strerror(code) in a message: "; " and the remedy, or nothing if code is not
 * about descriptors. */
const char *descriptors_hint(int code, char *buf, size_t size);
/* stdout is /dev/null until descriptors_show_stdout() gets the result; for children that are forked meanwhile. -1: it
 * is unchanged. */
int descriptors_hide_stdout(void);
void descriptors_show_stdout(int own);
#endif
