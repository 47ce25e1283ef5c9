/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header features that are lists of numbers and texts. A row describes one part of a feature; its
 * letters say what an entry consists of:
 *
 *	u	32-bit number
 *	U	64-bit number
 *	s	text
 *	b	bit map: number of bits, words
 *	d	as many bytes as the number before says
 */
#include "base/room.h"
#include "perfdata/read/reading.h"

#include <stdlib.h>

enum { MAX_FACTS = 1 << 20, MAX_EACH = 1 << 18 };

/* How many entries: one, the u32 or u64 before them, or one for each CPU. */
enum repeat { ONCE, BY_U32, BY_U64, BY_CPU };

static const struct part {
	uint8_t feature, part;
	const char *head;              /* numbers before the count, skipped */
	enum repeat repeat;
	const char *each;
	bool optional;                 /* older recorders do not write it */
} parts[] = {
	{ PERFDATA_CPU_TOPOLOGY, PERFDATA_CORES, "", BY_U32, "s", false },
	{ PERFDATA_CPU_TOPOLOGY, PERFDATA_THREADS, "", BY_U32, "s", false },
	{ PERFDATA_CPU_TOPOLOGY, PERFDATA_CPU_PLACE, "", BY_CPU, "uu", true },
	{ PERFDATA_CPU_TOPOLOGY, PERFDATA_DIES, "", BY_U32, "s", true },
	{ PERFDATA_CPU_TOPOLOGY, PERFDATA_CPU_DIE, "", BY_CPU, "u", true },
	{ PERFDATA_NUMA_TOPOLOGY, 0, "", BY_U32, "uUUs", false },
	{ PERFDATA_PMU_MAPPINGS, 0, "", BY_U32, "us", false },
	{ PERFDATA_GROUP_DESC, 0, "", BY_U32, "suu", false },
	{ PERFDATA_CACHE, 0, "u", BY_U32, "uuuusss", false },
	{ PERFDATA_MEM_TOPOLOGY, 0, "UU", BY_U64, "UUb", false },
	{ PERFDATA_CLOCKID, 0, "", ONCE, "U", false },
	{ PERFDATA_COMPRESSION, 0, "u", ONCE, "uuuu", false },
	{ PERFDATA_CPU_PMU_CAPS, 0, "", BY_U32, "ss", false },
	{ PERFDATA_HYBRID_TOPOLOGY, 0, "", BY_U32, "ss", false },
	{ PERFDATA_BPF_PROG_INFO, 0, "", BY_U32, "uuUd", false },
	{ PERFDATA_BPF_BTF, 0, "", BY_U32, "uud", false },
};

static struct perfdata_fact *new_fact(struct perfdata_info *info, const struct part *part)
{
	struct perfdata_fact *v = info->nfacts < MAX_FACTS ? APPENDED(info->facts, info->nfacts) : NULL;

	if (v)
		*v = (struct perfdata_fact){ .feature = part->feature, .part = part->part };
	return v;
}

static bool skip_bits(struct scan *s)
{
	uint64_t bits;

	return scan_u64(s, &bits) && bits <= UINT64_MAX - 63 && scan_bytes(s, (bits + 63) / 64 * 8);
}

/* The info of a BPF program has two kinds of bytes: its own, and those it points to. */
static bool skip_data(struct scan *s, const struct perfdata_fact *fact)
{
	uint64_t n = fact->feature == PERFDATA_BPF_PROG_INFO ? fact->number[0] + fact->number[1]
							     : fact->number[1];

	return scan_bytes(s, n);
}

static bool take_number(struct scan *s, char letter, uint64_t *n)
{
	uint32_t v = 0;

	if (letter == 'U')
		return scan_u64(s, n);
	if (!scan_u32(s, &v))
		return false;
	*n = v;
	return true;
}

static bool take_text(struct scan *s, char **text)
{
	size_t len = 0;
	const char *from = scan_string(s, &len);

	*text = reading_text(from, len);
	return *text;
}

static bool take_fact(struct perfdata_info *info, struct scan *s, const struct part *part)
{
	struct perfdata_fact *fact = new_fact(info, part);
	size_t numbers = 0, texts = 0;

	for (const char *letter = part->each; fact && *letter; letter++) {
		bool ok;

		if (*letter == 's')
			ok = take_text(s, &fact->text[texts++]);
		else if (*letter == 'b')
			ok = skip_bits(s);
		else if (*letter == 'd')
			ok = skip_data(s, fact);
		else
			ok = take_number(s, *letter, &fact->number[numbers++]);
		if (!ok)
			return false;
	}
	return fact;
}

static bool take_count(const struct perfdata_info *info, struct scan *s, const struct part *part,
		       uint64_t *n)
{
	uint64_t unused;

	for (const char *letter = part->head; *letter; letter++)
		if (!take_number(s, *letter, &unused))
			return false;
	*n = part->repeat == BY_CPU ? info->cpus_there : 1;
	if (part->repeat == BY_U32)
		return take_number(s, 'u', n);
	return part->repeat != BY_U64 || take_number(s, 'U', n);
}

static bool take_part(struct perfdata_info *info, struct scan *s, const struct part *part)
{
	uint64_t n;

	if (part->optional && !scan_left(s))
		return true;
	if (!take_count(info, s, part, &n) || n > MAX_EACH)
		return false;
	while (n--)
		if (!take_fact(info, s, part))
			return false;
	return true;
}

bool facts_take(struct perfdata_reader *r, int feature, struct scan *s)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].feature == feature && !take_part(&r->info, s, &parts[i]))
			return false;
	return true;
}

void facts_free(struct perfdata_info *info)
{
	for (size_t i = 0; i < info->nfacts; i++)
		for (size_t k = 0; k < sizeof(info->facts[i].text) / sizeof(*info->facts[i].text); k++)
			free(info->facts[i].text[k]);
	free(info->facts);
}
