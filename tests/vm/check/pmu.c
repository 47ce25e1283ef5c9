/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters, where the machine has any. */
#include "check.h"

const struct check pmu_checks[] = {
	{ NULL, NULL },
};
