/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoint formats as perf and trace-cmd write them (version 0.6). Any machine decodes the
 * recording with the formats of the machine that recorded it.
 */
#include "perfdata/write/format.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files of tracefs report no size: read to the end. 0 or -errno. */
static int add_file(struct bytes *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		bytes_add(b, buf, (size_t)n);
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

/* The size of a file as u64, then its content. */
static int add_sized_file(struct bytes *b, const char *path, struct fault *f)
{
	size_t at = b->n;
	uint64_t size = 0;
	int rc;

	bytes_add_u64(b, size);
	rc = add_file(b, path);
	if (rc)
		return fault_unreadable(f, path, rc);
	size = b->n - at - sizeof(size);
	if (!b->failed)
		memcpy(b->data + at, &size, sizeof(size));
	return 0;
}

static void add_preamble(struct bytes *b)
{
	static const char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	char endian = BYTE_ORDER == BIG_ENDIAN, longs = sizeof(long);

	bytes_add(b, magic, sizeof(magic));
	bytes_add_text(b, "0.6");
	bytes_add(b, &endian, 1);
	bytes_add(b, &longs, 1);
	bytes_add_u32(b, (uint32_t)sysconf(_SC_PAGESIZE));
}

static int add_page_formats(struct bytes *b, const char *tracefs, struct fault *f)
{
	static const char *const pages[] = { "header_page", "header_event" };
	char path[4096];

	for (int i = 0; i < 2; i++) {
		bytes_add_text(b, pages[i]);
		snprintf(path, sizeof(path), "%s/events/%s", tracefs, pages[i]);
		if (add_sized_file(b, path, f))
			return -1;
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t system_length(const char *name)
{
	return strcspn(name, ":");
}

static bool same_system(const char *a, const char *b)
{
	return system_length(a) == system_length(b) && !memcmp(a, b, system_length(a));
}

/* The events of one system: names[0] to names[n - 1]. */
static int add_system(struct bytes *b, const char *tracefs, const char *const *names, size_t n,
		      struct fault *f)
{
	size_t length = system_length(names[0]);
	uint32_t different = 0;
	char path[4096];

	bytes_add(b, names[0], length);
	bytes_add(b, "", 1);
	for (size_t i = 0; i < n; i++)
		different += !i || strcmp(names[i], names[i - 1]);
	bytes_add_u32(b, different);
	for (size_t i = 0; i < n; i++) {
		if (i && !strcmp(names[i], names[i - 1]))
			continue;
		snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", tracefs, (int)length,
			 names[0], names[i] + length + 1);
		if (add_sized_file(b, path, f))
			return -1;
	}
	return 0;
}

static int add_systems(struct bytes *b, const char *tracefs, const char *const *names, size_t n,
		       struct fault *f)
{
	uint32_t systems = 0;

	for (size_t i = 0; i < n; i++)
		systems += !i || !same_system(names[i], names[i - 1]);
	bytes_add_u32(b, systems);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_system(names[i], names[end]);)
			end++;
		if (add_system(b, tracefs, names + i, end - i, f))
			return -1;
	}
	return 0;
}

/* Texts that formats refer to by address. */
static int add_printk_formats(struct bytes *b, const char *tracefs)
{
	size_t at = b->n;
	char path[4096];
	uint32_t size = 0;

	bytes_add_u32(b, size);
	snprintf(path, sizeof(path), "%s/printk_formats", tracefs);
	if (add_file(b, path))
		b->n = at + sizeof(size);   /* there is no such file */
	size = (uint32_t)(b->n - at - sizeof(size));
	if (!b->failed)
		memcpy(b->data + at, &size, sizeof(size));
	return 0;
}

int tracing_data(struct bytes *b, const char *tracefs, const char *const *names, size_t n,
		 struct fault *f)
{
	const char **sorted = calloc(n ? n : 1, sizeof(*sorted));
	int rc;

	if (!sorted)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n; i++)
		sorted[i] = names[i];
	qsort(sorted, n, sizeof(*sorted), by_text);
	add_preamble(b);
	rc = add_page_formats(b, tracefs, f);
	bytes_add_u32(b, 0);               /* formats of ftrace's own events */
	if (!rc)
		rc = add_systems(b, tracefs, sorted, n, f);
	bytes_add_u32(b, 0);               /* kallsyms: not needed */
	if (!rc)
		rc = add_printk_formats(b, tracefs);
	bytes_add_u64(b, 0);               /* saved command names: COMM records have them */
	free(sorted);
	return rc;
}
