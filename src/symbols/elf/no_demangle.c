/* SPDX-License-Identifier: Apache-2.0 */
/* Without libiberty names are shown as in the file. */
#include "symbols/elf/demangle.h"

#include <errno.h>

int demangle(const char *name, char buf[DEMANGLE_MAX])
{
	return -EINVAL;
}

int demangle_signature(const char *name, char buf[DEMANGLE_MAX])
{
	return -EINVAL;
}

int demangle_as_nm(const char *name, char buf[DEMANGLE_MAX])
{
	return -EINVAL;
}
