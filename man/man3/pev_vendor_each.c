/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

static int show(const char *pmu, const char *name, const char *desc, void *ctx)
{
	int *n = ctx;

	if ((*n)++ < 5)
		printf("%s: %s: %s\n", pmu, name, desc);
	return 0;
}

int main(void)
{
	int n = 0;

	if (pev_vendor_each(show, &n))
		printf("built without libpfm4\n");
	else
		printf("%d events\n", n);
	return 0;
}
