/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	union pev_attr_buf buf, copy;

	pev_attr_buf_init(&buf, PERF_TYPE_RAW, 0x1c0);
	printf("%u bytes\n", buf.attr.size);
	pev_attr_set_config3(&buf, 7);
	printf("%u bytes with config3\n", buf.attr.size);
	if (pev_attr_buf_copy(&copy, &buf.attr))
		return 1;
	pev_attr_set_config4(&copy, 9);
	printf("%u bytes with config4\n", copy.attr.size);
	return 0;
}
