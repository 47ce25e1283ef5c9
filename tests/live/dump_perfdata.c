/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_perfdata FILE - each record of a perf.data file as "OFFSET TEXT", decoded by
 * libperfevent. A reader for tests only: it trusts the file's own tables.
 */
#include <perfevent.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct section { uint64_t offset, size; };
struct file_head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, types;
};

enum { MAX_ATTRS = 64, USER_TYPES = 64 };

struct attrs {
	size_t n;
	struct pev_format fmt[MAX_ATTRS];
	const uint64_t *ids[MAX_ATTRS];
	size_t nids[MAX_ATTRS];
};

static void die(const char *what)
{
	fprintf(stderr, "dump_perfdata: %s\n", what);
	exit(1);
}

static const char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		die("can't open the file");
	*size = (size_t)st.st_size;
	map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die("can't map the file");
	close(fd);
	return map;
}

static void read_attrs(const char *file, const struct file_head *head, struct attrs *a)
{
	a->n = head->attrs.size / head->attr_size;
	if (a->n > MAX_ATTRS)
		die("too many attrs");
	for (size_t i = 0; i < a->n; i++) {
		const char *at = file + head->attrs.offset + i * head->attr_size;
		struct perf_event_attr attr = { 0 };
		struct section ids;
		size_t known = head->attr_size - sizeof(ids);

		memcpy(&attr, at, known < sizeof(attr) ? known : sizeof(attr));
		memcpy(&ids, at + known, sizeof(ids));
		pev_format_from_attr(&a->fmt[i], &attr);
		a->ids[i] = (const uint64_t *)(file + ids.offset);
		a->nids[i] = ids.size / 8;
	}
}

/* With several attrs perf samples IDENTIFIER: first word of a sample, last of others. */
static const struct pev_format *format_of(const struct attrs *a, const struct perf_event_header *rec)
{
	const uint64_t *words = (const uint64_t *)rec;
	uint64_t id = words[rec->type == PERF_RECORD_SAMPLE ? 1 : rec->size / 8 - 1];

	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < a->nids[i]; j++)
			if (a->ids[i][j] == id)
				return &a->fmt[i];
	return &a->fmt[0];
}

static size_t dump(const char *file, size_t at, const struct attrs *a, size_t left)
{
	const struct perf_event_header *rec = (const struct perf_event_header *)(file + at);
	static char text[1 << 20];
	struct pev_record out;
	const struct pev_format *fmt;

	if (left < sizeof(*rec) || rec->size < sizeof(*rec) || rec->size > left)
		die("damaged record");
	fmt = format_of(a, rec);
	if (pev_decode(rec, left, fmt, &out))
		printf("0x%zx BAD ", at);
	else
		printf("0x%zx ", at);
	if (pev_record_text(&out, fmt, text, sizeof(text)) >= (int)sizeof(text))
		die("text too long");
	puts(text);
	return rec->size;
}

int main(int argc, char **argv)
{
	const struct file_head *head;
	struct attrs attrs = { 0 };
	const char *file;
	size_t size, at;

	if (argc != 2)
		die("usage: dump_perfdata FILE");
	file = map_file(argv[1], &size);
	head = (const struct file_head *)file;
	if (size < sizeof(*head) || memcmp(head->magic, "PERFILE2", 8) ||
	    head->data.offset + head->data.size > size)
		die("no perf.data file");
	read_attrs(file, head, &attrs);
	for (at = head->data.offset; at < head->data.offset + head->data.size;)
		at += dump(file, at, &attrs, head->data.offset + head->data.size - at);
	return 0;
}
