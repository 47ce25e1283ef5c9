/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/hotplug.h"

#include "base/now.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND 1000000000ull

void hotplug_begin(struct hotplug *h)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };

	*h = (struct hotplug){ .messages = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT) };
	if (h->messages >= 0)   /* without them the list alone is read */
		bind(h->messages, (const struct sockaddr *)&kernel, sizeof(kernel));
	cpulist_online(&h->online);
}

void hotplug_end(struct hotplug *h)
{
	if (h->messages > 0)
		close(h->messages);
	numlist_free(&h->online);
	numlist_free(&h->back);
}

static void take_messages(struct hotplug *h, const struct numlist *watched)
{
	struct sockaddr_nl from;
	char text[64];
	ssize_t n;
	int cpu;

	while ((n = recvfrom(h->messages, text, sizeof(text) - 1, 0, (struct sockaddr *)&from, &(socklen_t){ sizeof(from) })) > 0) {
		text[n] = '\0';
		if (from.nl_pid || sscanf(text, "online@/devices/system/cpu/cpu%d", &cpu) != 1 || !numlist_has(watched, cpu))
			continue;
		numlist_add(&h->online, cpu);
		numlist_add(&h->back, cpu);
	}
}

/* Writes the numbers of `a` that are not in `b` and for which membership in `c` is `in_c`. False:
 * there are none. */
static bool lacking(const struct numlist *a, const struct numlist *b, const struct numlist *c,
		    bool in_c, char *buf, size_t size)
{
	struct numlist found = { 0 };
	bool any;

	for (size_t i = 0; i < a->n; i++)
		if (!numlist_has(b, a->v[i]) && !numlist_has(c, a->v[i]) == !in_c)
			numlist_add(&found, a->v[i]);
	any = found.n;
	numlist_text(&found, buf, size);
	numlist_free(&found);
	return any;
}

bool hotplug_compare(const struct numlist *before, const struct numlist *after,
		     const struct numlist *watched, bool named, bool tasks, char *buf, size_t size)
{
	char gone[256], come[256];
	bool went = !tasks && lacking(before, after, watched, true, gone, sizeof(gone));
	bool came = !named && lacking(after, before, watched, false, come, sizeof(come));
	int n = 0;

	if (size)
		buf[0] = '\0';
	if (went)
		n = snprintf(buf, size, "CPU %s went offline", gone);
	if (came && n >= 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "%sCPU %s came online: it is not watched; start "
			 "again to include it", went ? "; " : "", come);
	return went || came;
}

bool hotplug_look(struct hotplug *h, const struct numlist *watched, bool named, bool tasks,
		  bool now, char *buf, size_t size)
{
	struct numlist after;
	uint64_t time = now_ns(CLOCK_MONOTONIC);
	bool changed;

	take_messages(h, watched);
	if (!now && time - h->looked < SECOND)
		return false;
	h->looked = time;
	if (cpulist_online(&after))
		return false;
	changed = hotplug_compare(&h->online, &after, watched, named, tasks, buf, size);
	for (size_t i = 0; i < after.n; i++)
		if (!numlist_has(&h->online, after.v[i]) && numlist_has(watched, after.v[i]))
			numlist_add(&h->back, after.v[i]);
	numlist_free(&h->online);
	h->online = after;
	return changed;
}
