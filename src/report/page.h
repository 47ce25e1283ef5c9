/* SPDX-License-Identifier: Apache-2.0 */
/* A self-contained page: script and style that were compiled in (web/), data that came now. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

struct page {
	const char *script, *style;
	size_t script_size, style_size;
	const char *script_hash;         /* SHA-256, base64 */
};

extern const struct page flame_page, heat_page;

/* All before the data, which is JSON written by quote_json() and numbers, and all behind it. */
void page_begin(const struct page *page, const char *title, FILE *out);
void page_end(const struct page *page, FILE *out);
#endif
