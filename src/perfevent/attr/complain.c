/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/attr/complain.h"

#include "perfevent.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- error ------------------------------------------------------------------------------ */

size_t pev_error_text(const struct pev_error *err, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s: %s%s%s", err->asked, err->said,
			 err->remedy[0] ? "; " : "", err->remedy);

	if (n < 0 || !size)
		return 0;
	return (size_t)n < size ? (size_t)n : size - 1;
}

#define PRINT(text, fmt)                                                                           \
	do {                                                                                       \
		va_list ap_;                                                                       \
                                                                                                   \
		va_start(ap_, fmt);                                                                \
		vsnprintf((text), sizeof(text), (fmt), ap_);                                       \
		va_end(ap_);                                                                       \
	} while (0)

void pev_ask_(struct pev_error *err, int code, const char *fmt, ...)
{
	if (!err)
		return;
	*err = (struct pev_error){ .code = code };
	PRINT(err->asked, fmt);
}

void pev_say_(struct pev_error *err, const char *fmt, ...)
{
	if (err)
		PRINT(err->said, fmt);
}

void pev_advise_(struct pev_error *err, const char *fmt, ...)
{
	if (err)
		PRINT(err->remedy, fmt);
}

void pev_say_errno_(struct pev_error *err, int code)
{
	const char *name = strerrorname_np(code);

	pev_say_(err, "%s (%s)", strerror(code), name ? name : "?");
}

int pev_refuse_(struct pev_error *err, int code, const char *asked, const char *said,
		const char *remedy)
{
	pev_ask_(err, code, "%s", asked);
	pev_say_(err, "%s", said);
	pev_advise_(err, "%s", remedy);
	return -code;
}

int pev_no_memory_(struct pev_error *err, const char *asked)
{
	pev_ask_(err, ENOMEM, "%s", asked);
	pev_say_errno_(err, ENOMEM);
	return -ENOMEM;
}
