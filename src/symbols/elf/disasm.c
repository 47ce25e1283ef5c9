/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/disasm.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CODE = 1 << 20 };

struct reading {
	const char *at, *end;
	uint64_t next;           /* the least address of the next instruction */
};

/* Reads one instruction; *text is not terminated. False: at the end, or invalid. */
static bool read_one(struct reading *r, const struct disasm_question *q, struct insn_head *head, const char **text)
{
	if ((size_t)(r->end - r->at) < sizeof(*head))
		return false;
	memcpy(head, r->at, sizeof(*head));
	*text = r->at + sizeof(*head);
	if (head->len > (size_t)(r->end - *text) || head->addr < r->next || head->addr >= q->end)
		return false;
	r->at = *text + head->len;
	r->next = head->addr + 1;
	return true;
}

struct disasm *disasm_unpack(const struct disasm_question *q, const void *bytes, size_t size)
{
	struct reading r = { bytes, (const char *)bytes + size, q->start };
	struct insn_head head;
	struct disasm *d;
	const char *text;
	char *to;
	size_t n = 0;

	while (read_one(&r, q, &head, &text))
		n++;
	if (!n || r.at != r.end)
		return NULL;
	/* a text needs one byte more than in the answer, but no head */
	d = calloc(1, sizeof(*d) + n * sizeof(*d->v) + size);
	if (!d)
		return NULL;
	*d = (struct disasm){ .start = q->start, .end = q->end };
	to = (char *)(d->v + n);
	r = (struct reading){ bytes, (const char *)bytes + size, q->start };
	while (read_one(&r, q, &head, &text)) {
		d->v[d->n++] = (struct insn){ head.addr, memcpy(to, text, head.len) };
		to += head.len + 1;
	}
	return d;
}

struct disasm *disasm_new(struct parser *p, int fd, uint64_t start, uint64_t end)
{
	const struct disasm_question what = { start, end > start && end - start > MAX_CODE ? start + MAX_CODE : end };
	struct parser_question q = { .kind = PARSER_CODE, .fds = { fd }, .nfds = 1, .bytes = &what, .size = sizeof(what) };
	struct parser_bytes out = { 0 };
	struct disasm *d = end <= start || parser_ask(p, &q, &out) ? NULL : disasm_unpack(&what, out.data, out.size);

	parser_bytes_free(&out);
	return d;
}

void disasm_free(struct disasm *d)
{
	free(d);
}
