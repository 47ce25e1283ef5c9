/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of every event of this kernel, over random fields: ours is libtraceevent's.
 * Needs a readable tracefs.
 */
#include "live.h"

#include "../helpers/library_print.h"
#include "tracefmt/enumerators.h"

#include <ctype.h>
#include <dirent.h>
#include <event-parse.h>
#include <netinet/tcp.h>
#include <regex.h>
#include <sys/socket.h>

enum { MAX_RAW = 4096, ROUNDS = 200, MOST = 8 };

/* For a build with ASan: libtraceevent leaks what it had of a "print fmt" it gives up. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

struct sample {
	const struct tracefmt *fmt;
	unsigned char raw[MAX_RAW];
	uint32_t size;
};

static uint64_t seed = 88172645463325252ULL;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 2685821657736338717ULL;
}

static uint64_t below(uint64_t n)
{
	return (any() >> 20) % n;
}

/* ---- plausible fields ----------------------------------------------------------------- */

/* Small ones, in and out of tables; one bit and several; all sizes, all signs. */
static uint64_t any_number(void)
{
	switch (below(8)) {
	case 0:
	case 1:
		return below(40);
	case 2:
		return UINT64_C(1) << below(64);
	case 3:
		return UINT64_C(1) << below(64) | UINT64_C(1) << below(64);
	case 4:
		return 0 - below(40);
	case 5:
		return any() >> below(64);
	case 6:
		return 0;
	default:
		return any();
	}
}

/* How wild the numbers of a pass are. */
enum pass { TAME, POSITIVE, ANY, PASSES };

static void put_number(struct sample *s, const struct trace_field *f, enum pass pass)
{
	uint64_t n = pass == TAME ? 1 + below(30) : any_number();

	if (f->kind == FIELD_SINT && pass == POSITIVE)
		n &= (UINT64_C(1) << (8 * f->size - 1)) - 1;
	memcpy(s->raw + f->offset, &n, f->size);
}

/* With a NUL, as the kernel has it; now and then no UTF-8. */
static void put_text(unsigned char *at, uint32_t size)
{
	uint32_t len = (uint32_t)below(size);

	memset(at, 0, size);
	for (uint32_t i = 0; i < len; i++)
		at[i] = (unsigned char)(below(16) ? ' ' + below(95) : 1 + below(255));
}

/* Addresses of sockets, too, where there is room for one. */
static void put_bytes(unsigned char *at, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		at[i] = (unsigned char)(below(3) ? any() : below(2) ? 0 : 0xff);
	if (size >= 16 && below(2)) {
		at[0] = below(2) ? AF_INET : AF_INET6;
		at[1] = 0;
	}
}

/* With room for what counts it, MOST: a text that __print_hex() shows is one as well. */
static void put_dynamic(struct sample *s, const struct trace_field *f)
{
	bool text = f->kind == FIELD_DYN_STR || f->kind == FIELD_REL_STR;
	bool relative = f->kind == FIELD_REL_STR || f->kind == FIELD_REL_BYTES;
	uint32_t len = text ? MOST + (uint32_t)below(24) : 8 * (MOST + (uint32_t)below(5));
	uint32_t at = s->size, loc;

	if (text)
		put_text(s->raw + at, len);
	else
		put_bytes(s->raw + at, len);
	loc = len << 16 | (relative ? at - f->offset - 4 : at);
	memcpy(s->raw + f->offset, &loc, 4);
	s->size += (len + 3) & ~3u;
}

static void put_field(struct sample *s, const struct trace_field *f, enum pass pass)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		put_number(s, f, pass);
		break;
	case FIELD_STR:
		put_text(s->raw + f->offset, f->size);
		break;
	case FIELD_BYTES:
		put_bytes(s->raw + f->offset, f->size);
		break;
	default:
		put_dynamic(s, f);
	}
}

/* ---- fields that count others --------------------------------------------------------- */

static void limit(struct sample *s, const struct tep_print_arg *arg)
{
	for (size_t i = 0; arg && arg->type == TEP_PRINT_FIELD && i < s->fmt->nfields; i++) {
		const struct trace_field *f = &s->fmt->fields[i];
		uint64_t n = below(MOST + 1);

		if (!strcmp(f->name, arg->field.name))
			memcpy(s->raw + f->offset, &n, f->size);
	}
}

/* How many bytes __print_hex() and __print_array() show: no more than there are. */
static void limit_counts(struct sample *s, const struct tep_print_arg *arg)
{
	for (; arg; arg = arg->next)
		switch (arg->type) {
		case TEP_PRINT_HEX:
		case TEP_PRINT_HEX_STR:
			limit(s, arg->hex.size);
			break;
		case TEP_PRINT_INT_ARRAY:
			limit(s, arg->int_array.count);
			break;
		default:
			break;
		}
}

static void fill(struct sample *s, const struct tracefmt *fmt, const struct tep_event *ev, enum pass pass)
{
	memset(s->raw, 0, sizeof(s->raw));
	s->fmt = fmt;
	s->size = (fmt->min_size + 3u) & ~3u;
	for (size_t i = 0; i < fmt->nfields; i++)
		put_field(s, &fmt->fields[i], pass);
	limit_counts(s, ev->print_fmt.args);
	if (ev->print_fmt.args && strstr(ev->print_fmt.format, "*s"))
		for (const struct tep_print_arg *arg = ev->print_fmt.args; arg; arg = arg->next)
			if (arg->next && (arg->next->type == TEP_PRINT_OP ||
					  arg->next->type == TEP_PRINT_STRING))
				limit(s, arg);
	memcpy(s->raw + fmt->id_offset, &fmt->id, 2);
}

/* ---- where libtraceevent is wrong ------------------------------------------------------- */

/* By what its "print fmt" has, an event's text may differ, from that pass on. */
static const struct {
	const char *pattern;     /* extended regular expression */
	enum pass from;
	const char *why;
} wrong[] = {
	{ "%-?[0-9]*c", TAME, "it has no %c, and the arguments behind it are one off" },
	{ "%-?[0-9]+s.*__print_(flags|symbolic)", TAME,
	  "it pads each name of a flag, and no number without a name" },
	{ "(^|[^A-Z])![^=]", TAME, "its ! takes in the operators behind, a ? included" },
	{ " < [(]", TAME, "its < binds less than the ? behind" },
	{ "[(]bool[)]", TAME, "a bool stays what it was" },
	{ "->[a-z_]+\\[[1-9]|[)]\\[[1-9]", TAME, "an index into bytes isn't scaled" },
	{ "[{] ?-|[{] ?\\(* ?-|[{] ?[(]*[A-Z][A-Za-z_0-9]*", POSITIVE,
	  "a negative value, or one the kernel left by its name, is -1; for no flags it prints it" },
	{ "%[*]p", TAME, "it has no masks behind a pointer" },
	{ "& [(]0x[0-9a-f]+ [|]", TAME, "it loses such parentheses" },
	{ "- REC->[a-z_]+ [+]", TAME, "it subtracts from right to left" },
	{ "REC->[a-z_]+ == 0 [?] 0 : .*/ REC->", TAME, "it gives up over a division, and prints fields" },
	{ "== [0-9]+[)]? [?] \"[^\"]*\" : [(]?REC->[a-z_]+ ==", TAME, "of a ?: behind a ?: it takes the last branch" },
	{ "& [(][(][(][(]1UL[)][)] << [(]1[)][)][|]", TAME, "it loses such parentheses, too" },
	{ "<< [(]*[A-Z][A-Z_]+[)]", TAME, "it shifts by a name as by 0" },
	{ "<< [(]64 - |<< ?[(]?63", TAME, "a flag of bit 63 isn't shown, unless there is none at all" },
	{ "<< ?[(]*REC", POSITIVE, "it shifts words where C shifts an int" },
};

static const char *excuse(const struct tracefmt *fmt, const char *print_fmt, enum pass pass)
{
	for (size_t i = 0; i < COUNT(wrong); i++) {
		regex_t re;
		int rc;

		if (wrong[i].from > pass)
			continue;
		assert_int_equal(regcomp(&re, wrong[i].pattern, REG_EXTENDED | REG_NOSUB), 0);
		rc = regexec(&re, print_fmt, 0, NULL, 0);
		regfree(&re);
		if (!rc)
			return wrong[i].why;
	}
	for (size_t i = fmt->ncommon; pass == ANY && i < fmt->nfields; i++)
		if (fmt->fields[i].kind == FIELD_SINT)
			return "it takes every number for an unsigned one";
	return NULL;
}

/* ---- all events ----------------------------------------------------------------------- */

struct tally {
	struct tracefmt_db *db;
	struct library *library;
	char tracefs[256];
	unsigned int events, compiled, both, differ[PASSES], unexcused;
};

/* The text of an event's "print fmt". */
static void read_print_fmt(const struct tally *t, const struct tracefmt *fmt, char *buf, size_t size)
{
	char path[600];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", t->tracefs, fmt->sys, fmt->name);
	file = fopen(path, "re");
	assert_non_null(file);
	n = fread(buf, 1, size - 1, file);
	fclose(file);
	buf[n] = '\0';
	n = (size_t)(strstr(buf, "print fmt:") - buf);
	memmove(buf, buf + n, strlen(buf + n) + 1);
}

static unsigned int braces(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '{';
	return n;
}

/* Whether the first difference is where ours has ? for a value that only the kernel knows: its library takes that for 0. */
static bool is_unknown(const char *ours, const char *theirs)
{
	size_t at = 0;

	while (ours[at] && ours[at] == theirs[at])
		at++;
	return ours[at] == '?' || (at && ours[at - 1] == '?');
}

static void tell(struct tally *t, const struct tracefmt *fmt, enum pass pass, const char *ours,
		 const char *theirs)
{
	static char print_fmt[1 << 16];
	const char *why;

	read_print_fmt(t, fmt, print_fmt, sizeof(print_fmt));
	if ((strstr(print_fmt, "__print_array") || strstr(print_fmt, "__print_dynamic_array")) && braces(ours) > braces(theirs))
		return;      /* before 1.8 it shows decimal numbers, and not as the kernel does */
	if (is_unknown(ours, theirs))
		return;
	why = excuse(fmt, print_fmt, pass);
	t->differ[pass]++;
	if (why)
		return;
	t->unexcused++;
	printf("# %s:%s differs in pass %d\n# ours:   %s\n# theirs: %s\n# %s", fmt->sys, fmt->name,
	       (int)pass, ours, theirs, print_fmt);
}

/* Zeros are 0: %#x of 0 has 0x in the kernel, and not in C, and so fewer blanks before it. And some formats end with a newline,
 * which we leave out. */
static void liken(char *text)
{
	for (char *at = text; (at = strstr(at, "  "));)
		memmove(at, at + 1, strlen(at));
	for (size_t n = strlen(text); n && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	for (char *at = text; (at = strchr(at, '0')); at++) {
		char *end = at + (at[1] == 'x' ? 2 : 1);

		end += strspn(end, "0");
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isxdigit((unsigned char)*end))
			memmove(at + 1, end, strlen(end) + 1);
	}
}

static void compare(struct tally *t, const struct tracefmt *fmt, const struct tep_event *ev, enum pass pass)
{
	static char ours[1 << 16], theirs[1 << 16];
	struct sample s;
	size_t n, m;

	for (int i = 0; i < ROUNDS; i++) {
		const char *text;

		fill(&s, fmt, ev, pass);
		text = tracefmt_print(t->db, fmt, s.raw, s.size, &n);
		assert_true(n < sizeof(ours));
		memcpy(ours, text, n + 1);
		text = library_text(t->library, s.raw, s.size, &m);
		assert_true(m < sizeof(theirs));
		memcpy(theirs, text, m + 1);
		if (n == m && !memcmp(ours, theirs, n))
			continue;
		liken(ours);
		liken(theirs);
		if (!strcmp(ours, theirs))
			continue;
		tell(t, fmt, pass, ours, theirs);
		return;
	}
}

static void take_event(struct tally *t, const char *sys, const char *name)
{
	struct fault f = { 0 };
	const struct tracefmt *fmt = tracefmt_load(t->db, t->tracefs, sys, name, &f);
	const struct tep_event *ev;
	const char *why;

	if (!fmt || !strcmp(sys, "ftrace"))   /* those are no events of perf */
		return;
	((struct tracefmt *)fmt)->is_running = false;   /* libtraceevent does not know the enumerators of this kernel */
	why = tracefmt_not_compiled(fmt);
	t->events++;
	t->compiled += !why;
	if (why)
		printf("# prints as its fields: %s:%s: %s\n", sys, name, why);
	ev = why ? NULL : library_event(t->library, t->tracefs, fmt);
	if (!ev)
		return;
	t->both++;
	for (enum pass pass = TAME; pass < PASSES; pass++)
		compare(t, fmt, ev, pass);
}

typedef void entry_fn(struct tally *t, const char *sys, const char *name);

static void each_entry(struct tally *t, const char *path, const char *sys, entry_fn *entry)
{
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			entry(t, sys, d->d_name);
	if (dir)
		closedir(dir);
}

static void take_system(struct tally *t, const char *unused, const char *sys)
{
	char path[600];

	(void)unused;
	snprintf(path, sizeof(path), "%s/events/%s", t->tracefs, sys);
	each_entry(t, path, sys, take_event);
}

TEST(every_event_prints_as_by_libtraceevent)
{
	struct tally t = { .db = tracefmt_db_new(), .library = library_new() };
	struct pev_error err = { 0 };
	char path[300];

	skip_if_refused(pev_tracefs_path(t.tracefs, sizeof(t.tracefs), &err), &err);
	snprintf(path, sizeof(path), "%s/events", t.tracefs);
	assert_true(t.db && t.library);
	each_entry(&t, path, NULL, take_system);
	library_free(t.library);
	tracefmt_db_free(t.db);
	printf("# %u events, %u compiled (%.2f %%), %u libtraceevent understands, too; it is wrong for "
	       "%u with small numbers, %u with any that aren't negative, %u with any\n",
	       t.events, t.compiled, 100.0 * t.compiled / t.events, t.both, t.differ[TAME],
	       t.differ[POSITIVE], t.differ[ANY]);
	assert_true(t.events > 100);
	assert_int_equal(t.unexcused, 0);
	assert_true(t.compiled * 100 > t.events * 97);
	assert_true(t.differ[TAME] * 100 < t.both * 3);
	assert_true(t.differ[POSITIVE] * 100 < t.both * 10);
}

/* This one is ABI, and no event exports it. */
TEST(enumerators_of_this_kernel)
{
	uint64_t value;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		SKIP("needs /sys/kernel/btf/vmlinux");
	assert_true(enumerator_of_kernel("TCP_TIME_WAIT", strlen("TCP_TIME_WAIT"), &value));
	assert_int_equal(value, TCP_TIME_WAIT);
}
