/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoint formats in a recording, as perf and trace-cmd write them (versions 0.5 and 0.6). See
 * write/tracing.c. */
#include "perfdata/read/reading.h"

#include <inttypes.h>

static const char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

static bool take_preamble(struct scan *s, struct perfdata_formats *f)
{
	const char *head = scan_bytes(s, sizeof(magic));
	const char *version = head && !memcmp(head, magic, sizeof(magic)) ? scan_text(s) : NULL;
	const char *machine = version ? scan_bytes(s, 2) : NULL;

	if (!machine)
		return false;
	f->big_endian = machine[0];
	f->long_size = (uint8_t)machine[1];
	s->foreign = f->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return scan_u32(s, &f->page_size);
}

static const char *take_sized(struct scan *s, size_t *len)
{
	uint64_t size;
	const char *text = scan_u64(s, &size) ? scan_bytes(s, size) : NULL;

	*len = text ? (size_t)size : 0;
	return text;
}

static bool skip_page_formats(struct scan *s)
{
	const char *name;
	size_t len;

	for (int i = 0; i < 2; i++) {
		name = scan_text(s);
		if (!name || strncmp(name, "header_", 7) || !take_sized(s, &len))
			return false;
	}
	return true;
}

/* Formats of ftrace's own events, which perf cannot record. */
static bool skip_ftrace_formats(struct scan *s)
{
	uint32_t n;
	size_t len;

	if (!scan_u32(s, &n))
		return false;
	while (n--)
		if (!take_sized(s, &len))
			return false;
	return true;
}

/* 0; 1: truncated; below 0: the result of format(). */
static int each_system(struct scan *s, struct perfdata_formats *f)
{
	const char *sys = scan_text(s);
	uint32_t n;

	if (!sys || !scan_u32(s, &n))
		return 1;
	while (n--) {
		size_t len;
		const char *text = take_sized(s, &len);
		int rc = text ? f->format(f->ctx, sys, text, len) : 1;

		if (rc)
			return rc;
	}
	return 0;
}

/* Behind the formats are kallsyms, and the texts of the kernel to which events refer by address. */
static void take_texts(struct scan *s, struct perfdata_formats *f)
{
	const char *text = NULL;
	uint32_t size = 0;

	for (int i = 0; i < 2; i++)
		text = scan_u32(s, &size) ? scan_bytes(s, size) : NULL;
	if (text)
		f->texts(f->ctx, text, size);
}

int perfdata_each_format(const struct perfdata_reader *r, struct perfdata_formats *f,
			 struct fault *fault)
{
	struct scan s = { .foreign = r->foreign };
	uint32_t systems = 0;
	int rc;

	if (!r->tracing.n)
		return 0;
	s.p = r->tracing.data;
	s.end = s.p + r->tracing.n;
	rc = !take_preamble(&s, f) || !skip_page_formats(&s) || !skip_ftrace_formats(&s) ||
	     !scan_u32(&s, &systems);
	while (!rc && systems--)
		rc = each_system(&s, f);
	if (!rc && f->texts)
		take_texts(&s, f);
	if (rc <= 0)
		return rc;
	return reading_fault(r, fault, (uint64_t)(s.p - r->tracing.data), "the formats of tracepoints (%zu "
			     "bytes; the offset is within them) are truncated or damaged", r->tracing.n);
}
