/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sources.h"

const struct source_ops *const analysis_sources[] = { &page_faults_source, &profile_source, NULL };
