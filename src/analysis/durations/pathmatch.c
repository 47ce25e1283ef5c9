/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/pathmatch.h"

#include "base/hash.h"
#include "engine/callnames.h"
#include "expr/expr.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct descriptor_call {
	pid_t tid;
	UT_hash_handle hh;
};

/* ---- kinds of calls --------------------------------------------------------------------- */

/* FROM_*: paths are relative to a descriptor, an argument. TARGET: the first path is the text of a link. */
enum {
	LOOKED_UP = 1 << 0, FROM_FIRST = 1 << 1, FROM_SECOND = 1 << 2, FROM_THIRD = 1 << 3, TARGET = 1 << 4, ADDRESS = 1 << 5,
	CHDIR = 1 << 6, FCHDIR = 1 << 7, FROM_ANY = FROM_FIRST | FROM_SECOND | FROM_THIRD,
};
static const struct {
	const char *name;
	uint8_t kind;
} calls[] = {
	{ "openat", FROM_FIRST }, { "openat2", FROM_FIRST }, { "newfstatat", FROM_FIRST }, { "fstatat64", FROM_FIRST },
	{ "statx", FROM_FIRST }, { "faccessat", FROM_FIRST }, { "faccessat2", FROM_FIRST }, { "unlinkat", FROM_FIRST },
	{ "mkdirat", FROM_FIRST }, { "mknodat", FROM_FIRST }, { "readlinkat", FROM_FIRST }, { "fchmodat", FROM_FIRST },
	{ "fchmodat2", FROM_FIRST }, { "fchownat", FROM_FIRST }, { "execveat", FROM_FIRST }, { "utimensat", FROM_FIRST },
	{ "futimesat", FROM_FIRST }, { "name_to_handle_at", FROM_FIRST }, { "open_tree", FROM_FIRST }, { "fspick", FROM_FIRST },
	{ "mount_setattr", FROM_FIRST }, { "setxattrat", FROM_FIRST }, { "getxattrat", FROM_FIRST }, { "listxattrat", FROM_FIRST },
	{ "removexattrat", FROM_FIRST }, { "renameat", FROM_FIRST | FROM_THIRD }, { "renameat2", FROM_FIRST | FROM_THIRD },
	{ "linkat", FROM_FIRST | FROM_THIRD }, { "move_mount", FROM_FIRST | FROM_THIRD }, { "symlinkat", FROM_SECOND | TARGET },
	{ "symlink", TARGET }, { "connect", ADDRESS }, { "bind", ADDRESS }, { "chdir", CHDIR }, { "fchdir", FCHDIR },
};

static uint8_t look_up(int64_t number)
{
	const char *name = syscall_name(number);

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].kind | LOOKED_UP;
	return LOOKED_UP;
}

static unsigned int kind_of(struct pathmatch *m, int64_t number)
{
	if (number < 0 || number >= (int64_t)sizeof(m->kinds))
		return 0;
	if (!m->kinds[number])
		m->kinds[number] = look_up(number);
	return m->kinds[number];
}

/* ---- descriptors ------------------------------------------------------------------------ */

bool pathmatch_follows(const char *glob)
{
	return glob && (*glob == '/' || !strncmp(glob, "*/", 2));
}

static bool is_descriptor(const struct pathmatch *m, const struct analysis_sample *s, size_t i)
{
	uint64_t value = 0;

	if (m->args->offset + (i + 1) * sizeof(value) <= s->view.raw_size)
		memcpy(&value, (const char *)s->view.raw + m->args->offset + i * sizeof(value), sizeof(value));
	return (int32_t)value != AT_FDCWD;
}

/* When there are more, it begins anew. */
enum { MAX_THREADS = 1 << 14 };

static void forget_open(struct pathmatch *m)
{
	HASH_FREE(m->open);
	m->open = NULL;
}

void pathmatch_enter(struct pathmatch *m, const struct analysis_sample *s, int64_t number)
{
	const unsigned int kind = m->args ? kind_of(m, number) : 0;
	struct descriptor_call *one = NULL;
	bool is = false;

	for (size_t i = 0; i < 3 && kind & FROM_ANY; i++)
		is |= kind & (unsigned int)FROM_FIRST << i && is_descriptor(m, s, i);
	if (!m->open && !is)
		return;
	HASH_FIND(hh, m->open, &s->tid, sizeof(s->tid), one);
	if (one && !is) {
		HASH_DEL(m->open, one);
		free(one);
	} else if (!one && is && (one = calloc(1, sizeof(*one)))) {
		if (HASH_COUNT(m->open) >= MAX_THREADS)
			forget_open(m);
		one->tid = s->tid;
		HASH_ADD(hh, m->open, tid, sizeof(one->tid), one);
		one = HASH_KEPT(one);
	}
}

static bool is_from_descriptor(struct pathmatch *m, const struct pathmatch_call *c)
{
	struct descriptor_call *one = NULL;

	if (!(kind_of(m, c->number) & FROM_ANY))
		return false;
	if (!m->args)
		return true;
	HASH_FIND(hh, m->open, &c->tid, sizeof(c->tid), one);
	return one;
}

/* ---- matching --------------------------------------------------------------------------- */

static bool matches(const struct pathmatch *m, const char *text)
{
	return expr_glob(m->glob, strlen(m->glob), text, strlen(text));
}

/* Puts what one of the call's paths means. False: it is not known. */
static bool put_meant(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, char buf[PATH_MAX])
{
	const unsigned int kind = kind_of(m, c->number);
	const bool is_link = kind & TARGET && first && m->ordered;

	snprintf(buf, PATH_MAX, "%s", given);
	if (*given == '/' || !*given || kind & ADDRESS || is_link || !pathmatch_follows(m->glob))
		return true;
	return !m->untracked && !is_from_descriptor(m, c) && folders_resolve(&m->folders, c->pid, given, buf, PATH_MAX);
}

enum pathmatch_found pathmatch_find(struct pathmatch *m, const struct pathmatch_call *c, const char **text)
{
	char given[CALLPATH_SIZE], one[PATH_MAX], other[PATH_MAX];
	bool known;

	*text = c->text;
	other[0] = '\0';
	if (!m->glob)
		return PATHMATCH_YES;
	snprintf(given, sizeof(given), "%.*s", c->second ? (int)(c->second - c->text - 2) : INT_MAX, c->text);   /* before ", " */
	known = put_meant(m, c, true, given, one);
	if (c->second)
		known &= put_meant(m, c, false, c->second, other);
	if (snprintf(m->text, sizeof(m->text), "%s%s%s", one, c->second ? ", " : "", other) >= 0)   /* it may be cut */
		*text = m->text;
	if (matches(m, c->text) || matches(m, one) || (c->second && matches(m, other)))
		return PATHMATCH_YES;
	return known ? PATHMATCH_NO : PATHMATCH_UNKNOWN;
}

/* ---- folders ---------------------------------------------------------------------------- */

void pathmatch_succeeded(struct pathmatch *m, pid_t pid, int64_t number, const char *path, uint64_t time)
{
	const unsigned int kind = kind_of(m, number);

	if (kind & (CHDIR | FCHDIR))
		folders_change(&m->folders, pid, kind & CHDIR ? path : "", time);
}

void pathmatch_task(struct pathmatch *m, const struct pev_record *rec)
{
	const pid_t tid = rec->type == PERF_RECORD_EXIT ? (pid_t)rec->task.tid : 0;
	struct descriptor_call *one = NULL;

	if (!pathmatch_follows(m->glob))
		return;
	folders_take(&m->folders, rec);
	if (m->open && tid)
		HASH_FIND(hh, m->open, &tid, sizeof(tid), one);
	if (one) {
		HASH_DEL(m->open, one);
		free(one);
	}
}

void pathmatch_lost(struct pathmatch *m)
{
	folders_forget(&m->folders);
	forget_open(m);
}

void pathmatch_free(struct pathmatch *m)
{
	pathmatch_lost(m);
}
