/* SPDX-License-Identifier: Apache-2.0 */
/* What the command page-faults and the source of that name have in common. */
#ifndef ANALYSIS_PROFILES_PAGE_FAULTS_H
#define ANALYSIS_PROFILES_PAGE_FAULTS_H

#include "analysis/profiles/levels.h"
#include "engine/analysis.h"

/* The head of both configs. */
struct page_faults_opts {
	struct analysis_opts common;
	struct levels levels;
};
#endif
