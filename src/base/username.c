/* SPDX-License-Identifier: Apache-2.0 */
#include "base/username.h"

#include "base/escape.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

void username_of(uid_t uid, char *name, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		escape_terminal(user->pw_name, strlen(user->pw_name), name, size);
	else
		snprintf(name, size, "user %u", (unsigned int)uid);
}
