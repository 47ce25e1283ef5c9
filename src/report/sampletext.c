/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sampletext.h"

#include "base/escape.h"
#include "tasks/resolve.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t clip(int n, size_t size)
{
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* ---- symbols ------------------------------------------------------------------- */

static size_t escaped(const char *text, char *buf, size_t size)
{
	return escape_terminal(text, strlen(text), buf, size);
}

static size_t sample_symbol_text(const struct resolve_words *words, char *buf, size_t size)
{
	char symbol[512], dso[384];

	escaped(words->symbol ? words->symbol : "Unknown", symbol, sizeof(symbol));
	escaped(words->dso ? words->dso : "[unknown]", dso, sizeof(dso));
	return clip(snprintf(buf, size, "%s+0x%" PRIx64 " (%s)", symbol, words->offset, dso), size);
}

/* Looks up the address in the kernel or user space, as the sample was taken. */
static size_t symbol_text(struct names *names, const struct sample_view *s, uint64_t ip, char *buf,
			  size_t size)
{
	struct chain_address a = { ip, ip, chain_place_of(s->rec->misc) };
	struct resolve_words words = { 0 };
	struct resolve_site site;

	site = resolve_site(names->maps, &a, (pid_t)layout_u32(s->rec, s->event->layout.tid),
			    sample_time(s));
	resolve_words(names->symbolizer, &a, &site, &words);
	return sample_symbol_text(&words, buf, size);
}

/* ---- shapes ------------------------------------------------------------------- */

static size_t period_text(struct names *names, const struct sample_view *s, char *buf, size_t size)
{
	const struct stream_event *event = s->event;

	return clip(snprintf(buf, size, "%s: %" PRIu64 " %s", event->name, event_period(event, s->rec), event->sampling->what), size);
}

static size_t fault_text(struct names *names, const struct sample_view *s, char *buf, size_t size)
{
	const struct layout *l = &s->event->layout;
	uint64_t ip = layout_u64(s->rec, l->ip);
	size_t n = clip(snprintf(buf, size, "%16" PRIx64 " %16" PRIx64 " ", layout_u64(s->rec, l->addr),
				 ip), size);

	return n + symbol_text(names, s, ip, buf + n, size - n);
}

static size_t (*const shapes[])(struct names *names, const struct sample_view *s, char *buf,
				  size_t size) = {
	[SHAPE_PERIOD] = period_text,
	[SHAPE_FAULT] = fault_text,
};

size_t sample_text(struct names *names, const struct sample_view *s, char *buf, size_t size)
{
	return shapes[s->event->sampling->shape](names, s, buf, size);
}

/* ---- registers ---------------------------------------------------------------- */

enum { PER_LINE = 4 };

bool sample_register_name(const struct pev_format *fmt, uint64_t abi, unsigned int reg, char *buf,
			  size_t size)
{
	const char *name = pev_reg_name(fmt->arch, abi, reg);

	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "reg%u", reg);
	for (; *buf; buf++)
		*buf = (char)tolower((unsigned char)*buf);
	return name || abi != PERF_SAMPLE_REGS_ABI_32;
}

size_t sample_registers_text(const struct sample_view *s, char *buf, size_t size)
{
	const struct pev_format *fmt = &s->event->sampling->format;
	const struct pev_regs *regs;
	struct pev_record rec;
	unsigned int shown = 0;
	uint64_t value;
	size_t n = 0;

	buf[0] = '\0';
	if (s->event->opened.stack_format && !(fmt->sample_type & PERF_SAMPLE_REGS_INTR))
		return 0;   /* they were sampled only for unwinding */
	if (pev_decode(s->rec, s->rec->size, fmt, &rec))
		return 0;
	regs = rec.sample.regs_intr.values ? &rec.sample.regs_intr : &rec.sample.regs_user;
	for (unsigned int i = 0; regs->values && i < 64; i++) {
		char name[16];

		if (!pev_regs_value(regs, i, &value) || !sample_register_name(fmt, regs->abi, i, name, sizeof(name)))
			continue;
		n += clip(snprintf(buf + n, size - n, "%s%6s 0x%016" PRIx64,
				   shown % PER_LINE ? " " : shown ? "\n    " : "    ", name, value), size - n);
		shown++;
	}
	return n + (n ? clip(snprintf(buf + n, size - n, "\n"), size - n) : 0);
}
