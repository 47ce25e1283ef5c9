/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses: the kernel's, and those of what processes map. */
#ifndef SYMBOLS_SYMBOLIZER_H
#define SYMBOLS_SYMBOLIZER_H

#include "symbols/dso.h"
#include "symbols/kernel/kallsyms.h"

struct symbolizer;

struct symbolizer_opts {
	const struct opener *opener;     /* outlives the symbolizer; NULL: opener_direct */
	size_t max_bytes;                /* tables of symbols of files; 0: the default, 16 MiB */
	enum parser_place parse;         /* where files are parsed: see parser.h */
	/* Servers of debuginfod, as in DEBUGINFOD_URLS, that may be asked for debug files: only by
	 * the user's own wish, as it tells them what runs here; NULL: none. Outlives it. */
	const char *debuginfod;
	/* Of a recorded kernel: where it had "_text" or "_stext". The table of another boot is believed
	 * about the image alone, and about a module that was where it was then. NULL: it is of now. */
	const char *base;
	uint64_t base_address;
	bool other_boot;
	int verbose;                     /* -v: tell which files could not be read */
	/* NULL, or rings are read meanwhile: see dsos_live(). */
	bool (*is_pressed)(void *ctx);
	/* When the run was asked to stop (CLOCK_MONOTONIC, ns; 0: it was not): then strangers' files are given up. */
	uint64_t (*stopped)(void *ctx);
	void *ctx;
	struct helpers helpers;          /* is told of each process that is started */
};

/* Opens /proc/kallsyms, which works with the privilege of now; reads nothing yet. Where
 * files are to be parsed by another process, that is forked now. NULL without memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_opts *opts);
void symbolizer_free(struct symbolizer *s);

/* Reads the kernel's table now rather than at the first question. -EACCES if it shows
 * this user no addresses. */
int symbolizer_read_kernel(struct symbolizer *s);
/* The function of the kernel around addr; false if there is none. For an address that has
 * no name the table is read again if that was some seconds ago: modules and BPF programs
 * come and go. The names live until the next call. */
bool symbolizer_kernel(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym);
/* What it lies in, also where it has no name: the module that a recording had there, or the image. Lives as long. */
const char *symbolizer_kernel_dso(struct symbolizer *s, uint64_t addr);
/* Code that the kernel told of, which counts before the table: since then it is there, or gone. The dso
 * is a constant; who was told of one BPF program believes no other. */
void symbolizer_kernel_came(struct symbolizer *s, uint64_t start, uint64_t len, const char *name, const char *dso);
void symbolizer_kernel_went(struct symbolizer *s, uint64_t start, uint64_t len);
/* Where a module was, by perf's words: "[ext4]", or the path of its file. */
void symbolizer_kernel_module(struct symbolizer *s, uint64_t start, uint64_t len, const char *name);
/* The number of that table: it changes when it is read again, or is told of. */
uint64_t symbolizer_kernel_serial(const struct symbolizer *s);
/* As long as this is the same, so is the name of each address: of the kernel, and as
 * dsos_answers() says. */
uint64_t symbolizer_answers(struct symbolizer *s);
/* The files that are mapped: their functions by dso_find(). */
struct dsos *symbolizer_dsos(struct symbolizer *s);
/* What parses them. */
struct parser *symbolizer_parser(struct symbolizer *s);
#endif
