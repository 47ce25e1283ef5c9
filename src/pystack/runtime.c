/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/runtime.h"

#include "base/now.h"
#include "base/opener.h"
#include "pystack/image.h"
#include "tasks/procmaps.h"
#include "tasks/tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MAPPINGS = 1 << 16, SECONDS = 2 };   /* SECONDS: a process may have mapped what takes hours to search */

/* Versions before 3.11 do not export their number: each has functions that the one before lacks. */
static const struct {
	const char *symbol;
	uint32_t version;
} since[] = {
	{ "PyIter_Send", 0x030a0000 },
	{ "PyFrame_GetCode", 0x03090000 },
	{ "PyCode_NewWithPosOnlyArgs", 0x03080000 },
	{ "_PyRuntime", 0x03070000 },
};

static uint32_t version_of(const struct image *image, uint64_t runtime)
{
	uint32_t version = offsets_stated(image->memory, runtime);
	uint64_t addr, word;

	if (version)
		return version;
	if (!image_symbol(image, "Py_Version", &addr) && !memory_word(image->memory, addr, &word))
		return (uint32_t)word;
	for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++)
		if (!image_symbol(image, since[i].symbol, &addr))
			return since[i].version;
	return 0;
}

/* 0: the image mapped there has the runtime; -ENOENT: it has not; or another -errno. */
static int look_at(struct runtime *r, const struct memory *m, uint64_t start)
{
	struct image image;
	int rc = image_open(&image, m, start);

	if (!rc)
		rc = image_symbol(&image, "_PyRuntime", &r->address);
	if (!rc)
		rc = image_symbol(&image, "PyCode_Type", &r->code_type);
	if (rc)
		return rc;
	r->version = version_of(&image, r->address);
	return offsets_of(&r->offsets, m, r->address, r->version);
}

/* Whether the search is over. Images that cannot be read are no reason to end it. */
static bool is_answer(int rc)
{
	return !rc || rc == -ENOTSUP || rc == -EPROTO || rc == -EPERM || rc == -ESRCH || rc == -ETIME;
}

static int search(struct runtime *r, const struct memory *m, FILE *maps)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + SECONDS * UINT64_C(1000000000);
	bool is_32bit = false;
	char *line = NULL;
	size_t room = 0;
	int rc = -ENOENT;
	ssize_t len;

	for (int i = 0; i < MAX_MAPPINGS && !is_answer(rc) && (len = getline(&line, &room, maps)) > 0; i++) {
		struct procmaps_line map;

		if (line[len - 1] == '\n')
			len--;
		if (procmaps_parse(line, (size_t)len, &map) && map.ino && !map.pgoff)
			rc = now_ns(CLOCK_MONOTONIC) < end ? look_at(r, m, map.start) : -ETIME;
		is_32bit |= rc == -EMEDIUMTYPE;
	}
	free(line);
	return is_answer(rc) ? rc : is_32bit ? -EMEDIUMTYPE : -ENOENT;
}

int runtime_find(struct runtime *r, const struct memory *m)
{
	int fd = opener_proc(&opener_direct, m->pid, "maps"), rc;
	FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;

	*r = (struct runtime){ 0 };
	if (!maps) {
		rc = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = search(r, m, maps);
	fclose(maps);
	return rc;
}

/* The micro number of 3.9 and 3.10 is not known. */
const char *runtime_version_text(const struct runtime *r, char *buf, size_t size)
{
	unsigned int major = r->version >> 24, minor = r->version >> 16 & 255, micro = r->version >> 8 & 255;

	if (minor < 11)
		snprintf(buf, size, "%u.%u", major, minor);
	else
		snprintf(buf, size, "%u.%u.%u", major, minor, micro);
	return buf;
}

/* ---- why not ----------------------------------------------------------------------------- */

int runtime_explain(int rc, const struct runtime *r, const char *what, pid_t pid, struct fault *f)
{
	char version[32];

	switch (rc) {
	case -ESRCH:
		return fault_set(f, EXIT_FAILED, "%s: there is no process %d; `pgrep NAME` finds the number", what, (int)pid);
	case -EPERM:
	case -EACCES:
		return tracing_refused(rc, what, "memory", "read", pid, f);
	case -ENOENT:
		return fault_set(f, EXIT_FAILED, "%s: process %d is no CPython program, or its interpreter does not export "
				 "_PyRuntime: expected Python 3.9 to 3.14", what, (int)pid);
	case -ETIME:
		return fault_set(f, EXIT_FAILED, "%s: process %d has mapped so many files that no CPython was found in %d seconds", what,
				 (int)pid, SECONDS);
	case -EMEDIUMTYPE:
		return fault_set(f, EXIT_FAILED, "%s: process %d is a 32-bit program: expected a 64-bit Python", what, (int)pid);
	case -EPROTO:
	case -ENOTSUP:
		return fault_set(f, EXIT_FAILED, "%s: process %d runs Python %s%s: expected 3.9 to 3.14, with a GIL", what,
				 (int)pid, runtime_version_text(r, version, sizeof(version)),
				 r->version >= 0x030d0000 && r->version < 0x030f0000 ? " without a GIL" : "");
	default:
		return fault_set(f, EXIT_FAILED, "%s: cannot read process %d: %s", what, (int)pid, strerror(-rc));
	}
}
