/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the command page-faults and the source page-faults. */
#ifndef ANALYSIS_PROFILES_PAGE_FAULTS_H
#define ANALYSIS_PROFILES_PAGE_FAULTS_H

#include "analysis/profiles/levels.h"
#include "engine/analysis.h"

/* The first member of both configs. */
struct page_faults_opts {
	struct analysis_opts common;
	struct levels levels;
};
#endif
