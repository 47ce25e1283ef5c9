/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pyhost/python_options.h"

const char *python_version(void)
{
	return PY_VERSION " (" PYTHON_BIN ")";
}
