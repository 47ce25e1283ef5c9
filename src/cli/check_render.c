/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results as a table with notes, or as JSON. */
#include "cli/check.h"

#include "base/escape.h"
#include "report/json.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NOTES_MAX 64
#define WIDTH 100

/* ------------------------------------------------------------------------
 * Text: a line for each feature, then notes with the remedies, each once
 */

static const struct {
	int bit;
	const char *name;
} capabilities[] = {
	{ CAP_PERFMON, "CAP_PERFMON" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	{ CAP_IPC_LOCK, "CAP_IPC_LOCK" }, { CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" }, { CAP_SYSLOG, "CAP_SYSLOG" },
};

static void print_who(const struct check_who *who, FILE *out)
{
	bool any = false;
	char user[128];

	escape_terminal(who->user, strlen(who->user), user, sizeof(user));
	fprintf(out, "As %s (uid %u) on Linux %s", user[0] ? user : "somebody", who->uid,
		who->kernel);
	if (who->paranoid != INT32_MIN)
		fprintf(out, ", kernel.perf_event_paranoid %d", who->paranoid);
	for (size_t i = 0; i < COUNT(capabilities); i++) {
		if (!(who->capabilities >> capabilities[i].bit & 1))
			continue;
		fprintf(out, "%s%s", any ? ", " : "\nwith ", capabilities[i].name);
		any = true;
	}
	fprintf(out, "%s\n", any ? "" : "\nwithout capabilities");
}

struct notes {
	const char *text[NOTES_MAX];
	size_t n;
};

/* The number of the note, from 1; 0 without a note. */
static size_t note(struct notes *notes, const char *text)
{
	size_t i = 0;

	while (i < notes->n && strcmp(notes->text[i], text))
		i++;
	if (!text[0] || i == NOTES_MAX)
		return 0;
	if (i == notes->n)
		notes->text[notes->n++] = text;
	return i + 1;
}

static int name_width(const struct checkup *c)
{
	size_t width = 0;

	for (size_t i = 0; i < c->n; i++)
		if (strlen(c->rows[i].name) > width)
			width = strlen(c->rows[i].name);
	return (int)width;
}

static void print_row(const struct checked *row, int width, struct notes *notes, FILE *out)
{
	const char *works = row->code ? "no" : row->partial ? "user space" : "yes";
	size_t number = note(notes, row->remedy);
	char said[sizeof(row->said) * 2];

	fprintf(out, "  %-*s  %-10s  %s", width, row->name, works, row->what);
	if (row->said[0]) {
		escape_terminal(row->said, strlen(row->said), said, sizeof(said));
		fprintf(out, ": %s%s", row->partial ? "kernel side: " : "", said);
	}
	if (number)
		fprintf(out, " [%zu]", number);
	fputc('\n', out);
}

/* Wrapped at spaces, after its number. */
static void print_note(size_t number, const char *text, FILE *out)
{
	char shown[1200];
	size_t column;

	escape_terminal(text, strlen(text), shown, sizeof(shown));
	column = (size_t)fprintf(out, "[%zu]", number);
	for (const char *p = shown; *p; p += *p == ' ') {
		size_t len = strcspn(p, " ");

		if (column + 1 + len > WIDTH)
			column = (size_t)fprintf(out, "\n   ") - 1;
		column += (size_t)fprintf(out, " %.*s", (int)len, p);
		p += len;
	}
	fputc('\n', out);
}

void checkup_text(const struct checkup *c, FILE *out)
{
	struct notes notes = { .n = 0 };
	const char *group = "";
	int width = name_width(c);

	print_who(&c->who, out);
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(group, c->rows[i].group))
			fprintf(out, "\n%s\n", c->rows[i].group);
		group = c->rows[i].group;
		print_row(&c->rows[i], width, &notes, out);
	}
	if (notes.n)
		fputc('\n', out);
	for (size_t i = 0; i < notes.n; i++)
		print_note(i + 1, notes.text[i], out);
}

/* ------------------------------------------------------------------------
 * JSON
 */

static bool put_text(json_object *to, const char *key, const char *text)
{
	return json_put(to, key, json_object_new_string(text));
}

static bool put_refusal(json_object *to, const struct checked *row)
{
	const char *name = row->code ? strerrorname_np(row->code) : NULL;

	if (!row->code && !row->partial)
		return !row->said[0] || put_text(to, "said", row->said);
	return (!name || put_text(to, "errno", name)) && put_text(to, "said", row->said) &&
	       put_text(to, "remedy", row->remedy);
}

static bool append_row(json_object *array, const struct checked *row)
{
	json_object *o = json_object_new_object();

	return json_append(array, o) && put_text(o, "name", row->name) &&
	       put_text(o, "group", row->group) && put_text(o, "what", row->what) &&
	       json_put_bool(o, "works", !row->code) &&
	       json_put_bool(o, "user_space_only", row->partial) &&
	       put_refusal(o, row);
}

static bool fill(json_object *root, const struct checkup *c)
{
	json_object *rows = json_object_new_array();

	if (!put_text(root, "user", c->who.user) ||
	    !json_put(root, "uid", json_object_new_int64(c->who.uid)) ||
	    !put_text(root, "kernel", c->who.kernel) ||
	    (c->who.paranoid != INT32_MIN &&
	     !json_put(root, "perf_event_paranoid", json_object_new_int(c->who.paranoid))) ||
	    !json_put(root, "features", rows))
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (!append_row(rows, &c->rows[i]))
			return false;
	return true;
}

int checkup_json(const struct checkup *c, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill(root, c), out);
}
