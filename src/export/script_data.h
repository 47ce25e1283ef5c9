/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields as JSON and CSV write them. Inline, since each caller's style is constant. */
#ifndef EXPORT_SCRIPT_DATA_H
#define EXPORT_SCRIPT_DATA_H

#include "export/script.h"

static inline void script_put_bytes(struct script_line *l, const struct script_style *style, const void *data, size_t len)
{
	outbuf_word(l->out, style->quote);
	outbuf_hex_bytes(l->out, data, len);
	outbuf_word(l->out, style->quote);
}

/* A field outside the raw data has no value. */
static inline void script_put_trace_field(struct script_line *l, const struct script_style *style,
					  const struct trace_field *f)
{
	const struct sample_view *v = &l->s->view;
	const char *data;
	uint32_t len;

	if (f->kind == FIELD_UINT)
		outbuf_number(l->out, trace_field_uint(f, v->raw));
	else if (f->kind == FIELD_SINT)
		outbuf_integer(l->out, trace_field_sint(f, v->raw));
	else if (trace_field_data(f, v->raw, v->raw_size, &data, &len))
		outbuf_word(l->out, style->none);
	else if (trace_field_is_text(f))
		style->text(l->out, data, len);
	else
		script_put_bytes(l, style, data, len);
}

/* own: for SCRIPT_OWN. */
static inline void script_put_value(struct script_line *l, const struct script_style *style, const struct script_field *f,
				    script_put_fn *own)
{
	const char *word;

	switch (f->kind) {
	case SCRIPT_UNSIGNED:
		outbuf_number(l->out, (uint64_t)f->number(l));
		break;
	case SCRIPT_SIGNED:
		outbuf_integer(l->out, f->number(l));
		break;
	case SCRIPT_WORD:
		word = f->word(l);
		if (word)
			style->text(l->out, word, strlen(word));
		else
			outbuf_word(l->out, style->none);
		break;
	case SCRIPT_OWN:
		own(l);
		break;
	}
}
#endif
