/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/images.h"

#include "base/now.h"
#include "base/opener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_MAPPINGS = 1 << 16 };

static int each(FILE *maps, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + IMAGES_SECONDS * UINT64_C(1000000000);
	bool found = false;
	char *line = NULL;
	size_t room = 0;
	int rc = 0;
	ssize_t len;

	for (int i = 0; i < MAX_MAPPINGS && !rc && !found && (len = getline(&line, &room, maps)) > 0; i++) {
		struct procmaps_line map;

		if (line[len - 1] == '\n')
			len--;
		if (!procmaps_parse(line, (size_t)len, &map) || !map.ino || map.pgoff)
			continue;
		if (now_ns(CLOCK_MONOTONIC) < end)
			found = look(ctx, &map);
		else
			rc = -ETIME;
	}
	free(line);
	return rc;
}

int images_each(const struct memory *m, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx)
{
	int fd = opener_proc(&opener_direct, m->pid, "maps"), rc;
	FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!maps) {
		rc = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = each(maps, look, ctx);
	fclose(maps);
	return rc;
}
