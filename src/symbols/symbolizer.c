/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/symbolizer.h"

#include "base/note.h"
#include "base/now.h"
#include "symbols/kernel/ksymbols.h"
#include "symbols/parser_kinds.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define BPF "[bpf]"              /* as in kallsyms and in KSYMBOL records */
#define DEFAULT_BYTES (16u << 20)
/* Reading the table takes 100 ms: for addresses without a name, at most every five seconds, and
 * up to every minute if that finds nothing. */
#define REREAD_NS UINT64_C(5000000000)
#define MAX_PAUSE_NS UINT64_C(60000000000)

struct symbolizer {
	int kallsyms_fd;
	bool kernel_read;
	struct kallsyms *kallsyms;     /* NULL: not read, or hidden */
	struct kallsyms **kept;        /* see symbolizer.h */
	uint64_t kernel_serial;        /* version of that table */
	uint64_t next_reading, pause;  /* CLOCK_MONOTONIC, ns */
	const char *base;              /* see symbolizer.h */
	uint64_t base_address;
	uint64_t moved;                /* offset from the table's addresses to the recorded ones */
	bool other_boot;               /* the recording is from another boot */
	bool bpf_told;
	struct ksymbols told, modules;
	struct dsos *dsos;
	struct parser *parser;
};

struct symbolizer *symbolizer_new(const struct symbolizer_opts *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	const struct opener *opener = opts->opener ? opts->opener : &opener_direct;

	if (!s)
		return NULL;
	s->pause = REREAD_NS;
	s->base = opts->base;
	s->base_address = opts->base_address;
	s->other_boot = opts->other_boot;
	s->kept = opts->kept;
	s->kallsyms_fd = opener_proc(opener, 0, "kallsyms");
	s->dsos = dsos_new(opener, opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES);
	if (!s->dsos) {
		symbolizer_free(s);
		return NULL;
	}
	s->parser = parser_new_all(&(struct parser_opts){ .place = opts->parse, .helpers = dsos_helpers(s->dsos, &opts->helpers), .opener = opener });
	if (!s->parser && errno != ENOMEM) {
		note(opts->verbose, "the process that reads programs' files without privilege did "
		     "not start (%s): this process reads them", strerror(errno));
		s->parser = parser_new_all(&(struct parser_opts){ .place = PARSER_HERE, .helpers = dsos_helpers(s->dsos, &opts->helpers),
							      .opener = opener });
	}
	if (!s->parser) {
		symbolizer_free(s);
		return NULL;
	}
	dsos_use(s->dsos, s->parser, opts->verbose);
	if (opts->is_pressed)
		dsos_live(s->dsos, opts->is_pressed, opts->ctx);
	dsos_bound(s->dsos, opts->stopped, opts->ctx);
	dsos_use_servers(s->dsos, opts->debuginfod);
	return s;
}

static void drop_kallsyms(const struct symbolizer *s, struct kallsyms *k)
{
	if (!s->kept || k != *s->kept)
		kallsyms_free(k);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	if (s->kallsyms_fd >= 0)
		close(s->kallsyms_fd);
	drop_kallsyms(s, s->kallsyms);
	ksymbols_free(&s->told);
	ksymbols_free(&s->modules);
	if (dsos_free(s->dsos))
		parser_free(s->parser);
	free(s);
}

/* Not a copy in perf's cache, which is of the kernel of one recording. */
static bool is_of_this_kernel(const struct symbolizer *s)
{
	struct statfs fs;

	return !fstatfs(s->kallsyms_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* The descriptor from its beginning: its addresses depend on the privilege when it was opened. */
static struct kallsyms *table_of(const struct symbolizer *s)
{
	const bool keeps = s->kept && s->base && is_of_this_kernel(s);
	struct kallsyms *k;

	if (keeps && *s->kept)
		return *s->kept;
	k = lseek(s->kallsyms_fd, 0, SEEK_SET) ? NULL : kallsyms_read(s->kallsyms_fd);
	if (keeps)
		*s->kept = k;
	return k;
}

static void read_kallsyms(struct symbolizer *s)
{
	struct kallsyms *k = table_of(s);

	s->kernel_read = true;
	if (k && s->base && !kallsyms_base(k, s->base)) {
		drop_kallsyms(s, k);
		k = NULL;
	}
	if (!k)
		return;
	s->moved = s->base ? s->base_address - kallsyms_base(k, s->base) : 0;
	drop_kallsyms(s, s->kallsyms);
	s->kallsyms = k;
	s->kernel_serial++;
}

int symbolizer_read_kernel(struct symbolizer *s)
{
	if (!s->kernel_read && s->kallsyms_fd >= 0) {
		read_kallsyms(s);
		s->next_reading = now_ns(CLOCK_MONOTONIC) + REREAD_NS;
	}
	return s->kallsyms ? 0 : -EACCES;
}

/* After another boot, modules have other addresses, and those of BPF programs are unknown. */
static bool is_believed(const struct symbolizer *s, uint64_t addr, const struct kernel_symbol *sym)
{
	struct kernel_symbol module;

	if (kallsyms_is_image(sym))
		return true;
	if (s->other_boot)
		return !s->moved && ksymbols_find(&s->modules, addr, &module) && !strcmp(module.name, sym->dso);
	return !s->bpf_told || strcmp(sym->dso, BPF) != 0;
}

static bool find_kernel(const struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym)
{
	if (kallsyms_find(s->kallsyms, addr - s->moved, sym) || !is_believed(s, addr, sym))
		return false;
	sym->start += s->moved;
	return true;
}

/* A module or a BPF program may have been loaded since. Unsuccessful reads get less frequent. */
static bool read_again(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym)
{
	bool found;

	if (s->base || !(addr >> 63) || now_ns(CLOCK_MONOTONIC_COARSE) < s->next_reading)
		return false;
	read_kallsyms(s);
	found = find_kernel(s, addr, sym);
	s->pause = found ? REREAD_NS : s->pause < MAX_PAUSE_NS / 2 ? s->pause * 2 : MAX_PAUSE_NS;
	s->next_reading = now_ns(CLOCK_MONOTONIC) + s->pause;
	return found;
}

static bool look_up(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym)
{
	if (s->told.n && ksymbols_find(&s->told, addr, sym))
		return true;
	if (symbolizer_read_kernel(s))
		return false;
	return find_kernel(s, addr, sym) || read_again(s, addr, sym);
}

/* Names in the image do not change, so those lookups are not recorded. */
bool symbolizer_kernel(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym)
{
	bool found = look_up(s, addr, sym);

	if (s->base && (!found || !kallsyms_is_image(sym)))
		ksymbols_asked(&s->told, addr);
	return found;
}

const char *symbolizer_kernel_dso(struct symbolizer *s, uint64_t addr)
{
	struct kernel_symbol module;

	if (s->base || s->modules.n)
		ksymbols_asked(&s->modules, addr);
	return s->modules.n && ksymbols_find(&s->modules, addr, &module) ? module.name : "[kernel.kallsyms]";
}

void symbolizer_kernel_came(struct symbolizer *s, uint64_t start, uint64_t len, const char *name, const char *dso)
{
	bool first = !s->bpf_told && !strcmp(dso, BPF);

	s->bpf_told |= first;
	s->kernel_serial += first;       /* BPF names in the table are not used any more */
	s->kernel_serial += ksymbols_came(&s->told, start, len, name, dso);
}

void symbolizer_kernel_went(struct symbolizer *s, uint64_t start, uint64_t len)
{
	s->kernel_serial += ksymbols_went(&s->told, start, len);
}

void symbolizer_kernel_module(struct symbolizer *s, uint64_t start, uint64_t len, const char *name)
{
	const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
	const char *end = strstr(file, ".ko");
	char word[64];

	if (!end && (name[0] != '[' || strchr(name, '.')))
		return;          /* "[kernel.kallsyms]_text" */
	snprintf(word, sizeof(word), end ? "[%.*s]" : "%.*s", (int)(end ? end - file : (int)strlen(name)), file);
	for (char *p = word; *p; p++)
		*p = *p == '-' ? '_' : *p;
	s->kernel_serial += ksymbols_came(&s->modules, start, len, word, NULL);
}

uint64_t symbolizer_kernel_serial(const struct symbolizer *s)
{
	return s->kernel_serial;
}

uint64_t symbolizer_answers(struct symbolizer *s)
{
	return s->kernel_serial + dsos_answers(s->dsos);
}

struct dsos *symbolizer_dsos(struct symbolizer *s)
{
	return s->dsos;
}
