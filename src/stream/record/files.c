/* SPDX-License-Identifier: Apache-2.0 */
/* The successive files of a recording: their names, and how many are kept. */
#include "base/note.h"
#include "base/outfile.h"
#include "base/room.h"
#include "perfdata/write/writer.h"
#include "stream/code/jitnames.h"
#include "stream/record/recorder.h"
#include "stream/state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* FILE.2026011510304512 as perf names them: time and hundredths of a second. To be freed; NULL
 * without memory. */
static char *name_of_now(const char *path)
{
	struct timespec now;
	struct tm tm;
	char text[64], *name = NULL;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&name, "%s.%s%02ld", path, text, now.tv_nsec / 10000000) < 0)
		return NULL;
	return name;
}

/* Remembers the file, and deletes the oldest one if there are more than to be kept. */
static void keep_file(struct stream *s, char *name)
{
	char **old;

	if (!ROOM_FOR_ONE(s->record.old, s->record.nold)) {
		free(name);
		return;
	}
	old = s->record.old;
	old[s->record.nold++] = name;
	if (!s->opts->recording.keep || s->record.nold <= s->opts->recording.keep)
		return;
	outfile_unlink(old[0]);
	free(old[0]);
	memmove(old, old + 1, --s->record.nold * sizeof(*old));
}

/* Whether the previous file, less than a hundredth of a second ago, got the same name. */
static bool is_taken(const struct stream *s, const char *name)
{
	return name && s->record.nold && !strcmp(name, s->record.old[s->record.nold - 1]);
}

enum { MAX_FOLDERS = 16 << 20 };   /* bytes */

void recorder_keep_folder(struct stream *s, const char *line)
{
	const size_t n = strlen(line);

	if (s->record.nfolders + n + 1 > MAX_FOLDERS || !ROOM_FOR(s->record.folders, s->record.folders_room, s->record.nfolders, n + 1)) {
		s->record.lacks_folders = true;
		return;
	}
	memcpy(s->record.folders + s->record.nfolders, line, n);
	s->record.folders[s->record.nfolders + n] = '\n';
	s->record.nfolders += n + 1;
}

/* Other files than the first do not begin with the run: they lack calls that have changed folders. */
static void put_folders(struct stream *s)
{
	if (s->record.nfolders && !s->dumps.flight && s->loss.totals.recorded_files == 1)
		perfdata_put_folders(s->record.writer, s->record.folders, s->record.nfolders);
	if (s->record.lacks_folders)
		note(s->opts->verbose, "%s: folders of some processes are missing: there were too many", s->opts->record);
}

/* Nothing that belongs to the file may be written after this. */
void recorder_put_addenda(struct stream *s)
{
	const char *why;

	put_folders(s);
	jitnames_put(s->record.jitnames, s->record.writer);
	while ((why = jitnames_missing(s->record.jitnames)))
		note(s->opts->verbose, "%s: some functions of code that programs made have no names: %s",
		     s->opts->record, why);
}

bool recorder_next_file(struct stream *s)
{
	char *name = name_of_now(s->opts->record);
	struct fault f = {0};

	if (s->record.one_file) {
		free(name);
		return true;
	}
	if (is_taken(s, name)) {
		free(name);
		return false;
	}
	if (name && !s->dumps.flight)
		recorder_put_addenda(s);
	if (!name || perfdata_switch(s->record.writer, name, &f)) {
		fprintf(stderr, "perf-prof: %s; the recording goes on in one file\n",
			name ? f.text : "out of memory");
		free(name);
		s->record.one_file = !s->dumps.flight;
		return true;
	}
	if (!s->dumps.flight)
		jitnames_next_file(s->record.jitnames);
	s->loss.totals.recorded_files++;
	keep_file(s, name);
	return true;
}
