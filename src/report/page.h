/* SPDX-License-Identifier: Apache-2.0 */
/* A self-contained page: script and style are compiled in (web/), data is written at run time. */
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

/* The page before the data, and after it. The data is JSON from quote_json() and numbers. */
void page_begin(const struct page *page, const char *title, FILE *out);
void page_end(const struct page *page, FILE *out);
#endif
