/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	const struct pev_attr_field *field;
	union pev_attr_buf buf;
	uint64_t value;

	pev_attr_buf_init(&buf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	if (pev_attr_set(&buf, "inherit", 1) || pev_attr_set(&buf, "sample_max_stack", 64))
		return 1;
	for (unsigned int i = 0; (field = pev_attr_field_at(i)); i++)
		if (!pev_attr_get(&buf.attr, field->name, &value) && value)
			printf("%-18s %-6" PRIu64 " (Linux %s: %s)\n", field->name, value,
			       field->since, field->what);
	return 0;
}
