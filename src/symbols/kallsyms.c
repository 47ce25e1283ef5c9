/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is kept as one block of text; a sorted array of addresses points into it.
 * Lines are "ffffffff81000000 T name" or "... t name\t[module]".
 */
#include "symbols/kallsyms.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sym {
	uint64_t addr;
	uint32_t name;           /* offset into text */
	uint32_t module;         /* 0: none */
};

struct kallsyms {
	char *text;
	struct sym *syms;
	size_t n;
};

static char *read_all(const char *path, size_t *len)
{
	size_t cap = 16 << 20, n = 0;
	char *buf = malloc(cap);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	while (buf && fd >= 0 && (got = read(fd, buf + n, cap - n - 1)) > 0) {
		char *bigger;

		n += (size_t)got;
		if (cap - n > 4096)
			continue;
		bigger = cap < 1u << 30 ? realloc(buf, cap *= 2) : NULL;
		if (!bigger) {
			got = -1;
			break;
		}
		buf = bigger;
	}
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*len = n;
	return buf;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the address off a line; 0 if there is none. */
static uint64_t take_address(char **p, const char *end)
{
	const char *start = *p;
	uint64_t addr = 0;

	for (; *p < end && hex(**p) >= 0; ++*p)
		addr = addr << 4 | (uint64_t)hex(**p);
	return *p - start <= 16 ? addr : 0;
}

/* Reads the line at p into sym; returns whether it is text (code) with an address. */
static int parse_line(struct kallsyms *k, char *p, char *end, struct sym *sym)
{
	char *tab;

	sym->addr = take_address(&p, end);
	if (!sym->addr || end - p < 4 || p[0] != ' ' || !memchr("tTwW", p[1], 4) || p[2] != ' ')
		return 0;
	p += 3;
	*end = '\0';
	tab = memchr(p, '\t', (size_t)(end - p));
	sym->name = (uint32_t)(p - k->text);
	sym->module = 0;
	if (!tab)
		return 1;
	*tab = '\0';
	if (tab[1] == '[' && end[-1] == ']') {
		end[-1] = '\0';
		sym->module = (uint32_t)(tab + 2 - k->text);
	}
	return 1;
}

static int by_addr(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;   /* the file's order: stable */
}

static int parse_all(struct kallsyms *k, size_t len)
{
	char *p = k->text, *end = k->text + len;
	size_t cap = len / 32 + 16;

	k->syms = malloc(cap * sizeof(*k->syms));
	while (k->syms && p < end) {
		char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			nl = end;
		if (k->n == cap) {
			struct sym *more = realloc(k->syms, (cap *= 2) * sizeof(*more));

			if (!more)
				return -1;
			k->syms = more;
		}
		k->n += (size_t)parse_line(k, p, nl, &k->syms[k->n]);
		p = nl + 1;
	}
	if (!k->syms || !k->n)
		return -1;
	qsort(k->syms, k->n, sizeof(*k->syms), by_addr);
	return 0;
}

struct kallsyms *kallsyms_load(const char *path)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	size_t len;

	if (!k)
		return NULL;
	k->text = read_all(path, &len);
	if (!k->text || len > UINT32_MAX || parse_all(k, len)) {
		kallsyms_free(k);
		return NULL;
	}
	return k;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->syms);
	free(k);
}

int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kernel_symbol *sym)
{
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return -1;
	while (lo > 1 && k->syms[lo - 2].addr == k->syms[lo - 1].addr)
		lo--;            /* of aliases, the first */
	sym->start = k->syms[lo - 1].addr;
	sym->name = k->text + k->syms[lo - 1].name;
	sym->module = k->syms[lo - 1].module ? k->text + k->syms[lo - 1].module : NULL;
	return 0;
}
