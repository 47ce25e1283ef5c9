/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that records. */
#include "perfdata/write/format.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool add_text(struct bytes *b, const char *text)
{
	bytes_add_string(b, text);
	return *text != '\0';
}

static bool cpu_description(char *text, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " "));
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool add_cpu(struct bytes *b)
{
	char text[256];

	return cpu_description(text, sizeof(text)) && add_text(b, text);
}

static bool add_memory(struct bytes *b)
{
	bytes_add_u64(b, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
	return true;
}

static bool add_cpus(struct bytes *b)
{
	bytes_add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	bytes_add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	return true;
}

static bool add_command(struct bytes *b, const char *const *argv, size_t argc)
{
	bytes_add_u32(b, (uint32_t)argc);
	for (size_t i = 0; i < argc; i++)
		bytes_add_string(b, argv[i]);
	return argc != 0;
}

bool machine_feature(struct bytes *b, int feature, const char *version, const char *const *argv,
		     size_t argc)
{
	struct utsname name;

	if (uname(&name))
		return false;
	switch (feature) {
	case FEATURE_HOSTNAME:
		return add_text(b, name.nodename);
	case FEATURE_OSRELEASE:
		return add_text(b, name.release);
	case FEATURE_VERSION:
		return add_text(b, version);
	case FEATURE_ARCH:
		return add_text(b, name.machine);
	case FEATURE_NRCPUS:
		return add_cpus(b);
	case FEATURE_CPUDESC:
		return add_cpu(b);
	case FEATURE_TOTAL_MEM:
		return add_memory(b);
	case FEATURE_CMDLINE:
		return add_command(b, argv, argc);
	}
	return false;
}
