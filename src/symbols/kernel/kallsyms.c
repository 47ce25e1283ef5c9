/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are "ffffffff81000000 T name" or "... t name\t[module]". Only symbols of code are kept.
 * Their group is 0 for the kernel, else the module.
 */
#include "symbols/kernel/kallsyms.h"

#include "base/room.h"
#include "symbols/elf/symtab.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kerneladdr ------------------------------------------------------------------------- */

uint64_t kernel_address(const char *symbol, const struct opener *o)
{
	int fd = opener_proc(o, 0, "kallsyms");
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], name[256];
	uint64_t addr, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 && !strcmp(name, symbol))
			found = addr;
	if (f)
		fclose(f);
	return found;
}

size_t kernel_build_id(uint8_t id[ELFID_MAX])
{
	FILE *f = fopen("/sys/kernel/notes", "re");
	char notes[4096];
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0;

	if (f)
		fclose(f);
	return elfid_of_notes(notes, n, 4, id);
}

/* A table has some 15 MiB, but a file from another user may have any size. */
enum { MAX_BYTES = 256 << 20, CHUNK = 64 << 10, MAX_MODULES = 4096, MAX_MODULE_NAME = 64 };

static const char kernel_dso[] = "[kernel.kallsyms]";
/* Symbols that give the image's address: one of them is its first. */
static const char *const bases[] = { "_text", "_stext" };

enum { BASES = sizeof(bases) / sizeof(*bases) };

struct kallsyms {
	struct symtab *tab;
	char (*modules)[MAX_MODULE_NAME];   /* "[name]"; the n-th is group n + 1 */
	size_t nmodules;
	uint64_t base[BASES];
};

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses the address at the start of a line; 0 if there is none. */
static uint64_t take_address(const char **p, const char *end)
{
	const char *start = *p;
	uint64_t addr = 0;

	for (; *p < end && hex(**p) >= 0; ++*p)
		addr = addr << 4 | (uint64_t)hex(**p);
	return *p - start <= 16 ? addr : 0;
}

/* The group of the module "[name]": mostly that of the previous line. */
static uint16_t group_of(struct kallsyms *k, const char *name, size_t len)
{
	if (len >= MAX_MODULE_NAME)
		return 0;
	for (size_t i = k->nmodules; i-- > 0;)
		if (!strncmp(k->modules[i], name, len) && !k->modules[i][len])
			return (uint16_t)(i + 1);
	if (k->nmodules == MAX_MODULES || !ROOM_FOR_ONE(k->modules, k->nmodules))
		return 0;
	memcpy(k->modules[k->nmodules], name, len);
	k->modules[k->nmodules][len] = '\0';
	return (uint16_t)++k->nmodules;
}

static void note_base(struct kallsyms *k, const struct symtab_entry *e)
{
	for (size_t i = 0; i < BASES; i++)
		if (e->len == strlen(bases[i]) && !memcmp(e->name, bases[i], e->len))
			k->base[i] = e->start;
}

static int take_line(struct kallsyms *k, const char *p, const char *end)
{
	struct symtab_entry e = { .end = UINT64_MAX, .open = true };
	const char *tab;

	e.start = take_address(&p, end);
	/* $x and $d are marks for disassemblers, which modules of Arm and RISC-V have */
	if (!e.start || end - p < 4 || p[0] != ' ' || !memchr("tTwW", p[1], 4) || p[2] != ' ' || p[3] == '$')
		return 0;
	e.name = p + 3;
	tab = memchr(e.name, '\t', (size_t)(end - e.name));
	e.len = (size_t)((tab ? tab : end) - e.name);
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']')
		e.group = group_of(k, tab + 1, (size_t)(end - tab - 1));
	else if (e.name[0] == '_')
		note_base(k, &e);
	return symtab_add(k->tab, &e);
}

/* Parses the whole lines in n bytes; returns their size in bytes, or -ENOMEM. */
static ssize_t take_lines(struct kallsyms *k, const char *buf, size_t n)
{
	const char *p = buf, *nl;

	while ((nl = memchr(p, '\n', n - (size_t)(p - buf)))) {
		if (take_line(k, p, nl))
			return -ENOMEM;
		p = nl + 1;
	}
	return p - buf;
}

/* A line that is longer than the buffer ends the reading. */
static int read_lines(struct kallsyms *k, int fd, char *buf)
{
	size_t have = 0, all = 0;
	ssize_t got, taken;

	while ((got = read(fd, buf + have, CHUNK - have)) > 0) {
		all += (size_t)got;
		if (all > MAX_BYTES)
			return -EFBIG;
		have += (size_t)got;
		taken = take_lines(k, buf, have);
		if (taken < 0)
			return -ENOMEM;
		have -= (size_t)taken;
		memmove(buf, buf + taken, have);
		if (have == CHUNK) {
			buf[0] = '!';
			have = 1;
		}
	}
	return got < 0 ? -errno : take_line(k, buf, buf + have);
}

struct kallsyms *kallsyms_read(int fd)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	char *buf = malloc(CHUNK);

	if (k)
		k->tab = symtab_new();
	if (!k || !buf || !k->tab || read_lines(k, fd, buf) || symtab_finish(k->tab)) {
		kallsyms_free(k);
		k = NULL;
	}
	free(buf);
	return k;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	symtab_free(k->tab);
	free(k->modules);
	free(k);
}

int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kernel_symbol *sym)
{
	struct symtab_hit hit;

	if (!symtab_find(k->tab, addr, &hit))
		return -1;
	sym->name = hit.name;
	sym->start = hit.start;
	sym->dso = hit.group ? k->modules[hit.group - 1] : kernel_dso;
	return 0;
}

uint64_t kallsyms_base(const struct kallsyms *k, const char *symbol)
{
	for (size_t i = 0; i < BASES; i++)
		if (!strcmp(bases[i], symbol))
			return k->base[i];
	return 0;
}

bool kallsyms_is_image(const struct kernel_symbol *sym)
{
	return sym->dso == kernel_dso;
}
