/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include "base/escape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool json_put(json_object *to, const char *key, json_object *value)
{
	if (value && !json_object_object_add(to, key, value))
		return true;
	json_object_put(value);
	return false;
}

json_object *json_whole(json_object *all, bool good)
{
	if (good)
		return all;
	json_object_put(all);
	return NULL;
}

bool json_append(json_object *array, json_object *value)
{
	if (value && !json_object_array_add(array, value))
		return true;
	json_object_put(value);
	return false;
}

json_object *json_text(const char *text, size_t len)
{
	char small[512], *buf = small;
	size_t size = 4 * len + 1;   /* each byte as \xNN */
	json_object *o;

	if (size > sizeof(small))
		buf = malloc(size);
	if (!buf)
		return NULL;
	len = escape_terminal(text, len, buf, size);
	o = json_object_new_string_len(buf, (int)len);
	if (buf != small)
		free(buf);
	return o;
}

json_object *json_number(double value)
{
	char text[40];

	if (isinf(value) || isnan(value))
		return NULL;
	if (value == floor(value) && fabs(value) < 9e15)
		return json_object_new_int64((int64_t)value);
	snprintf(text, sizeof(text), "%.12g", value);
	return json_object_new_double_s(value, text);
}

bool json_put_text(json_object *to, const char *key, const char *text)
{
	return !text || json_put(to, key, json_text(text, strlen(text)));
}

bool json_put_integer(json_object *to, const char *key, int64_t value)
{
	return json_put(to, key, json_object_new_int64(value));
}

bool json_put_unsigned(json_object *to, const char *key, uint64_t value)
{
	return json_put(to, key, json_object_new_uint64(value));
}

bool json_put_number(json_object *to, const char *key, double value)
{
	return isinf(value) || isnan(value) || json_put(to, key, json_number(value));
}

bool json_put_bool(json_object *to, const char *key, bool value)
{
	return json_put(to, key, json_object_new_boolean(value));
}

static int print(json_object *root, bool good, int style, FILE *out)
{
	const char *text = root && good ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE | style) : NULL;
	int rc = text ? 0 : -ENOMEM;

	if (text && fprintf(out, "%s\n", text) < 0)
		rc = -EIO;
	json_object_put(root);
	return rc;
}

int json_line(json_object *root, bool good, FILE *out)
{
	return print(root, good, 0, out);
}

int json_document(json_object *root, bool good, FILE *out)
{
	return print(root, good, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED, out);
}
