/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/calllines.h"

#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/openflags.h"
#include "base/escape.h"
#include "engine/callnames.h"
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* The parts of a line that are the same in text and in JSON; "": none. */
struct parts {
	char when[64], call[NAME_SIZE], error[NAME_SIZE], flags[OPENFLAGS_TEXT];
};

static void put_parts(struct question *q, const struct happening *h, const struct callline *line, struct parts *p)
{
	analysis_time_text(q->a, h->end.start, p->when, sizeof(p->when));
	call_name(line->number, p->call, sizeof(p->call));
	p->error[0] = p->flags[0] = '\0';
	if (h->error)
		error_name(h->error, p->error, sizeof(p->error));
	if (line->flags)
		openflags_text(line->flags, p->flags, sizeof(p->flags));
}

static const char *or_none(const char *text)
{
	return *text ? text : NULL;
}

/* Of a call with two paths. */
static bool put_both(json_object *root, const char *path, size_t second)
{
	char first[CALLPATH_SIZE];

	return !second || (json_put_text(root, "path1", callpaths_first(path, second, first)) && json_put_text(root, "path2", path + second));
}

static void print_json(struct question *q, const struct happening *h, const struct callline *line, const struct parts *p)
{
	const pid_t parent = line->parent;
	json_object *root = json_object_new_object();
	const bool has_result = syscall_has_result(line->number);

	json_line(root, json_put_text(root, "call", p->call) && json_put_text(root, "time", p->when) &&
		  json_put_unsigned(root, "start", h->end.start) && json_put_unsigned(root, "duration", h->end.duration) &&
		  json_put_text(root, "comm", h->comm) && json_put_integer(root, "pid", pidmap_shown(h->pid)) &&
		  json_put_integer(root, "tid", pidmap_shown(h->tid)) &&
		  (!parent || (json_put_text(root, "parent_comm", analysis_comm(q->a, parent, h->s->time)) &&
			       json_put_integer(root, "parent_pid", pidmap_shown(parent)))) &&
		  json_put_text(root, "flags", or_none(p->flags)) && json_put_text(root, "path", or_none(line->path)) &&
		  put_both(root, line->path, line->second) &&
		  (!has_result || json_put_integer(root, "ret", line->result)) &&
		  json_put_text(root, "error", or_none(p->error)), stdout);
}

/* " (of sh 5619)" */
static void put_parent(struct question *q, const struct happening *h, pid_t parent, char *buf, size_t size)
{
	const char *comm = parent ? analysis_comm(q->a, parent, h->s->time) : "";
	char name[4 * NAME_SIZE];

	buf[0] = '\0';
	escape_terminal(comm, strlen(comm), name, sizeof(name));
	if (parent)
		snprintf(buf, size, " (of %s %d)", name, pidmap_shown(parent));
}

/* "2026-11-27 18:47:35.580890 cat 5699 (of sh 5619) openat(257) r /etc/hostname = 3 after 2.895 us". Names and paths can have any
 * bytes. */
static void print_text(struct question *q, const struct happening *h, const struct callline *line, const struct parts *p)
{
	char name[4 * NAME_SIZE], parent[5 * NAME_SIZE], path[4 * 2 * CALLPATH_SIZE], result[NAME_SIZE + 32] = "";

	escape_terminal(h->comm, strlen(h->comm), name, sizeof(name));
	put_parent(q, h, line->parent, parent, sizeof(parent));
	escape_terminal(line->path, strlen(line->path), path, sizeof(path));
	if (syscall_has_result(line->number))
		snprintf(result, sizeof(result), " = %" PRId64 "%s%s", line->result, *p->error ? " " : "", p->error);
	printf("%s %s %d%s %s%s%s%s%s%s after %" PRIu64 ".%03u us\n", p->when, name, pidmap_shown(h->tid), parent, p->call,
	       *p->flags ? " " : "", p->flags, *path ? " " : "", path, result, h->end.duration / 1000, (unsigned int)(h->end.duration % 1000));
}

void calllines_print(struct question *q, const struct happening *h, const struct callline *line)
{
	struct parts p;

	put_parts(q, h, line, &p);
	if (q->common.json)
		print_json(q, h, line, &p);
	else
		print_text(q, h, line, &p);
	analysis_printed();
}
