/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/state/pevfault.h"

#include <stdio.h>
#include <string.h>

int fault_from_pev(struct fault *f, int exit_code, const struct pev_error *err)
{
	char text[1200];

	/* the kernel's message about a filter has a caret below the text: it needs lines of its own */
	if (strchr(err->said, '\n'))
		snprintf(text, sizeof(text), "%s:\n%s\n%s", err->asked, err->said, err->remedy);
	else
		pev_error_text(err, text, sizeof(text));
	fault_set(f, exit_code, "%s", text);
	if (f)
		f->error = err->code;
	return -1;
}
