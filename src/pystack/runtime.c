/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/runtime.h"

#include "pystack/image.h"
#include "tasks/tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
	r->image = start;
	r->version = version_of(&image, r->address);
	return offsets_of(&r->offsets, m, r->address, r->version);
}

struct search {
	struct runtime *runtime;
	const struct memory *memory;
	bool is_32bit;
	int rc;
};

/* Whether the search is over. Images that cannot be read are no reason to end it. */
static bool is_answer(int rc)
{
	return !rc || rc == -ENOTSUP || rc == -EPROTO || rc == -EPERM || rc == -ESRCH;
}

static bool look(void *ctx, const struct procmaps_line *map)
{
	struct search *s = ctx;

	s->rc = look_at(s->runtime, s->memory, map->start);
	s->is_32bit |= s->rc == -EMEDIUMTYPE;
	return is_answer(s->rc);
}

int runtime_find(struct runtime *r, const struct memory *m)
{
	struct search s = { .runtime = r, .memory = m, .rc = -ENOENT };
	int rc;

	*r = (struct runtime){ 0 };
	rc = images_each(m, look, &s);
	if (rc)
		return rc;
	return is_answer(s.rc) ? s.rc : s.is_32bit ? -EMEDIUMTYPE : -ENOENT;
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
		fault_set(f, EXIT_FAILED, "%s: there is no process %d; `pgrep NAME` finds the number", what, (int)pid);
		f->error = ESRCH;
		return -1;
	case -EPERM:
	case -EACCES:
		return tracing_refused(rc, what, "memory", "read", pid, f);
	case -ENOENT:
		fault_set(f, EXIT_FAILED, "%s: process %d is no CPython program, or its interpreter does not export "
			  "_PyRuntime: expected Python 3.9 to 3.14", what, (int)pid);
		f->error = ENOENT;
		return -1;
	case -ETIME:
		return fault_set(f, EXIT_FAILED, "%s: process %d has mapped so many files that no CPython was found in %d seconds", what,
				 (int)pid, IMAGES_SECONDS);
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
