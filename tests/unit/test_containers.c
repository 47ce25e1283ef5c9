/* SPDX-License-Identifier: Apache-2.0 */
/* Which control groups are containers, by their names. */
#include "checks.h"

#include "tasks/containers.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(names_of_each_manager)
{
	static const struct {
		const char *cgroup, *id, *name;
	} rows[] = {
		{ "docker-" ID ".scope", ID, "" }, { ID, ID, "" }, { "libpod-" ID ".scope", ID, "" }, { "libpod-" ID, ID, "" },
		{ "cri-containerd-" ID ".scope", ID, "" }, { "crio-" ID ".scope", ID, "" },
		{ "kubepods-besteffort-pod1_2.slice:cri-containerd:" ID, ID, "" },
		{ "machine-vm.scope", "", "vm" }, { "machine-my\\x2dvm.scope", "", "my-vm" },
		{ "systemd-nspawn@web.service", "", "web" }, { "lxc.payload.c1", "", "c1" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct container c;

		if (!container_of(rows[i].cgroup, &c) || strcmp(c.id, rows[i].id) || strcmp(c.name, rows[i].name))
			fail_msg("%s: id %s, name %s", rows[i].cgroup, c.id, c.name);
	}
}

TEST(what_is_none)
{
	static const char *const names[] = {
		"", "x", ".scope", "user.slice", "nginx.service", "session-1.scope", "libpod-conmon-" ID ".scope",
		"crio-conmon-" ID ".scope", "0" ID, "docker-" ID "0.scope", "docker-" ID ".mount", "machine-.scope",
		"docker-0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef.scope", "machine.slice", "lxc.payload.",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct container c;

		if (container_of(names[i], &c))
			fail_msg("%s: id %s, name %s", names[i], c.id, c.name);
	}
}

TEST(the_label_is_short)
{
	struct container c;
	char buf[CONTAINER_NAME];

	assert_true(container_of("docker-" ID ".scope", &c));
	assert_string_equal(container_label(&c, buf, sizeof(buf)), "0123456789ab");
	snprintf(c.name, sizeof(c.name), "web");
	assert_string_equal(container_label(&c, buf, sizeof(buf)), "web");
}
