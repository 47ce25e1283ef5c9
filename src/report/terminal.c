/* SPDX-License-Identifier: Apache-2.0 */
#include "report/terminal.h"

#include "base/units.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && !units_u64(text, &n) && n && n <= INT_MAX ? (unsigned int)n : otherwise;
}

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb");
}

struct terminal terminal_of(FILE *out)
{
	struct winsize size = { 0 };
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd))
		return (struct terminal){ 0 };
	ioctl(fd, TIOCGWINSZ, &size);
	return (struct terminal){
		.columns = from_environment("COLUMNS", size.ws_col ? size.ws_col : 80),
		.rows = from_environment("LINES", size.ws_row ? size.ws_row : 24),
		.colour = wants_colour(),
	};
}

void terminal_clear(void)
{
	fputs("\033[H\033[J", stdout);
}
