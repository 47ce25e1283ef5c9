/* SPDX-License-Identifier: Apache-2.0 */
/* Through libiberty, by the functions that hand out pieces and take no memory: so what gets
 * too long is left by longjmp(3). */
#include "symbols/elf/demangle.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* Nesting and repetition in longer ones could take long. libiberty refuses C++ beyond 1024. */
enum { MAX_MANGLED = 8192 };

struct text {
	char *buf;
	size_t len;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t n, void *ctx)
{
	struct text *t = ctx;

	if (n >= DEMANGLE_MAX - t->len)
		longjmp(t->too_long, 1);
	if (!n)
		return;   /* piece may be NULL */
	memcpy(t->buf + t->len, piece, n);
	t->len += n;
}

/* Behind the F or D of a Rust type a G tells how many lifetimes it has, to base 62. libiberty counts
 * them one by one, also where it hands out nothing, so that nothing ends it: up to 2^64. Two digits
 * are thousands. Other names that look so, as a part DGRAM_ in them, are shown as they are. */
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

/* A C++ name's first parts look like those of Rust's older scheme: that has to be tried first. */
static int demangle_function(const char *name, char buf[DEMANGLE_MAX])
{
	struct text t = { .buf = buf };
	int ok;

	if (!is_mangled(name) || strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return -EINVAL;
	if (name[1] == 'R' && has_endless_lifetimes(name))
		return -E2BIG;
	if (setjmp(t.too_long))
		return -E2BIG;
	ok = rust_demangle_callback(name, DMGL_NO_OPTS, take_piece, &t);
	if (!ok && name[1] == 'Z') {
		t.len = 0;
		ok = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take_piece, &t);
	}
	if (!ok || !t.len)
		return -EINVAL;
	buf[t.len] = '\0';
	return 0;
}

/* A stub has the name of what it calls, and this behind it: symfile_stubs.c. */
int demangle(const char *name, char buf[DEMANGLE_MAX])
{
	static const char stub[] = "@plt";
	size_t len = strnlen(name, MAX_MANGLED), behind = sizeof(stub) - 1;
	char called[MAX_MANGLED];
	int rc;

	if (len == MAX_MANGLED || len <= behind || strcmp(name + len - behind, stub))
		return demangle_function(name, buf);
	memcpy(called, name, len - behind);
	called[len - behind] = '\0';
	rc = demangle_function(called, buf);
	if (rc)
		return rc;
	if (strlen(buf) + sizeof(stub) > DEMANGLE_MAX)
		return -E2BIG;
	strcat(buf, stub);
	return 0;
}
