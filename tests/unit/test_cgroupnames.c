/* SPDX-License-Identifier: Apache-2.0 */
/* What control groups are called. */
#include "checks.h"

#include "tasks/cgroupnames.h"
#include "tasks/containers.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(by_path)
{
	static const struct {
		const char *path, *label;
	} rows[] = {
		{ "/", "/" }, { "", "" }, { "/system.slice/nginx.service", "/system.slice/nginx.service" },
		{ "/system.slice/docker-" ID ".scope", "0123456789ab" },
		{ "/machine.slice/libpod-" ID ".scope/container", "0123456789ab" },
		{ "/machine.slice/machine-my\\x2dvm.scope/payload/init.scope", "my-vm" },
		{ "/docker/" OTHER "/docker/" ID, "0123456789ab" },
		{ "//" ID "//", "0123456789ab" }, { "relative", "relative" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct container_lists lists = { 0 };
		char buf[256];

		assert_string_equal(cgroupnames_label(rows[i].path, &lists, buf, sizeof(buf)), rows[i].label);
		container_lists_free(&lists);
	}
}

TEST(by_id)
{
	struct cgroupnames *c = cgroupnames_new(false);

	cgroupnames_set(c, 1, "/");
	cgroupnames_set(c, 7, "/docker/" ID);
	cgroupnames_set(c, 8, "/docker/" ID "/init");
	assert_string_equal(cgroupnames_get(c, 1), "/");
	assert_string_equal(cgroupnames_get(c, 7), "0123456789ab");
	assert_ptr_equal(cgroupnames_get(c, 7), cgroupnames_get(c, 8));
	assert_string_equal(cgroupnames_get(c, 9), "[unknown]");
	cgroupnames_set(c, 9, "/late");
	assert_string_equal(cgroupnames_get(c, 9), "/late");
	cgroupnames_free(c);
	cgroupnames_free(NULL);
}
