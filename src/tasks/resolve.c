/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/resolve.h"

#include <string.h>

struct resolve_site resolve_site(struct maps *maps, const struct chain_address *a, pid_t pid,
				 uint64_t time)
{
	const struct mapping *m = NULL;

	if (a->place == PLACE_USER && maps)
		m = maps_find(maps, pid, a->at, time);
	if (!m)
		return (struct resolve_site){ NULL, a->at };
	return (struct resolve_site){ m->dso, a->at - m->start + m->pgoff };
}

static void kernel_words(struct symbolizer *s, const struct chain_address *a,
			 struct resolve_words *words)
{
	struct kernel_symbol sym;

	words->kernel = true;
	words->dso = s ? symbolizer_kernel_dso(s, a->at) : "[kernel.kallsyms]";
	if (!s || !symbolizer_kernel(s, a->at, &sym))
		return;
	/* nothing calls from the padding before a function: it was interrupted at its first byte */
	if (a->at != a->ip && !strncmp(sym.name, "__pfx_", 6) && !symbolizer_kernel(s, a->ip, &sym))
		return;
	words->symbol = sym.name;
	words->dso = sym.dso;
	words->offset = a->ip - sym.start;
}

static void user_words(struct symbolizer *s, const struct chain_address *a,
		       const struct resolve_site *site, struct resolve_words *words)
{
	uint64_t into;

	if (s && site->dso && dso_find(symbolizer_dsos(s), site->dso, site->at, &words->symbol, &into))
		words->offset = into + (a->ip - a->at);
	words->dso = site->dso ? dso_name(site->dso) : "[unknown]";
	words->late = site->dso && dso_is_late(site->dso);
}

void resolve_words(struct symbolizer *s, const struct chain_address *a,
		   const struct resolve_site *site, struct resolve_words *words)
{
	*words = (struct resolve_words){ .offset = site->at + (a->ip - a->at) };
	switch (a->place) {
	case PLACE_KERNEL:
		kernel_words(s, a, words);
		break;
	case PLACE_USER:
		user_words(s, a, site, words);
		break;
	case PLACE_HYPERVISOR:
		words->kernel = true;
		words->dso = "[hypervisor]";
		break;
	case PLACE_GUEST_KERNEL:
		words->kernel = words->guest = true;
		words->dso = "[guest.kernel.kallsyms]";
		break;
	case PLACE_GUEST_USER:
		words->guest = true;
		words->dso = "[guest.unknown]";
		break;
	}
}
