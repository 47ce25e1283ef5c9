/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{ "B", 1 },
	{ "K", 1ULL << 10 }, { "KB", 1ULL << 10 }, { "KiB", 1ULL << 10 },
	{ "M", 1ULL << 20 }, { "MB", 1ULL << 20 }, { "MiB", 1ULL << 20 },
	{ "G", 1ULL << 30 }, { "GB", 1ULL << 30 }, { "GiB", 1ULL << 30 },
	{ "T", 1ULL << 40 }, { "TB", 1ULL << 40 }, { "TiB", 1ULL << 40 },
	{ NULL, 0 },
};

static const struct unit durations[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ NULL, 0 },
};

static int digit(char c, unsigned int base)
{
	int v = isdigit((unsigned char)c) ? c - '0'
	      : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : 16;

	return v < (int)base ? v : -1;
}

/* Parses digits at *p; -EINVAL if there are none. -ERANGE is returned only after all digits, so
 * that the caller can report "99999999999999999999x" as malformed rather than too big. */
static int take_digits(const char **p, unsigned int base, uint64_t *out)
{
	const char *start = *p;
	uint64_t v = 0;
	int err = 0;

	for (int d; (d = digit(**p, base)) >= 0; ++*p)
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v))
			err = -ERANGE;
	*out = v;
	return *p == start ? -EINVAL : err;
}

int units_take(const char **p, uint64_t *out)
{
	bool hex = (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');

	*p += hex ? 2 : 0;
	return take_digits(p, hex ? 16 : 10, out);
}

/* A number with a sign. A negative number is well formed, but out of range. */
static int take_number(const char **p, uint64_t *out)
{
	bool negative = **p == '-';
	int err;

	*p += negative;
	err = units_take(p, out);
	return !err && negative ? -ERANGE : err;
}

static const struct unit *find_unit(const struct unit *table, const char *name,
				    int (*equal)(const char *, const char *))
{
	for (; table->name; table++)
		if (!equal(table->name, name))
			return table;
	return NULL;
}

int units_u64(const char *text, uint64_t *out)
{
	uint64_t v = 0;
	int err = take_number(&text, &v);

	if (*text)
		return -EINVAL;
	if (!err)
		*out = v;
	return err;
}

int units_i64(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	uint64_t v = 0;
	int err;

	text += negative || *text == '+';
	if (*text == '-')
		return -EINVAL;
	err = units_u64(text, &v);
	if (!err && v > (uint64_t)INT64_MAX + negative)
		err = -ERANGE;
	if (!err)
		*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return err;
}

static int with_unit(const char *text, const struct unit *table,
		     int (*equal)(const char *, const char *), uint64_t *out, int *has_unit)
{
	const struct unit *unit = NULL;
	uint64_t v = 0;
	int err = take_number(&text, &v);

	if (*text && !(unit = find_unit(table, text, equal)))
		return -EINVAL;
	if (!err && unit && __builtin_mul_overflow(v, unit->factor, &v))
		err = -ERANGE;
	if (err)
		return err;
	*out = v;
	if (has_unit)
		*has_unit = unit != NULL;
	return 0;
}

int units_size(const char *text, uint64_t *bytes, int *has_unit)
{
	return with_unit(text, sizes, strcasecmp, bytes, has_unit);
}

int units_duration(const char *text, uint64_t *ns)
{
	return with_unit(text, durations, strcmp, ns, NULL);
}

char *units_bytes_text(uint64_t bytes, char *buf, size_t size)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	size_t i = 0;

	/* 1023.5 would be printed as 1024. */
	while (v >= 1023.5 && i + 1 < sizeof(names) / sizeof(names[0])) {
		v /= 1024;
		i++;
	}
	if (v < 9.95 && (uint64_t)(v * 10 + 0.5) % 10)
		snprintf(buf, size, "%.1f %s", v, names[i]);
	else
		snprintf(buf, size, "%.0f %s", v, names[i]);
	return buf;
}

char *units_duration_text(uint64_t ns, char *buf, size_t size)
{
	enum { SECONDS = 3 };
	size_t i = SECONDS;

	while (i && ns < durations[i].factor)
		i--;
	snprintf(buf, size, "%.9g %s", (double)ns / (double)durations[i].factor, durations[i].name);
	return buf;
}
