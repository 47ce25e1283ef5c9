/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page contains names of symbols and tasks, which anyone can choose. They are data
 * (quote_json() leaves no '<' in it), the script inserts them as text nodes, and the page's
 * content security policy allows no other script and no requests.
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
