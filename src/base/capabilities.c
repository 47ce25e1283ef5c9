/* SPDX-License-Identifier: Apache-2.0 */
#include "base/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static int get_all(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return (int)syscall(SYS_capget, &header, data);
}

uint64_t capabilities_effective(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return get_all(data) ? 0 : (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Sets permitted and effective capabilities; none are inheritable, so none can be ambient. */
static int set_permitted(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .permitted = (uint32_t)caps, .effective = (uint32_t)caps },
		{ .permitted = (uint32_t)(caps >> 32), .effective = (uint32_t)(caps >> 32) },
	};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &header, data);
}

int capabilities_drop(void)
{
	return set_permitted(0);
}

/* With capabilities in the file, execve(2) clears the ambient set: all of them come from the file. */
bool capabilities_of_file(void)
{
	return getauxval(AT_SECURE) && getuid();
}

bool capabilities_trust_environment(void)
{
	return geteuid() && !getauxval(AT_SECURE);
}

int capabilities_trim(struct fault *f)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (getuid() != geteuid() || getgid() != getegid())
		return fault_set(f, EXIT_FAILED, "real user %u and effective user %u, real group %u and effective "
				 "group %u: perf-prof does not run setuid or setgid, because its options would "
				 "read and write files with these rights; run chmod ug-s on it, and use sudo, or "
				 "setcap cap_perfmon+ep",
				 getuid(), geteuid(), getgid(), getegid());
	if (!capabilities_of_file())
		return 0;
	if (get_all(data) || set_permitted(((uint64_t)data[1].permitted << 32 | data[0].permitted) & 1ull << CAP_PERFMON))
		return fault_set(f, EXIT_FAILED, "cannot drop the capabilities of the program file: %s; "
				 "nothing was done", strerror(errno));
	return 0;
}
