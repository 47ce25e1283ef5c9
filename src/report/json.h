/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (json-c), one object per line. Text from the kernel or another process must go through
 * json_text(), which escapes the same as base/escape.h: the output is valid UTF-8, safe on a
 * terminal, and equal to the text in tables.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* These take over the value and return false if out of memory (also for a value NULL), so that
 * calls can be chained by &&. */
bool json_put(json_object *to, const char *key, json_object *value);
bool json_append(json_object *array, json_object *value);
/* All of it if it is `good`; else NULL, and it is freed. */
json_object *json_whole(json_object *all, bool good);

bool json_put_text(json_object *to, const char *key, const char *text);    /* NULL: left out */
bool json_put_integer(json_object *to, const char *key, int64_t value);
bool json_put_unsigned(json_object *to, const char *key, uint64_t value);
bool json_put_number(json_object *to, const char *key, double value);      /* NaN and infinity: left out */
bool json_put_bool(json_object *to, const char *key, bool value);

/* Escaped text; NULL: out of memory. */
json_object *json_text(const char *text, size_t len);
/* Whole numbers have no decimals; NULL for infinity and NaN. */
json_object *json_number(double value);

/* Prints root as one line and releases it. good: the result of the calls that filled it. 0,
 * -ENOMEM if it is false, or -EIO. */
int json_line(json_object *root, bool good, FILE *out);
/* json_line() as an indented document of several lines. */
int json_document(json_object *root, bool good, FILE *out);
#endif
