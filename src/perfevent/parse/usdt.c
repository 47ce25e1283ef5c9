/* SPDX-License-Identifier: Apache-2.0 */
/*
 * USDT probes: <sys/sdt.h> leaves a note in .note.stapsdt for each, with three addresses (the
 * probe, .stapsdt.base as linked, the semaphore or 0) and three strings (provider, name,
 * arguments). If prelink has moved the file since, the probe has moved as far as .stapsdt.base.
 */
#include "perfevent/parse/usdt.h"

#include "base/room.h"
#include "perfevent/attr/complain.h"
#include "perfevent/parse/elffile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_TYPE 3
#define PROBE_LIMIT (1u << 20)

struct pev_usdt {
	char *path;
	char *notes;                     /* contains the strings of the probes */
	struct pev_usdt_probe *probes;
	size_t n;
};

struct reader {
	struct pev_elf elf;
	uint64_t base;                   /* address of .stapsdt.base; 0 = none */
	struct pev_usdt *usdt;
};

/* The string at *p if it ends before end; else NULL. */
static const char *take_string(const char **p, const char *end)
{
	const char *text = *p, *zero = memchr(text, '\0', (size_t)(end - text));

	if (!zero)
		return NULL;
	*p = zero + 1;
	return text;
}

static int add(struct pev_usdt *u, const struct pev_usdt_probe *probe)
{
	if (u->n >= PROBE_LIMIT)
		return -EBADMSG;
	if (!ROOM_FOR_ONE(u->probes, u->n))
		return -ENOMEM;
	u->probes[u->n++] = *probe;
	return 0;
}

static int read_note(struct reader *r, const char *p, const char *end)
{
	size_t word = r->elf.wide ? 8 : 4;
	struct pev_usdt_probe probe = { 0 };
	uint64_t base, semaphore;
	int rc;

	if ((size_t)(end - p) < 3 * word)
		return -EBADMSG;
	probe.address = pev_elf_word_(&r->elf, p);
	base = pev_elf_word_(&r->elf, p + word);
	semaphore = pev_elf_word_(&r->elf, p + 2 * word);
	p += 3 * word;
	probe.provider = take_string(&p, end);
	probe.name = probe.provider ? take_string(&p, end) : NULL;
	probe.args = probe.name ? take_string(&p, end) : NULL;
	if (!probe.args)
		return -EBADMSG;
	if (r->base && base) {
		probe.address += r->base - base;
		if (semaphore)
			semaphore += r->base - base;
	}
	rc = pev_elf_offset_(&r->elf, probe.address, &probe.offset);
	if (!rc && semaphore)
		rc = pev_elf_offset_(&r->elf, semaphore, &probe.ref_ctr_offset);
	if (rc)
		return rc == -ENOENT ? -EBADMSG : rc;
	return add(r->usdt, &probe);
}

/* Notes, 4-byte aligned: name size, description size, type, name, description. */
static int read_notes(struct reader *r, const char *p, size_t size)
{
	while (size >= 12) {
		uint64_t name = pev_elf_u32_(&r->elf, p), desc = pev_elf_u32_(&r->elf, p + 4);
		uint32_t type = pev_elf_u32_(&r->elf, p + 8);
		uint64_t desc_at = 12 + ((name + 3) & ~3ull), all = desc_at + desc;
		int rc = 0;

		if (all > size)
			return -EBADMSG;
		if (type == NOTE_TYPE && name == sizeof("stapsdt") && !memcmp(p + 12, "stapsdt", 8))
			rc = read_note(r, p + desc_at, p + all);
		if (rc)
			return rc;
		all = (all + 3) & ~3ull;
		if (all > size)
			break;
		p += all;
		size -= all;
	}
	return 0;
}

static int read_file(struct reader *r)
{
	struct pev_elf_section s;
	int rc = pev_elf_find_section_(&r->elf, ".stapsdt.base", &s);

	if (!rc)
		r->base = s.addr;
	if (rc && rc != -ENOENT)
		return rc;
	rc = pev_elf_find_section_(&r->elf, ".note.stapsdt", &s);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = pev_elf_load_(&r->elf, &s, &r->usdt->notes);
	return rc ? rc : read_notes(r, r->usdt->notes, s.size);
}

int pev_usdt_begin_(struct pev_usdt **out, int fd)
{
	struct reader r = { 0 };
	int rc = pev_elf_begin_(&r.elf, fd);

	*out = NULL;
	if (rc)
		return rc;
	r.usdt = calloc(1, sizeof(*r.usdt));
	rc = r.usdt ? read_file(&r) : -ENOMEM;
	if (rc)
		pev_usdt_close(r.usdt);
	else
		*out = r.usdt;
	return rc;
}

static int open_path(struct pev_usdt **out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	*out = NULL;
	if (fd < 0)
		return -errno;
	rc = pev_usdt_begin_(out, fd);
	close(fd);
	if (rc || ((*out)->path = strdup(path)))
		return rc;
	pev_usdt_close(*out);
	*out = NULL;
	return -ENOMEM;
}

int pev_usdt_open(struct pev_usdt **out, const char *path, struct pev_error *err)
{
	int rc = open_path(out, path);

	if (!rc)
		return 0;
	pev_ask_(err, -rc, "read the USDT probes of %.200s", path);
	if (rc == -EBADMSG)
		pev_say_(err, "not an ELF file, or its notes are damaged");
	else
		pev_say_errno_(err, -rc);
	return rc;
}

void pev_usdt_close(struct pev_usdt *usdt)
{
	if (!usdt)
		return;
	free(usdt->probes);
	free(usdt->notes);
	free(usdt->path);
	free(usdt);
}

const struct pev_usdt_probe *pev_usdt_at(const struct pev_usdt *usdt, size_t i)
{
	return i < usdt->n ? &usdt->probes[i] : NULL;
}

int pev_attr_usdt(struct perf_event_attr *attr, const struct pev_usdt *usdt, size_t i,
		  struct pev_error *err)
{
	const struct pev_usdt_probe *p = pev_usdt_at(usdt, i);

	if (!p) {
		pev_ask_(err, ENOENT, "USDT probe %zu of %.200s", i, usdt->path);
		pev_say_(err, "it has %zu", usdt->n);
		return -ENOENT;
	}
	return pev_attr_uprobe(attr, usdt->path, p->offset, p->ref_ctr_offset, false, err);
}
