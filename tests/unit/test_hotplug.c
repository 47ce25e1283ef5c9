/* SPDX-License-Identifier: Apache-2.0 */
/* What is told when CPUs come and go. */

#include "checks.h"

#include "stream/live/hotplug.h"

static const struct row {
	const char *before, *after, *watched;
	bool named, tasks;
	const char *gone, *come;     /* NULL: not told */
} rows[] = {
	{ "0-3", "0-3", "0-3", false, false, NULL, NULL }, { "0-3", "0,2", "0-3", false, false, "CPU 1,3 went offline", NULL },
	{ "0-3", "0-5", "0-3", false, false, NULL, "CPU 4-5 came online" },
	{ "0-3", "0,4", "0-3", false, false, "CPU 1-3 went offline", "CPU 4 came online" },
	/* a watched one that comes back is not called unwatched: that was said when it went */
	{ "0", "0-1", "0-1", false, false, NULL, NULL },
	/* named by -C: others are nobody's business */
	{ "0-3", "0-2", "1", true, false, NULL, NULL }, { "0-3", "0,2-3", "1", true, false, "CPU 1 went offline", NULL },
	{ "0-3", "0-7", "1", true, false, NULL, NULL },
	/* tasks wander off a CPU that goes, and their events there stay */
	{ "0-3", "0", "0-3", false, true, NULL, NULL }, { "0-3", "0-4", "0-3", false, true, NULL, "CPU 4 came online" },
};

static void check(const struct row *row)
{
	struct numlist before, after, watched;
	char line[600];
	bool told;

	assert_int_equal(numlist_parse(&before, row->before, 1024, NULL), 0);
	assert_int_equal(numlist_parse(&after, row->after, 1024, NULL), 0);
	assert_int_equal(numlist_parse(&watched, row->watched, 1024, NULL), 0);
	told = hotplug_compare(&before, &after, &watched, row->named, row->tasks, line, sizeof(line));
	assert_int_equal(told, row->gone || row->come);
	assert_int_equal(!!strstr(line, "went offline"), !!row->gone);
	assert_int_equal(!!strstr(line, "came online"), !!row->come);
	if (row->gone)
		assert_non_null(strstr(line, row->gone));
	if (row->come)
		assert_non_null(strstr(line, row->come));
	numlist_free(&before);
	numlist_free(&after);
	numlist_free(&watched);
}

TEST(what_matters_is_told)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

TEST(a_short_buffer_is_filled_and_ended)
{
	struct numlist before, after;
	char line[12];

	numlist_parse(&before, "0-3", 1024, NULL);
	numlist_parse(&after, "0,9", 1024, NULL);
	assert_true(hotplug_compare(&before, &after, &before, false, false, line, sizeof(line)));
	assert_int_equal(strlen(line), sizeof(line) - 1);
	numlist_free(&before);
	numlist_free(&after);
}

TEST(nothing_changes_here_meanwhile)
{
	struct hotplug h;
	char line[600];

	hotplug_begin(&h);
	assert_true(h.online.n > 0);
	assert_false(hotplug_look(&h, &h.online, false, false, true, line, sizeof(line)));
	assert_int_equal(h.back.n, 0);
	hotplug_end(&h);
}

TEST(a_watched_cpu_that_comes_back_is_opened_again)
{
	struct hotplug h;
	struct numlist watched;
	char line[600];

	hotplug_begin(&h);
	watched = h.online;
	h.online = (struct numlist){ 0 };   /* all were away */
	assert_false(hotplug_look(&h, &watched, false, false, true, line, sizeof(line)));
	assert_int_equal(h.back.n, watched.n);
	assert_int_equal(h.online.n, watched.n);
	numlist_free(&watched);
	hotplug_end(&h);
}
