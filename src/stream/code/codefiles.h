/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files with sampled code that a rebuild may replace: programs and libraries outside of the system's folders, whose
 * files come from packages. They are held open while they are recorded, and copied into perf's cache at the end
 * (symbols/elf/idcache.h), so that the recording has names, lines and instructions when the file at the path is another one.
 *
 * A file is sampled if any word of a sample may be an address in its mapping: its ip, its call chain, or its stack for later
 * unwinding. Samples of a process are looked at only until all files that it maps are known to be sampled.
 */
#ifndef STREAM_CODE_CODEFILES_H
#define STREAM_CODE_CODEFILES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attention;
struct codefiles;

/* A mapping of a file. */
struct codefile_mapping {
	uint32_t pid;
	uint64_t addr, len;
	const char *path;
	const uint8_t *id;       /* build id of the file */
	size_t id_size;
	int fd;                  /* the file, of which the caller may not have the rights to read it; -1: was passed before */
};

struct codefiles *codefiles_new(void);
void codefiles_free(struct codefiles *c);
/* A mapping of code; c may be NULL, as in all functions. */
void codefiles_saw(struct codefiles *c, const struct codefile_mapping *m);
/* The child has the mappings of its parent. */
void codefiles_forked(struct codefiles *c, uint32_t pid, uint32_t ppid);
/* Whether there are files of which it is not known that they are sampled: only then pass samples. */
bool codefiles_any(const struct codefiles *c);
/* A sample that is recorded, beginning with IDENTIFIER, IP and TID. Mappings before it must have been passed already. */
void codefiles_sampled(struct codefiles *c, const struct perf_event_header *rec);
/* Copies the sampled files, unless a pending ATTN_STOP of `attn` ends it. */
void codefiles_keep(struct codefiles *c, const struct attention *attn, int verbose);
#endif
