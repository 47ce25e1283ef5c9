/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of symbols and tasks stand in the page, and anyone can choose one. They are data
 * (quote_json() leaves no '<' in it), the script makes text nodes of them, and the page's
 * policy lets no other script run and nothing be loaded.
 */
#include "report/page.h"

#include "report/quote.h"

#include <string.h>

void page_begin(const struct page *page, const char *title, FILE *out)
{
	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'sha256-%s'; style-src 'unsafe-inline'\">\n<title>", page->script_hash);
	quote_xml(title, strlen(title), out);
	fputs("</title>\n<style>", out);
	fwrite(page->style, 1, page->style_size, out);
	fputs("</style>\n</head>\n<body>\n<noscript>This picture needs JavaScript.</noscript>\n"
	      "<script type=\"application/json\" id=\"data\">\n", out);
}

void page_end(const struct page *page, FILE *out)
{
	fputs("\n</script>\n<script>", out);
	fwrite(page->script, 1, page->script_size, out);
	fputs("</script>\n</body>\n</html>\n", out);
}
