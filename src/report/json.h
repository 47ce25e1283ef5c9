/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (json-c), one object per line. Text that came from the kernel or another process goes
 * through json_text(): what base/escape.h escapes is escaped here the same way, so that the
 * output is valid UTF-8 and safe on a terminal, and equals what the tables show.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Each takes over its value and returns false when there was no memory (a value NULL is
 * that), so that calls can be chained by &&. */
bool json_put(json_object *to, const char *key, json_object *value);
bool json_append(json_object *array, json_object *value);

bool json_put_text(json_object *to, const char *key, const char *text);    /* NULL: left out */
bool json_put_integer(json_object *to, const char *key, int64_t value);
bool json_put_unsigned(json_object *to, const char *key, uint64_t value);
bool json_put_number(json_object *to, const char *key, double value);      /* no number: left out */
bool json_put_bool(json_object *to, const char *key, bool value);

/* Escaped text; NULL without memory. */
json_object *json_text(const char *text, size_t len);
/* Whole numbers stay whole; NULL for infinities and what is no number. */
json_object *json_number(double value);

/* Prints root as one line and releases it. good: the result of the calls that filled it. 0,
 * -ENOMEM when that is false, or -EIO. */
int json_line(json_object *root, bool good, FILE *out);
#endif
