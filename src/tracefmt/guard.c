/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/guard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text of a format ----------------------------------------------------- */

struct line {
	const char *at, *end;
};

/* Takes a line off *text; false if there is no complete one. */
static bool next_line(struct line *line, const char **text, const char *end)
{
	line->at = *text;
	line->end = *text < end ? memchr(*text, '\n', (size_t)(end - *text)) : NULL;
	if (line->end)
		*text = line->end + 1;
	return line->end != NULL;
}

static bool begins(const struct line *line, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(line->end - line->at) >= len && !memcmp(line->at, with, len);
}

/* Skips "KEY:NUMBER;" and the tab before it. */
static bool take_number(struct line *line, const char *key)
{
	bool digits = false;

	if (!begins(line, key))
		return false;
	for (line->at += strlen(key); line->at < line->end && isdigit((unsigned char)*line->at);
	     line->at++)
		digits = true;
	if (!digits || line->at == line->end || *line->at != ';')
		return false;
	line->at++;
	return true;
}

static const char *behind_word(const char *at, const char *end)
{
	while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'))
		at++;
	return at;
}

/* Skips "[16]", "[TASK_COMM_LEN]", "[]"; NULL: malformed. */
static const char *behind_bracket(const char *at, const char *end)
{
	for (at++; at < end && *at != ']'; at++)
		if (!*at || (!isalnum((unsigned char)*at) && !strchr("_ +-*/()<>", *at)))
			return NULL;
	return at < end ? at + 1 : NULL;
}

/* Words, stars between them, brackets after a word: "__data_loc char[] name", "const char * x",
 * "u8 a[4]"; the last word is the name. */
static bool is_declaration(const char *at, const char *end)
{
	int words = 0;
	bool of_word = false;   /* the last token is a word, or its brackets */

	while (at < end) {
		const char *word = behind_word(at, end);

		if (word > at) {
			words++;
			of_word = true;
			at = word;
		} else if (*at == '[' && of_word) {
			at = behind_bracket(at, end);
			if (!at)
				return false;
		} else if (*at == '*' && words) {
			of_word = false;
			at++;
		} else if (*at++ != ' ') {
			return false;
		}
	}
	return words >= 2 && of_word;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;"; old kernels lack the last part. */
static bool is_field(struct line line)
{
	const char *name;

	if (!begins(&line, "\tfield:"))
		return false;
	line.at += strlen("\tfield:");
	name = memchr(line.at, ';', (size_t)(line.end - line.at));
	if (!name || !is_declaration(line.at, name))
		return false;
	line.at = name + 1;
	return take_number(&line, "\toffset:") && take_number(&line, "\tsize:") &&
	       (line.at == line.end || take_number(&line, "\tsigned:")) && line.at == line.end;
}

/* "KEY" followed by nothing, or by one word, possibly a number. */
static bool is_head(struct line line, const char *key, bool word, bool number)
{
	if (!begins(&line, key))
		return false;
	line.at += strlen(key);
	if (!word)
		return line.at == line.end;
	for (const char *p = line.at; number && p < line.end; p++)
		if (!isdigit((unsigned char)*p))
			return false;
	return line.at < line.end && behind_word(line.at, line.end) == line.end;
}

bool guard_format(const char *text, size_t len)
{
	const char *end = text + len;
	struct line line;

	if (!next_line(&line, &text, end) || !is_head(line, "name: ", true, false) ||
	    !next_line(&line, &text, end) || !is_head(line, "ID: ", true, true) ||
	    !next_line(&line, &text, end) || !is_head(line, "format:", false, false))
		return false;
	while (next_line(&line, &text, end))
		if (begins(&line, "print fmt: \""))
			return true;
		else if (line.at != line.end && !is_field(line))
			return false;
	return false;
}

/* The last word before the brackets. False: there is none. */
static bool find_name(struct line *name, const char *at, const char *end)
{
	const char *bracket = memchr(at, '[', (size_t)(end - at));

	name->end = bracket ? bracket : end;
	while (name->end > at && name->end[-1] == ' ')
		name->end--;
	for (name->at = name->end; name->at > at && behind_word(name->at - 1, name->end) == name->end;)
		name->at--;
	return name->at < name->end;
}

/* Such a line as one of bytes, by its offset and size. Without these it is left out. */
static void put_mended(FILE *out, struct line line)
{
	const size_t head = strlen("\tfield:");
	const char *rest = memmem(line.at, (size_t)(line.end - line.at), ";\toffset:", strlen(";\toffset:"));
	struct line name;
	int size;

	if (rest && find_name(&name, line.at + head, rest) && sscanf(rest, ";\toffset:%*d;\tsize:%d", &size) == 1 && size > 0)
		fprintf(out, "\tfield:%s %.*s[%d]%.*s\n", begins(&line, "\tfield:char ") ? "char" : "u8", (int)(name.end - name.at),
			name.at, size, (int)(line.end - rest), rest);
}

char *guard_mended(const char *text, size_t len)
{
	const char *end = text + len;
	char *mended = NULL;
	struct line line;
	size_t size;
	FILE *out = open_memstream(&mended, &size);

	while (out && next_line(&line, &text, end))
		if (begins(&line, "\tfield:") && !is_field(line))
			put_mended(out, line);
		else
			fprintf(out, "%.*s\n", (int)(line.end - line.at), line.at);
	return out && !fclose(out) ? mended : NULL;
}

/* ---- raw data ------------------------------------------------------------------ */

const struct trace_field *guard_dynamic(const struct tracefmt *fmt, const void *raw,
					uint32_t raw_size)
{
	const char *data;
	uint32_t len;

	for (size_t i = 0; i < fmt->nfields; i++)
		if (fmt->fields[i].kind >= FIELD_DYN_STR &&
		    trace_field_data(&fmt->fields[i], raw, raw_size, &data, &len) < 0)
			return &fmt->fields[i];
	return NULL;
}
