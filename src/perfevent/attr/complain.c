/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/attr/complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pev_ask_(struct pev_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	*err = (struct pev_error){ .code = code };
	va_start(ap, fmt);
	vsnprintf(err->asked, sizeof(err->asked), fmt, ap);
	va_end(ap);
}

void pev_say_(struct pev_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->said, sizeof(err->said), fmt, ap);
	va_end(ap);
}

void pev_advise_(struct pev_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->remedy, sizeof(err->remedy), fmt, ap);
	va_end(ap);
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
