/* SPDX-License-Identifier: Apache-2.0 */
/* What control groups are called. */
#include "checks.h"

#include <mntent.h>

#include "base/now.h"
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

static unsigned int looks;

/* Instead of libc's: the first step of each walk, which finds no hierarchy. */
FILE *setmntent(const char *file, const char *mode)
{
	(void)file;
	(void)mode;
	looks++;
	return NULL;
}

TEST(unknown_ids_do_not_mean_a_walk_each)
{
	struct cgroupnames *c = cgroupnames_new(true);
	const uint64_t begin = now_ns(CLOCK_MONOTONIC);

	looks = 0;
	for (uint64_t id = 1; id <= 100000; id++)
		assert_string_equal(cgroupnames_get(c, id), "[unknown]");
	assert_in_range(looks, 1, 1 + (now_ns(CLOCK_MONOTONIC) - begin) / 100000000);
	cgroupnames_set(c, 2, "/came");
	assert_string_equal(cgroupnames_get(c, 2), "/came");
	cgroupnames_free(c);
}
