/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are mapped somewhere, by what identifies them, and their symbols, read when
 * first asked for. Tables of symbols are kept up to a bound of memory, the ones used
 * last; a dso itself as long as somebody refers to it, and some longer.
 *
 * What lies at the path now may not be what was mapped: a file is taken only if its
 * build id says so or, where the mapping came without one, its inode, generation and
 * time of change do. If not, its addresses have no names rather than wrong ones.
 */
#ifndef SYMBOLS_DSO_H
#define SYMBOLS_DSO_H

#include "base/opener.h"
#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/elf/symfile.h"

struct dsos;
struct dso;

/* Zero what is not known. */
struct dso_id {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	bool has_inode, has_generation;
	uint32_t maj, min;
	uint64_t ino, generation;
};

struct dsos *dsos_new(const struct opener *opener, size_t max_bytes);
/* False: a thread is in the middle of something for long, and what it needs stays as it is. */
bool dsos_free(struct dsos *d);
/* Files are parsed by it (it outlives d); -v (verbose, as note()) tells which could not be. */
void dsos_use(struct dsos *d, struct parser *parser, int verbose);
/* From now on a thread reads files. Who asks what is not known yet waits as long as symbols/patience.h says, while
 * dsos_hurry() not at all; after dsos_finish() for as long as it takes. */
void dsos_live(struct dsos *d, bool (*is_pressed)(void *ctx), void *ctx);
void dsos_hurry(struct dsos *d, bool hurried);
void dsos_finish(struct dsos *d);
/* Whether the last answer about it is not the last word: more is known later. */
bool dso_is_late(const struct dso *dso);
/* Processes that the parser starts are told to `helpers` by the thread that asks. */
struct helpers dsos_helpers(struct dsos *d, const struct helpers *helpers);
/* From now on files have bounds of time (symbols/budget.h); stopped(): when the run was asked to stop. */
void dsos_bound(struct dsos *d, uint64_t (*stopped)(void *ctx), void *ctx);
/* At the end, when nothing is asked any more: whether files took too long. */
void dsos_tell(struct dsos *d, int verbose);
/* Debug files that are not here are fetched from these servers (as in DEBUGINFOD_URLS; it
 * outlives d). Without this call nobody is asked for anything. */
void dsos_use_servers(struct dsos *d, const char *urls);

/* The file that `pid` maps by this path, with a reference; NULL without memory. */
struct dso *dso_get(struct dsos *d, const char *path, const struct dso_id *id, pid_t pid);
/* Where that process maps it, and the parent of the process (0: not known), which most
 * often sees the same files: for a file that its path doesn't lead to any more. */
void dso_mapped_at(struct dso *dso, uint64_t start, uint64_t end, pid_t parent);
/* The kernel's code in every process, as it is mapped there. */
struct dso *dso_get_vdso(struct dsos *d, uint64_t start, uint64_t len);
/* Whether memory that is mapped by this name has no file behind it. */
bool dso_is_anonymous(const char *name);
/* Such memory of a process, which may hold code that was generated at run time. Names come from the perf map of the
 * process, which is opened at once if is_code. The offset of dso_find() is then an address. `life` is a number that
 * no other process has; exec(2) gives the process a new one. */
struct dso *dso_get_jit(struct dsos *d, const char *name, pid_t pid, uint64_t life, bool is_code);
/* Whether it is such memory. */
bool dso_is_jit(const struct dso *dso);
/* The process has ended or called exec(2): what its number stands for now is another. */
void dsos_process_ended(struct dsos *d, pid_t pid);
struct dso *dso_ref(struct dso *dso);
void dso_put(struct dsos *d, struct dso *dso);

/* The path as the kernel told it: "/usr/bin/cat", "[vdso]", "//anon"; or that of the perf
 * map, once names were read from there. */
const char *dso_name(const struct dso *dso);
/* The build id by which it was mapped, of so many bytes; NULL: not known. */
const uint8_t *dso_build_id(const struct dso *dso, size_t *size);
/* The first of these, whatever names were read. */
const char *dso_mapped_name(const struct dso *dso);
/* A number that no other dso has or will have. */
uint64_t dso_serial(const struct dso *dso);
/* As symfile_find(). The name lives until the next call. */
bool dso_find(struct dsos *d, struct dso *dso, uint64_t offset, const char **name, uint64_t *into);
/* The calls that lie one in the other there, innermost first, by the compiler's own names;
 * 0: nothing is known but the function. They live until the next call of dso_inlines() or
 * dso_find() of any dso. */
size_t dso_inlines(struct dsos *d, struct dso *dso, uint64_t offset, struct inline_frame *out,
		   size_t max);
/* A name of dso_inlines() as it is in the source; lives until the next call. */
const char *dso_shown_name(struct dsos *d, struct dso *dso, const char *name);
/* How to come to callers from an offset of the file, for unwind(): its rules, and the offset's
 * address there. False: the file can't be read. It lives until the next call for any dso. */
bool dso_cfi(struct dsos *d, struct dso *dso, uint64_t offset, struct cfi **cfi, uint64_t *vaddr);
/* As long as this number is the same, so is the name of each address: code that is made
 * while a program runs comes, goes and gets its names late. Some 10 ns. */
uint64_t dsos_answers(struct dsos *d);
/* With the next question the perf maps of processes that live are read on, though it may be early. */
void dsos_look_again(struct dsos *d);
/* What tables of symbols take at present. */
size_t dsos_bytes(const struct dsos *d);
#endif
