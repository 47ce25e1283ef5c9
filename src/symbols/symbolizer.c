/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_BYTES (16u << 20)

struct symbolizer {
	int kallsyms_fd;               /* until it was read; -1 then */
	struct kallsyms *kallsyms;     /* NULL: not read, or hidden */
	struct dsos *dsos;
	struct parser *parser;
};

struct symbolizer *symbolizer_new(const struct symbolizer_opts *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	const struct opener *opener = opts->opener ? opts->opener : &opener_direct;

	if (!s)
		return NULL;
	s->kallsyms_fd = opener_proc(opener, 0, "kallsyms");
	s->dsos = dsos_new(opener, opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES);
	s->parser = parser_new(&(struct parser_opts){ .place = opts->parse });
	if (!s->dsos || !s->parser) {
		symbolizer_free(s);
		return NULL;
	}
	dsos_use(s->dsos, s->parser, opts->verbose);
	return s;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	if (s->kallsyms_fd >= 0)
		close(s->kallsyms_fd);
	kallsyms_free(s->kallsyms);
	dsos_free(s->dsos);
	parser_free(s->parser);
	free(s);
}

int symbolizer_read_kernel(struct symbolizer *s)
{
	if (s->kallsyms_fd >= 0) {
		s->kallsyms = kallsyms_read(s->kallsyms_fd);
		close(s->kallsyms_fd);
		s->kallsyms_fd = -1;
	}
	return s->kallsyms ? 0 : -EACCES;
}

bool symbolizer_kernel(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym)
{
	return !symbolizer_read_kernel(s) && !kallsyms_find(s->kallsyms, addr, sym);
}

struct dsos *symbolizer_dsos(struct symbolizer *s)
{
	return s->dsos;
}

struct parser *symbolizer_parser(struct symbolizer *s)
{
	return s->parser;
}
