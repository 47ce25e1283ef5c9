/* SPDX-License-Identifier: Apache-2.0 */
#include "base/username.h"

#include "base/escape.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

void username_of(uid_t uid, char *name, size_t size)
{
	char buf[1024];
	struct passwd entry, *user = NULL;

	if (!getpwuid_r(uid, &entry, buf, sizeof(buf), &user) && user)
		escape_terminal(user->pw_name, strlen(user->pw_name), name, size);
	else
		snprintf(name, size, "user %u", (unsigned int)uid);
}
