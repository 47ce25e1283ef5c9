/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/cfi.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_BYTES = 16 << 20, MAX_DEATHS = 3 };

struct page {
	uint64_t at;
	struct cfi_table *table; /* NULL: nothing known */
	UT_hash_handle hh;
};

struct cfi {
	struct parser *parser;
	void *state;             /* of the handler, if there is no parser */
	int fd;
	struct page *pages, *last;
	size_t bytes;
	unsigned int deaths;
};

struct cfi *cfi_new(struct parser *p, int fd)
{
	struct cfi *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->parser = p;
	c->fd = fd;
	return c;
}

static void forget_pages(struct cfi *c)
{
	struct page *page, *next;

	HASH_ITER(hh, c->pages, page, next) {
		HASH_DEL(c->pages, page);
		cfi_table_free(page->table);
		free(page);
	}
	c->last = NULL;
	c->bytes = 0;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	forget_pages(c);
	if (c->state)
		cfi_forget(c->state);
	free(c);
}

size_t cfi_bytes(const struct cfi *c)
{
	return c ? sizeof(*c) + c->bytes : 0;
}

static struct cfi_table *ask(struct cfi *c, uint64_t at)
{
	struct parser_question q = { .kind = PARSER_CFI, .fds = { c->fd }, .nfds = 1, .bytes = &at,
				     .size = sizeof(at) };
	struct parser_bytes out = { 0 };
	struct cfi_table *t = NULL;
	int rc = c->deaths >= MAX_DEATHS ? -EOWNERDEAD :
		 c->parser ? parser_ask(c->parser, &q, &out) : cfi_answer(&c->state, &q, &out);

	c->deaths += rc == -EOWNERDEAD || rc == -ETIME;
	if (!rc)
		t = cfi_table_unpack(out.data, out.size);
	parser_bytes_free(&out);
	return t;
}

static struct page *read_page(struct cfi *c, uint64_t at)
{
	struct page *page;

	if (c->bytes > MAX_BYTES)
		forget_pages(c);
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->at = at;
	page->table = ask(c, at);
	HASH_ADD(hh, c->pages, at, sizeof(page->at), page);
	if (HASH_LOST(page)) {
		cfi_table_free(page->table);
		free(page);
		return NULL;
	}
	c->bytes += sizeof(*page) + (page->table ? cfi_table_bytes(page->table) : 0);
	return page;
}

static struct page *find_page(const struct cfi *c, uint64_t at)
{
	struct page *page = c->last;

	if (!page || page->at != at)
		HASH_FIND(hh, c->pages, &at, sizeof(at), page);
	return page;
}

static uint64_t page_of(uint64_t vaddr)
{
	return vaddr & ~(uint64_t)(CFI_PAGE - 1);
}

bool cfi_has(const struct cfi *c, uint64_t vaddr)
{
	return c && find_page(c, page_of(vaddr));
}

const struct cfi_rule *cfi_find(struct cfi *c, uint64_t vaddr)
{
	uint64_t at = page_of(vaddr);

	c->last = find_page(c, at);
	if (!c->last)
		c->last = read_page(c, at);
	return c->last && c->last->table ? cfi_table_find(c->last->table, (unsigned int)(vaddr - at)) : NULL;
}
