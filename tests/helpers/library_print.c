/* SPDX-License-Identifier: Apache-2.0 */
#include "library_print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>
#include <unistd.h>

enum {
	MAX_RAW = UINT16_MAX,
	/* From where raw data begins, what a number of it may make libtraceevent read: an offset, a count of words. */
	REACH = MAX_RAW + 8 * MAX_RAW + 8,
	MAX_FORMAT = 1 << 16,
};

struct library {
	struct tep_handle *tep;
	struct trace_seq seq;
	char *raw;              /* of the event that is printed, and zeroes behind it */
	char *format;
};

/* By what may be 0: it ends the process then. */
static bool divides(const struct tep_print_arg *arg)
{
	for (; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_OP) {
			const struct tep_print_arg *by = arg->op.right;

			if ((!strcmp(arg->op.op, "/") || !strcmp(arg->op.op, "%")) &&
			    (by->type != TEP_PRINT_ATOM || !strtoull(by->atom.atom, NULL, 0)))
				return true;
			if (divides(arg->op.left) || divides(by))
				return true;
		}
		if ((arg->type == TEP_PRINT_TYPE && divides(arg->typecast.item)) ||
		    (arg->type == TEP_PRINT_FLAGS && divides(arg->flags.field)) ||
		    (arg->type == TEP_PRINT_SYMBOL && divides(arg->symbol.field)) ||
		    (arg->type == TEP_PRINT_FUNC && divides(arg->func.args)))
			return true;
	}
	return false;
}

struct library *library_new(void)
{
	struct library *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->tep = tep_alloc();
	l->raw = calloc(1, REACH);
	l->format = malloc(MAX_FORMAT);
	trace_seq_init(&l->seq);
	if (l->tep && l->raw && l->format) {
		tep_set_file_bigendian(l->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
		tep_set_long_size(l->tep, sizeof(long));
		tep_set_page_size(l->tep, (int)sysconf(_SC_PAGESIZE));
		return l;
	}
	library_free(l);
	return NULL;
}

void library_free(struct library *l)
{
	if (l->tep)
		tep_free(l->tep);
	trace_seq_destroy(&l->seq);
	free(l->raw);
	free(l->format);
	free(l);
}

const struct tep_event *library_event(struct library *l, const char *tracefs, const struct tracefmt *fmt)
{
	struct tep_event *ev = NULL;
	char path[600];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, fmt->sys, fmt->name);
	file = fopen(path, "re");
	if (file) {
		n = fread(l->format, 1, MAX_FORMAT, file);
		fclose(file);
	}
	tep_parse_format(l->tep, &ev, l->format, n, fmt->sys);
	if (!ev || ev->flags & (int)TEP_EVENT_FL_FAILED || tep_find_event(l->tep, fmt->id) != ev || divides(ev->print_fmt.args))
		return NULL;
	return ev;
}

const char *library_text(struct library *l, const void *raw, uint32_t raw_size, size_t *len)
{
	struct tep_record rec = { .data = l->raw, .size = (int)raw_size, .record_size = (int)raw_size };

	/* it wants the last string to end, and numbers to be aligned */
	memcpy(l->raw, raw, raw_size);
	memset(l->raw + raw_size, 0, 8);
	trace_seq_reset(&l->seq);
	tep_print_event(l->tep, &l->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&l->seq);
	*len = strlen(l->seq.buffer);
	return l->seq.buffer;
}
