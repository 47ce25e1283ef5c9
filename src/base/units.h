/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units as users type them, checked to the last character. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* All return 0, -EINVAL (not a number, empty, trailing text) or -ERANGE (overflow, negative). */
int units_u64(const char *text, uint64_t *out);                 /* decimal or 0x hex */
/* Parses the number at *p, decimal or 0x hex, and moves *p behind its digits. */
int units_take(const char **p, uint64_t *out);
int units_i64(const char *text, int64_t *out);                  /* the same, with a sign */
/* "8M", "64K", "1G", "4096B": bytes. *has_unit: whether there was a unit. */
int units_size(const char *text, uint64_t *bytes, int *has_unit);
/* "10ms" "1s" "500us" "2m"; a bare number is ns. */
int units_duration(const char *text, uint64_t *ns);
/* The plural "s" for a noun after a number: "%d event%s". */
static inline const char *units_plural(uint64_t n)
{
	return &"s"[n == 1];
}
/* "1.5 MiB", "812 KiB": for messages. Returns buf. */
char *units_bytes_text(uint64_t bytes, char *buf, size_t size);
/* "10 ns", "812.5 us", "10 ms", "90 s": for messages. Returns buf. */
char *units_duration_text(uint64_t ns, char *buf, size_t size);
#endif
