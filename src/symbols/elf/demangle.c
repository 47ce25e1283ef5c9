/* SPDX-License-Identifier: Apache-2.0 */
/* Uses libiberty's callback functions: a name that gets too long is left by longjmp(3). They hold
 * memory only while they pass on what they decoded from Punycode. */
#include "symbols/elf/demangle.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* Longer names could take long because of nesting and repetition. For C++, libiberty's own limit is 1024. */
enum { MAX_MANGLED = 8192 };

struct text {
	char *buf;
	size_t len;
	bool full;
	jmp_buf too_long;
};

/* A piece with other bytes than ASCII is an identifier from Punycode, in Rust. To leave then would leak:
 * take_piece() returns, libiberty frees the memory, and the next piece leaves. It is ASCII, as there is
 * always some between two such identifiers. */
static bool holds_memory(const char *piece, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)piece[i] > 0x7f)
			return true;
	return false;
}

static void take_piece(const char *piece, size_t n, void *ctx)
{
	struct text *t = ctx;

	if (t->full)
		longjmp(t->too_long, 1);
	if (n >= DEMANGLE_MAX - t->len) {
		t->full = true;
		if (!holds_memory(piece, n))
			longjmp(t->too_long, 1);
		return;
	}
	if (!n)
		return;   /* piece may be NULL */
	memcpy(t->buf + t->len, piece, n);
	t->len += n;
}

/* In a Rust type, F or D may be followed by G and a number of lifetimes in base 62. libiberty
 * counts up to it without calling back, possibly up to 2^64. Numbers of three or more digits are
 * refused. Other names that look alike, such as with a part DGRAM_, are shown unchanged. */
static bool has_endless_lifetimes(const char *name)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *g = strchr(name, 'G'); g; g = strchr(g + 1, 'G')) {
		size_t n = g[-1] == 'F' || g[-1] == 'D' ? strspn(g + 1, digits) : 0;

		if (n > 2 && g[1 + n] == '_')
			return true;
	}
	return false;
}

/* Rust's older scheme is valid as C++, too, so it is tried first. */
static int demangle_with(const char *name, int options, char buf[DEMANGLE_MAX])
{
	struct text t = { .buf = buf };
	int ok;

	if (*name != '_' || !is_mangled(name) || strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return -EINVAL;
	if (name[1] == 'R' && has_endless_lifetimes(name))
		return -E2BIG;
	if (setjmp(t.too_long))
		return -E2BIG;
	ok = rust_demangle_callback(name, options, take_piece, &t);
	if (!ok && name[1] == 'Z') {
		t.len = 0;
		ok = cplus_demangle_v3_callback(name, options, take_piece, &t);
	}
	if (t.full)
		return -E2BIG;
	if (!ok || !t.len)
		return -EINVAL;
	buf[t.len] = '\0';
	return 0;
}

/* The name of a stub is that of the called function with a suffix: symfile.c. */
int demangle(const char *name, char buf[DEMANGLE_MAX])
{
	static const char stub[] = "@plt";
	size_t len = strnlen(name, MAX_MANGLED), behind = sizeof(stub) - 1;
	char called[MAX_MANGLED];
	int rc;

	if (len == MAX_MANGLED || len <= behind || strcmp(name + len - behind, stub))
		return demangle_with(name, DMGL_NO_OPTS, buf);
	memcpy(called, name, len - behind);
	called[len - behind] = '\0';
	rc = demangle_with(called, DMGL_NO_OPTS, buf);
	if (rc)
		return rc;
	if (strlen(buf) + sizeof(stub) > DEMANGLE_MAX)
		return -E2BIG;
	strcat(buf, stub);
	return 0;
}

int demangle_signature(const char *name, char buf[DEMANGLE_MAX])
{
	return demangle_with(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, buf);
}

int demangle_as_nm(const char *name, char buf[DEMANGLE_MAX])
{
	return demangle_with(name, DMGL_PARAMS | DMGL_ANSI, buf);
}
