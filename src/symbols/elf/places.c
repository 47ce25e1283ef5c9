/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/places.h"

#include "base/room.h"
#include "symbols/elf/symsource.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------ */

/* Names of functions as people write them. */

static const char *skip(const char *p)
{
	return p + strspn(p, " ");
}

bool place_name_is(const char *wanted, const char *name)
{
	for (wanted = skip(wanted), name = skip(name); *wanted == *name; wanted = skip(wanted + 1), name = skip(name + 1))
		if (!*wanted)
			return true;
	return false;
}

bool place_is_glob(const char *text)
{
	return text[strcspn(text, "*?")];
}

bool place_glob_matches(const char *glob, const char *name)
{
	const char *star = NULL, *back = NULL;

	for (;;) {
		glob = skip(glob);
		name = skip(name);
		if (*glob == '*') {
			star = ++glob;
			back = name;
		} else if (!*name) {
			return !*glob;
		} else if (*glob == '?' || *glob == *name) {
			glob++;
			name++;
		} else if (star) {
			glob = star;
			name = ++back;
		} else {
			return false;
		}
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static const char symbols[] = "<>=-+*/%^&|~!,";

/* The bytes of "operator<<" and the like at p, which are behind `before`; 0: there is none. */
static size_t operator_length(const char *p, char before)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	return is_word(before) || strncmp(p, word, len) ? 0 : len + strspn(p + len, symbols);
}

/* Whether arguments can follow: "add<int>", "operator<< <int>". */
static bool takes_arguments(const char *name, size_t len)
{
	return len && (is_word(name[len - 1]) || (len > 1 && name[len - 1] == ' ' && strchr(symbols, name[len - 2])));
}

/* The bytes of the arguments that begin with "<" at p; 0: they don't end. */
static size_t arguments_length(const char *p)
{
	size_t depth = 0;

	for (size_t i = 0; p[i]; i++) {
		depth += p[i] == '<';
		if (p[i] == '>' && p[i - 1] != '-' && !--depth)
			return i + 1;
	}
	return 0;
}

void place_name_plain(const char *name, char *buf)
{
	size_t out = 0;

	while (*name) {
		const char before = out ? buf[out - 1] : '\0';
		size_t len = operator_length(name, before), arguments = *name == '<' && takes_arguments(buf, out) ? arguments_length(name) : 0;

		if (arguments) {
			name += arguments;
			continue;
		}
		if (!len)
			len = 1;
		memcpy(buf + out, name, len);
		out += len;
		name += len;
	}
	buf[out] = '\0';
}

bool place_name_ends(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *p = name; len && p; p = strstr(p, "::") ? strstr(p, "::") + 2 : NULL)
		if (!strncmp(p, part, len) && (!p[len] || strchr("<(.[ ", p[len])))
			return true;
	return false;
}

/* ---- the parser's answer, as untrusted as the file ------------------------------ */

static const char *take_string(const char **p, const char *end)
{
	const char *text = *p, *zero = memchr(text, '\0', (size_t)(end - text));

	if (zero)
		*p = zero + 1;
	return zero ? text : NULL;
}

static bool take_place(struct place *place, const char **p, const char *end)
{
	const char **const strings[PLACE_STRINGS] = { &place->name, &place->bare, &place->symbol, &place->args };
	struct place_head head;

	if ((size_t)(end - *p) < sizeof(head))
		return false;
	memcpy(&head, *p, sizeof(head));
	*p += sizeof(head);
	place->offset = head.offset;
	place->counter = head.counter;
	place->address = head.address;
	place->size = head.size;
	place->chooses = head.chooses;
	for (int i = 0; i < PLACE_STRINGS; i++) {
		*strings[i] = take_string(p, end);
		if (!*strings[i])
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	return by_name ? by_name : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct places *out)
{
	size_t n = 0;

	if (out->n)
		qsort(out->all, out->n, sizeof(*out->all), compare);
	for (size_t i = 0; i < out->n; i++)
		if (!n || compare(&out->all[n - 1], &out->all[i]))
			out->all[n++] = out->all[i];
	out->n = n;
}

static int unpack(struct places *out)
{
	const char *p = out->bytes.data, *end = p + out->bytes.size;
	struct places_head head;
	size_t room = 0;

	if (out->bytes.size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, p, sizeof(head));
	if (head.match > PLACES_SYMBOL)
		return -EBADMSG;
	out->match = (enum places_match)head.match;
	out->seen = head.seen;
	for (p += sizeof(head); p < end; out->n++) {
		if (!ROOM_FOR(out->all, room, out->n, 1))
			return -ENOMEM;
		if (!take_place(&out->all[out->n], &p, end))
			return -EBADMSG;
	}
	sort(out);
	return 0;
}

/* ---- questions ------------------------------------------------------------------ */

static int ask(struct places *out, struct parser *p, int fd, int debug, enum places_kind kind, const char *wanted)
{
	size_t size = strlen(wanted) + 2;
	struct parser_question q = { .kind = PARSER_PLACES, .fds = { fd, debug }, .nfds = debug < 0 ? 1 : 2, .size = size };
	char *text = malloc(size);
	int rc;

	*out = (struct places){ 0 };
	if (!text)
		return -ENOMEM;
	text[0] = kind == PLACES_USDT;
	memcpy(text + 1, wanted, size - 1);
	q.bytes = text;
	rc = parser_ask(p, &q, &out->bytes);
	free(text);
	if (!rc)
		rc = unpack(out);
	if (rc)
		places_free(out);
	return rc;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Searches the debug file of a file that does not name all its functions. */
static int ask_with_debug(struct places *out, struct parser *p, int fd, const char *path, const char *wanted)
{
	int debug = -1;
	struct symfile *f = symsource_open(p, &opener_direct, fd, 0, path, &debug);
	struct places more;

	symfile_free(f);
	if (debug < 0)
		return 0;
	if (!same_file(fd, debug) && !ask(&more, p, fd, debug, PLACES_FUNCTIONS, wanted)) {
		places_free(out);
		*out = more;
	}
	close(debug);
	return 0;
}

int places_find(struct places *out, struct parser *p, int fd, const char *path, enum places_kind kind, const char *wanted)
{
	int rc = ask(out, p, fd, -1, kind, wanted);

	return !rc && kind == PLACES_FUNCTIONS && out->match < PLACES_BARE ? ask_with_debug(out, p, fd, path, wanted) : rc;
}

void places_free(struct places *places)
{
	free(places->all);
	parser_bytes_free(&places->bytes);
	*places = (struct places){ 0 };
}
