/* SPDX-License-Identifier: Apache-2.0 */
/* Exit reasons from kvm:kvm_exit: numbers, and the kernel's names for them. */
#ifndef ANALYSIS_DURATIONS_EXIT_REASONS_H
#define ANALYSIS_DURATIONS_EXIT_REASONS_H

#include "engine/analysis.h"

struct exit_reasons {
	const struct trace_field *code, *isa;   /* isa: x86; or NULL */
	const struct trace_field *kind;         /* arm64: esr_ec, the exception class; or NULL */
	struct exit_reason *known;
};

/* Looks up the fields of kvm:kvm_exit: 0, or -1 with f. */
int exit_reasons_begin(struct exit_reasons *all, const struct stream_event *leave, struct fault *f);
void exit_reasons_free(struct exit_reasons *all);
/* The sample's exit reason, as a number for exit_reasons_name(). */
uint64_t exit_reasons_code(struct exit_reasons *all, struct tracefmt_db *formats,
			   const struct analysis_sample *s);
const char *exit_reasons_name(struct exit_reasons *all, uint64_t code);
#endif
