/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
	} bytes = { { PERF_RECORD_COMM, 0, 24 }, 42, 43, "a\033[1mb" };
	struct pev_format format = { 0 };
	struct pev_record record;
	char text[512];

	if (pev_decode(&bytes.header, sizeof(bytes), &format, &record))
		return 1;
	pev_record_text(&record, &format, text, sizeof(text));
	puts(text);
	pev_misc_text(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, text, sizeof(text));
	puts(text);
	pev_aux_flags_text(PERF_AUX_FLAG_TRUNCATED, text, sizeof(text));
	puts(text);
	pev_transaction_text(PERF_TXN_CONFLICT | PERF_TXN_RETRY, text, sizeof(text));
	puts(text);
	return 0;
}
