/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/exit_reasons.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct exit_reason {
	uint64_t code;
	char name[48];
	UT_hash_handle hh;
};

static const struct trace_field *maybe(const struct stream_event *event, const char *name)
{
	return analysis_field(event, name, false, NULL);
}

/* Fields on x86: exit_reason and isa; on arm64: ret and esr_ec. */
int exit_reasons_begin(struct exit_reasons *all, const struct stream_event *leave, struct fault *f)
{
	all->isa = maybe(leave, "isa");
	all->kind = maybe(leave, "esr_ec");
	all->code = maybe(leave, all->kind ? "ret" : "exit_reason");
	if (!all->code)
		all->code = analysis_field(leave, "exit_reason", false, f);
	return all->code ? 0 : -1;
}

void exit_reasons_free(struct exit_reasons *all)
{
	HASH_FREE(all->known);
}

/* The event's text has the reason's name: "... reason HLT rip ...", on arm64
 * "TRAP: HSR_EC: 0x0024 (DABT_LOW), PC: ...". */
static void read_name(struct tracefmt_db *formats, const struct analysis_sample *s, char *name, size_t size)
{
	const char *text = tracefmt_print(formats, s->event->fmt, s->view.raw, s->view.raw_size, NULL);
	const char *reason = strstr(text, "reason "), *paren = strchr(text, '(');

	if (reason)
		reason += strlen("reason ");
	else if (paren && !strncmp(text, "TRAP", 4))
		reason = paren + 1;
	else
		reason = text;
	snprintf(name, size, "%.*s", (int)strcspn(reason, " :),"), reason);
}

enum { MAX_REASONS = 4096 };   /* a damaged recording can have any number */

static void learn(struct exit_reasons *all, struct tracefmt_db *formats, const struct analysis_sample *s,
		  uint64_t code)
{
	struct exit_reason *r;

	HASH_FIND(hh, all->known, &code, sizeof(code), r);
	r = r || HASH_COUNT(all->known) >= MAX_REASONS ? NULL : calloc(1, sizeof(*r));
	if (!r)
		return;
	r->code = code;
	read_name(formats, s, r->name, sizeof(r->name));
	HASH_ADD(hh, all->known, code, sizeof(r->code), r);
	if (HASH_LOST(r))
		free(r);
}

uint64_t exit_reasons_code(struct exit_reasons *all, struct tracefmt_db *formats,
			   const struct analysis_sample *s)
{
	uint64_t code = trace_field_uint(all->code, s->view.raw);

	if (all->isa)
		code |= trace_field_uint(all->isa, s->view.raw) << 32;
	if (all->kind)
		code |= trace_field_uint(all->kind, s->view.raw) << 32;
	learn(all, formats, s, code);
	return code;
}

const char *exit_reasons_name(struct exit_reasons *all, uint64_t code)
{
	struct exit_reason *r;

	HASH_FIND(hh, all->known, &code, sizeof(code), r);
	return r ? r->name : "?";
}
