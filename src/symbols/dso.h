/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped files and their symbols, which are read at the first lookup. Symbol tables are kept up
 * to a limit of memory, least recently used ones are dropped. A dso is kept while it is
 * referenced, and some time longer.
 *
 * The file at the path may not be the mapped one. It is used only if its build id matches or, for
 * a mapping without a build id, its inode, generation and modification time. Else its addresses
 * have no names rather than wrong ones.
 */
#ifndef SYMBOLS_DSO_H
#define SYMBOLS_DSO_H

#include "base/opener.h"
#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/elf/disasm.h"
#include "symbols/elf/symfile.h"

struct dsos;
struct dso;

/* Zero unknown fields. */
struct dso_id {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	bool has_inode, has_generation;
	uint32_t maj, min;
	uint64_t ino, generation;
};

struct dsos *dsos_new(const struct opener *opener, size_t max_bytes);
/* False: the thread is in a long operation, and its data is not freed. */
bool dsos_free(struct dsos *d);
/* Sets the parser for files (it outlives d), and whether unreadable files are reported (verbose, as note()). */
void dsos_use(struct dsos *d, struct parser *parser, int verbose);
/* From now on a thread reads the files. A lookup that needs a file waits as described in
 * symbols/patience.h; not at all during dsos_hurry(); after dsos_finish() without limit. */
void dsos_live(struct dsos *d, bool (*is_pressed)(void *ctx), void *ctx);
void dsos_hurry(struct dsos *d, bool hurried);
void dsos_finish(struct dsos *d);
/* Whether the last answer is preliminary: more will be known later. */
bool dso_is_late(const struct dso *dso);
/* Callbacks that pass processes started by the parser on to `helpers`, in the thread that asks. */
struct helpers dsos_helpers(struct dsos *d, const struct helpers *helpers);
/* From now on files have time limits (symbols/budget.h); stopped(): when the run was asked to stop. */
void dsos_bound(struct dsos *d, uint64_t (*stopped)(void *ctx), void *ctx);
/* Reports, after the last lookup, whether files took too long. */
void dsos_tell(struct dsos *d, int verbose);
/* Reports whether other builds are at the paths of files now. */
void dsos_tell_changed(struct dsos *d, int verbose);
/* Fetches missing debug files from these servers (as in DEBUGINFOD_URLS; urls outlives d).
 * Without this call no server is contacted. */
void dsos_use_servers(struct dsos *d, const char *urls);

/* The file that `pid` maps by this path, with a reference; NULL: out of memory. */
struct dso *dso_get(struct dsos *d, const char *path, const struct dso_id *id, pid_t pid);
/* The addresses of a mapping in that process, and its parent (0: unknown), which mostly sees the
 * same files: for a file that is no longer at its path. */
void dso_mapped_at(struct dso *dso, uint64_t start, uint64_t end, pid_t parent);
/* The kernel's vdso in a process, as mapped there. */
struct dso *dso_get_vdso(struct dsos *d, uint64_t start, uint64_t len);
/* Whether memory mapped by this name has no file. */
bool dso_is_anonymous(const char *name);
/* Such memory in a process, which may have code generated at run time. Names come from the perf
 * map of the process, which is opened at once if is_code. The offset for dso_find() is then an
 * address. `life` is unique to a process, and new after exec(2). */
struct dso *dso_get_jit(struct dsos *d, const char *name, pid_t pid, uint64_t life, bool is_code);
/* Whether it is such memory. */
bool dso_is_jit(const struct dso *dso);
/* The process has ended or called exec(2): its pid now means another one. */
void dsos_process_ended(struct dsos *d, pid_t pid);
struct dso *dso_ref(struct dso *dso);
void dso_put(struct dsos *d, struct dso *dso);

/* The path from the kernel: "/usr/bin/cat", "[vdso]", "//anon"; or the path of the perf map, once
 * names were read from it. */
const char *dso_name(const struct dso *dso);
/* The build id in the mapping's record and its number of bytes; NULL: unknown. */
const uint8_t *dso_build_id(const struct dso *dso, size_t *size);
/* Whether that open file is the mapped one, judged by its inode: for a mapping without a build id. */
bool dso_is_mapped(const struct dso *dso, int fd);
/* The path from the kernel, whatever names were read. */
const char *dso_mapped_name(const struct dso *dso);
/* Whose file was read for its symbols, and when it was written. False: none was read. */
bool dso_file(const struct dso *dso, uid_t *owner, struct timespec *written);
/* What tells two builds of a file apart: its build id, else the time of the file that was read; "": not
 * known. */
enum { DSO_BUILD_SIZE = 48 };
void dso_build_text(const struct dso *dso, char text[DSO_BUILD_SIZE]);
/* Whether our root has another file at its path, or none: the process has another root or mount namespace, or the file was
 * deleted. One that was replaced by another one of the same device, as compilers do, does not count. */
bool dso_is_elsewhere(const struct dso *dso);
/* A number unique to this dso. */
uint64_t dso_serial(const struct dso *dso);
/* As symfile_find(). The name is valid until the next call. */
bool dso_find(struct dsos *d, struct dso *dso, uint64_t offset, const char **name, uint64_t *into);
/* The nested inlined calls at an offset, innermost first, with linkage names; 0: only the
 * function is known. Valid until the next call of dso_inlines() or dso_find() for any dso. */
size_t dso_inlines(struct dsos *d, struct dso *dso, uint64_t offset, struct inline_frame *out,
		   size_t max);
/* Where its inlined functions are described, if this is not known because another file has them; else NULL. From the file. */
const char *dso_lacks_inlines(const struct dso *dso);
/* A name from dso_inlines() as in the source; valid until the next call. */
const char *dso_shown_name(struct dsos *d, struct dso *dso, const char *name);
/* The unwind rules for an offset in the file, and the offset's address in the file. False: the
 * file is not readable. Valid until the next call for any dso. */
bool dso_cfi(struct dsos *d, struct dso *dso, uint64_t offset, struct cfi **cfi, uint64_t *vaddr);
/* The instructions of the function at an offset in the file, and the offset's address in the file. NULL: they are not known,
 * or not yet. Valid until the next call for any dso. */
const struct disasm *dso_disasm(struct dsos *d, struct dso *dso, uint64_t offset, uint64_t *vaddr);
/* Files stay open after they are read, so that their code is known when their processes have ended. */
void dsos_keep_code(struct dsos *d);
/* While this number is the same, each address has the same name: JIT code and its names appear
 * and disappear during the run. Takes some 10 ns. */
uint64_t dsos_answers(struct dsos *d);
/* The next lookup reads the perf maps of running processes again, even before their time. */
void dsos_look_again(struct dsos *d);
/* Bytes used by symbol tables. */
size_t dsos_bytes(const struct dsos *d);
#endif
