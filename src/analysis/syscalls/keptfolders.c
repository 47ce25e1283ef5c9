/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/keptfolders.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_KEPT = 1 << 18 };

struct keptfolder {
	struct keptfolder_key key;
	uint64_t read;
	UT_hash_handle hh;
	char path[];
};

bool keptfolders_line(const struct keptfolder_key *key, uint64_t read, const char *path, char buf[KEPTFOLDER_LINE])
{
	const int n = snprintf(buf, KEPTFOLDER_LINE, "%d %" PRIu64 " %" PRIu64 " %d %s", (int)key->pid, key->at, read, key->fd, path);

	return n > 0 && n < KEPTFOLDER_LINE && !strchr(path, '\n');
}

static struct keptfolder *find(const struct keptfolders *k, const struct keptfolder_key *key)
{
	struct keptfolder *one = NULL;

	if (k->all)
		HASH_FIND(hh, k->all, key, sizeof(*key), one);
	return one;
}

static void add(struct keptfolders *k, const struct keptfolder_key *key, uint64_t read, const char *path, size_t len)
{
	struct keptfolder *one;

	if (len >= PATH_MAX || find(k, key) || HASH_COUNT(k->all) >= MAX_KEPT || !(one = calloc(1, sizeof(*one) + len + 1)))
		return;
	one->key = *key;
	one->read = read;
	memcpy(one->path, path, len);
	HASH_ADD(hh, k->all, key, sizeof(one->key), one);
	one = HASH_KEPT(one);
}

/* A decimal number and the space behind it. */
static bool take_number(const char **at, const char *end, int64_t *value)
{
	const bool minus = *at < end && **at == '-';
	const char *p = *at + minus;
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v) || v > INT64_MAX)
			return false;
	if (p == *at + minus || p == end || *p != ' ')
		return false;
	*value = minus ? -(int64_t)v : (int64_t)v;
	*at = p + 1;
	return true;
}

static void take_line(struct keptfolders *k, const char *at, const char *end)
{
	int64_t pid, time, read, fd;

	if (!take_number(&at, end, &pid) || !take_number(&at, end, &time) || !take_number(&at, end, &read) ||
	    !take_number(&at, end, &fd))
		return;
	if (pid > 0 && pid <= INT_MAX && time >= 0 && read >= 0 && fd >= KEPTFOLDER_CWD && fd <= INT_MAX && at < end && *at == '/')
		add(k, &(struct keptfolder_key){ (pid_t)pid, (int)fd, (uint64_t)time }, (uint64_t)read, at, (size_t)(end - at));
}

void keptfolders_take(struct keptfolders *k, const char *text, size_t size)
{
	const char *const end = text + size, *nl;

	for (; text < end && (nl = memchr(text, '\n', (size_t)(end - text))); text = nl + 1)
		take_line(k, text, nl);
}

const char *keptfolders_find(const struct keptfolders *k, const struct keptfolder_key *key, uint64_t *read)
{
	const struct keptfolder *one = find(k, key);

	if (!one)
		return NULL;
	*read = one->read;
	return one->path;
}

void keptfolders_each_first(const struct keptfolders *k, keptfolders_taker *take, void *ctx)
{
	for (const struct keptfolder *one = k->all; one; one = one->hh.next)
		if (!one->key.at && one->key.fd == KEPTFOLDER_CWD)
			take(ctx, one->key.pid, one->path, one->read);
}

void keptfolders_free(struct keptfolders *k)
{
	HASH_FREE(k->all);
	k->all = NULL;
}
