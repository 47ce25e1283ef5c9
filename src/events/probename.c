/* SPDX-License-Identifier: Apache-2.0 */
#include "events/probename.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$:@"

static const struct probe_word words[] = {
	{ "kprobe", PROBE_KERNEL, false, false, "kprobe:FUNCTION[+OFFSET]" },
	{ "kretprobe", PROBE_KERNEL, true, false, "kretprobe:FUNCTION" },
	{ "uprobe", PROBE_USER, false, false, "uprobe:FUNCTION[+OFFSET]@FILE" },
	{ "uretprobe", PROBE_USER, true, false, "uretprobe:FUNCTION@FILE" },
	{ "usdt", PROBE_USER, false, true, "usdt:PROVIDER:NAME@FILE" },
};

const struct probe_word *probe_word_of(const struct spec_item *item)
{
	for (size_t i = 0; item->sys && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].word, item->sys))
			return &words[i];
	return NULL;
}

size_t probe_name_place(const struct spec_item *item, size_t at)
{
	return item->at + strlen(item->sys) + 1 + at;
}

/* People paste it into a shell, which runs what is in double quotes: then "?" stands for a single quote. */
static void put_text(const char *text, bool plain, char *buf, size_t size)
{
	const bool both = strchr(text, '\'') && strpbrk(text, "$`\\!\"");
	char quote = strchr(text, '\'') && !both ? '"' : '\'';

	if (plain)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "%c%s%c", quote, text, quote);
	for (char *p = both && *buf ? strchr(buf + 1, '\'') : NULL; p && p[1]; p = strchr(p, '\''))
		*p = '?';
}

void probe_function_text(const char *function, const char *symbol, char buf[PROBE_FUNCTION_SIZE])
{
	const bool fits = strlen(function) + 2 < PROBE_FUNCTION_SIZE && !(strchr(function, '\'') && strchr(function, '"'));
	const char *name = fits || !*symbol ? function : symbol;

	put_text(name, !name[strspn(name, LETTERS)], buf, PROBE_FUNCTION_SIZE);
}

void probe_path_text(const char *path, char *buf, size_t size)
{
	put_text(path, !path[strcspn(path, " \t,@'\"<>=!~&|(){}*?[")] && !strstr(path, "//"), buf, size);
}

/* ---- parts -------------------------------------------------------------------- */

/* Length of the string in quotes at text; 0: there is none. */
static size_t quoted(const char *text)
{
	const char *end = text[0] == '"' || text[0] == '\'' ? strchr(text + 1, text[0]) : NULL;

	return end ? (size_t)(end + 1 - text) : 0;
}

/* The "@" before the file; NULL: there is none. A file without quotes may have one, too, after a slash. */
static const char *find_path(const char *name)
{
	const char *found = NULL;

	for (const char *p = name; *p && *p != '/';) {
		size_t n = quoted(p);

		if (n && found && p == found + 1)
			break;
		if (*p == '@')
			found = p;
		p += n ? n : 1;
	}
	return found;
}

static int take_path(const struct spec_item *item, const char *at, struct probe_name *out, struct fault *f)
{
	size_t len = strlen(at), in = quoted(at) == len ? 1 : 0;

	out->path_at = probe_name_place(item, (size_t)(at - item->name));
	at += in;
	len = len > 2 * in ? len - 2 * in : 0;
	if (!len)
		return spec_fault(f, item, out->path_at, "the path of the file is missing", out->kind->expected);
	if (len >= sizeof(out->path))
		return spec_fault(f, item, out->path_at, "the path is too long", out->kind->expected);
	memcpy(out->path, at, len);
	out->path[len] = '\0';
	return 0;
}

/* The "+" of an offset, or NULL: operator+ and operator++ are names. */
static const char *find_plus(const char *name, size_t len)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1, in = quoted(name);
	const char *plus = memchr(name + in, '+', len - in);

	if (plus && (size_t)(plus - name) >= n && !memcmp(plus - n, word, n))
		plus = memchr(plus + 1 + (plus[1] == '+'), '+', len - (size_t)(plus + 1 + (plus[1] == '+') - name));
	return plus;
}

static int take_offset(const struct spec_item *item, const char *plus, size_t len, struct probe_name *out, struct fault *f)
{
	size_t at = probe_name_place(item, (size_t)(plus - item->name));
	char number[64];

	if (out->kind->at_return)
		return spec_fault(f, item, at, "a return probe cannot have an offset", out->kind->expected);
	number[0] = '\0';
	if (len - 1 < sizeof(number)) {
		memcpy(number, plus + 1, len - 1);
		number[len - 1] = '\0';
	}
	if (units_u64(number, &out->offset))
		return spec_fault(f, item, at + 1, "not an offset", "bytes after the function's start, such as +0x10");
	return 0;
}

/* ---- the function --------------------------------------------------------------- */

static int check_function(const struct spec_item *item, size_t len, struct probe_name *out, struct fault *f)
{
	const char *name = out->function, *colon = strchr(name, ':');
	size_t good = out->kind->space == PROBE_KERNEL ? strspn(name, LETTERS) : strlen(name);

	if (!name[0] || name[good])
		return spec_fault(f, item, probe_name_place(item, name[0] ? good : 0), "not a function's name",
				  out->kind->expected);
	if (out->kind->usdt && (!colon || colon == name || !colon[1]))
		return spec_fault(f, item, probe_name_place(item, 0), "not a probe's name", out->kind->expected);
	out->glob = out->kind->space == PROBE_USER && name[strcspn(name, "*?")];
	if (out->glob && out->offset)
		return spec_fault(f, item, probe_name_place(item, len), "an offset in several functions",
				  "the name of one function, or no offset");
	return 0;
}

static int take_function(const struct spec_item *item, size_t len, struct probe_name *out, struct fault *f)
{
	const char *plus = out->kind->usdt ? NULL : find_plus(item->name, len);
	size_t own = plus ? (size_t)(plus - item->name) : len, in = own && quoted(item->name) == own ? 1 : 0;

	if (own >= sizeof(out->function))
		return spec_fault(f, item, probe_name_place(item, 0), "the name is too long", out->kind->expected);
	memcpy(out->function, item->name + in, own - 2 * in);
	out->function[own - 2 * in] = '\0';
	if (plus && take_offset(item, plus, len - own, out, f))
		return -1;
	return check_function(item, own, out, f);
}

int probe_name_parse(const struct spec_item *item, struct probe_name *out, struct fault *f)
{
	const struct probe_word *kind = probe_word_of(item);
	const char *at = kind->space == PROBE_USER ? find_path(item->name) : NULL;
	size_t len = at ? (size_t)(at - item->name) : strlen(item->name);

	*out = (struct probe_name){ .kind = kind };
	if (kind->space == PROBE_USER && !at)
		return spec_fault(f, item, probe_name_place(item, len), "the file to probe is missing", kind->expected);
	if (at && take_path(item, at + 1, out, f))
		return -1;
	return take_function(item, len, out, f);
}
