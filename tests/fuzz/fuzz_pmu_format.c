/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PMU whose every file is hostile. The input is split at 0xff bytes: type, cpumask, a
 * format, an event, its scale, and terms to make an attr of.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfevent/machine/pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[64];

static const char *const files[] = {
	"p/type", "p/cpumask", "p/format/a", "p/events/e", "p/events/e.scale",
};
enum { NFILES = sizeof(files) / sizeof(*files) };

static void remove_tree(void)
{
	static const char *const all[] = {
		"p/type", "p/cpumask", "p/format/a", "p/format/b", "p/events/e", "p/events/e.scale",
		"p/format", "p/events", "p", "",
	};
	char path[128];

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, all[i]);
		remove(path);
	}
}

static void put(const char *name, const void *data, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	assert(f);
	assert(fwrite(data, 1, size, f) == size);
	fclose(f);
}

static void make_tree(void)
{
	char path[128];

	strcpy(root, "/dev/shm/pev-fuzz-XXXXXX");
	assert(mkdtemp(root));
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", root,
			 (const char *const[]){ "p", "p/format", "p/events" }[i]);
		assert(!mkdir(path, 0700));
	}
	put("p/format/b", "config:0-7,32-35", 16);
	atexit(remove_tree);
}

/* The piece of the input up to the next 0xff. */
static size_t piece(const uint8_t **data, size_t *size, const uint8_t **start)
{
	const uint8_t *end = memchr(*data, 0xff, *size);
	size_t len = end ? (size_t)(end - *data) : *size;

	*start = *data;
	*data += len + !!end;
	*size -= len + !!end;
	return len;
}

static void check_pmu(const struct pev_pmu *pmu, const char *terms)
{
	const struct pev_pmu_format *f;
	union pev_attr_buf buf;

	for (unsigned int i = 0; (f = pev_pmu_format_at(pmu, i)); i++)
		assert(f->bits && f->word <= 9);
	assert(pev_pmu_event_at(pmu, 0)->terms);
	pev_pmu_attr(pmu, "e", &buf, NULL);
	if (!pev_pmu_attr(pmu, terms, &buf, &(struct pev_error){ 0 }))
		assert(buf.attr.size >= 128 && buf.attr.size <= 144);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *start;
	struct pev_error err;
	struct pev_pmu *pmu;
	unsigned int word;
	uint64_t bits;
	char *text;
	size_t len;
	int rc;

	if (!root[0])
		make_tree();
	for (int i = 0; i < NFILES; i++) {
		len = piece(&data, &size, &start);
		put(files[i], start, len);
		text = strndup((const char *)start, len);
		if (text && !pev_pmu_parse_format_(text, &word, &bits))
			assert(bits && word <= 9);
		free(text);
	}
	text = strndup((const char *)data, size);
	rc = pev_pmu_open_at_(&pmu, root, "p", &err);
	assert(text && !rc == !!pmu);
	if (!rc)
		check_pmu(pmu, text);
	else
		assert(err.code == -rc && err.said[0]);
	pev_pmu_close(pmu);
	free(text);
	return 0;
}
