/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/probewords.h"

#include "base/nearest.h"
#include "base/note.h"
#include "symbols/jail/parser.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WHAT = 256 };

/* A word that has a name for WHAT, and the text that is made of it. */
struct expansion {
	const struct probe_words *w;
	const struct place *place;
	size_t at;               /* of WHAT, in the value of args= */
	char name[64];           /* "": that of the parameter */
	char what[MAX_WHAT];
	char type[64];           /* "": that of the parameter */
	char *buf;
	size_t size, used;
	struct fault *f;
};

static int complain(const struct expansion *x, const char *message, const char *expected)
{
	const struct spec_item *item = x->w->item;

	for (size_t i = item->nattrs; i-- > 0;)
		if (!strcmp(item->attrs[i].name, "args"))
			return spec_fault(x->f, item, spec_place(item, item->attrs[i].value_at, x->at), message, expected);
	return spec_fault(x->f, item, item->at, message, expected);
}

/* Whether there is an argument of that name already: "*" stands for the others. */
static bool is_taken(const struct expansion *x, const char *name, size_t len)
{
	for (const char *p = x->used ? x->buf : NULL; p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
		if (!strncmp(p, name, len) && p[len] == '=')
			return true;
	return false;
}

static int append(struct expansion *x, const char *text, size_t len)
{
	if (x->used + len + 2 > x->size)
		return complain(x, "too many arguments", "fewer of them");
	if (x->used)
		x->buf[x->used++] = ' ';
	memcpy(x->buf + x->used, text, len);
	x->used += len;
	x->buf[x->used] = '\0';
	return 0;
}

/* ---- a parameter as a fetch argument --------------------------------------------- */

static bool is_string(const char *type)
{
	return !strcmp(type, "string") || !strcmp(type, "ustring");
}

/* "+8(+0(%di))"; false: a register that cannot be fetched. */
static bool put_fetch(const struct param *p, bool string, char *buf, size_t size)
{
	const char *reg = p->reg == PARAM_RETURNED ? "$retval" : probe_register(p->reg);
	char inner[128];

	if (!reg)
		return false;
	snprintf(buf, size, "%s", reg);
	for (int i = 0; i < p->nsteps + string; i++) {
		snprintf(inner, sizeof(inner), "%.100s", buf);
		snprintf(buf, size, "%+d(%s)", i < p->nsteps ? p->steps[i] : 0, inner);
	}
	return true;
}

static bool put_param(const struct param *p, const char *name, const char *type, char *buf, size_t size)
{
	static const char *const types[PARAM_TYPES] = {
		[PARAM_U8] = "u8", [PARAM_U16] = "u16", [PARAM_U32] = "u32", [PARAM_U64] = "u64", [PARAM_S8] = "s8",
		[PARAM_S16] = "s16", [PARAM_S32] = "s32", [PARAM_S64] = "s64", [PARAM_POINTER] = "x64", [PARAM_STRING] = "string",
		[PARAM_CHARS] = "string",
	};
	char fetch[160];

	type = *type ? type : types[p->type];
	if (!type || !put_fetch(p, is_string(type) && p->type != PARAM_CHARS, fetch, sizeof(fetch)))
		return false;
	snprintf(buf, size, "%s=%s:%s", *name ? name : p->name, fetch, type);
	return true;
}

/* ---- parameters of a function ------------------------------------------------------ */

/* "ret", "ret->id" */
static bool is_of_result(const char *what)
{
	return !strncmp(what, "ret", 3) && (!what[3] || what[3] == '.' || what[3] == '-');
}

/* Suggests a similar parameter, or lists all. */
static int no_param(const struct expansion *x)
{
	char message[300], expected[512] = "one of its parameters: ";
	size_t used = strlen(expected), len = strcspn(x->what, ".-");
	struct nearest near;
	struct params all;
	char head[64];

	snprintf(head, sizeof(head), "%.*s", (int)(len < 63 ? len : 63), x->what);
	snprintf(message, sizeof(message), "%.150s has no parameter %.64s", x->w->name->function, head);
	if (probe_file_params(x->w->file, x->place, PARAMS_ALL, "", &all))
		return complain(x, message, NULL);
	nearest_begin(&near, head);
	for (size_t i = 0; i < all.n && used < sizeof(expected); i++) {
		nearest_offer(&near, all.all[i].name);
		used += (size_t)snprintf(expected + used, sizeof(expected) - used, "%s%s", i ? ", " : "", all.all[i].name);
	}
	if (strcmp(near.name, head) && nearest_get(&near))
		snprintf(expected, sizeof(expected), "did you mean %s?", near.name);
	else if (!all.n)
		snprintf(expected, sizeof(expected), "nothing: it has no parameters");
	params_free(&all);
	return complain(x, message, expected);
}

/* A member that params_find() refuses, by its error. */
static const struct member_fault {
	int err;
	const char *text, *expected;
} member_faults[] = {
	{ ENXIO, "there is no such member", "a member of the structure" },
	{ EOPNOTSUPP, "it is a bit field", "another member, or the kernel's type for bit fields: "
	  "NAME=+OFFSET(REGISTER):bWIDTH@BIT/SIZE" },
	{ ERANGE, "its offset is too large for a probe", "a member at an offset below 1 GiB" },
	{ EADDRNOTAVAIL, "it is in a virtual base, whose place is known only at run time", "a member outside of virtual bases" },
	{ E2BIG, "there are too many pointers on the way", "a member behind at most 4 pointers" },
	{ ENOTDIR, "the part before the last . or -> is not a structure in memory",
	  "a member of a structure that is passed or returned by its address" },
};

static const struct member_fault *find_member_fault(int err)
{
	for (size_t i = 0; i < sizeof(member_faults) / sizeof(*member_faults); i++)
		if (member_faults[i].err == err)
			return &member_faults[i];
	return NULL;
}

static int no_params(const struct expansion *x, int err)
{
	const struct member_fault *member = find_member_fault(err);
	char message[400];

	if (member) {
		snprintf(message, sizeof(message), "cannot fetch %.150s of %.150s: %s", x->what, x->w->name->function, member->text);
		return complain(x, message, member->expected);
	}
	if (err == ENOENT && x->w->name->kind->at_return)
		return complain(x, is_of_result(x->what) ? "the function returns nothing" : "when a function returns, only its "
				"result has a value", "ret, or a member of it: ret->id; or $retval if there is no debug information");
	if (err == ENOENT)
		return no_param(x);
	if (err == EREMOTE) {
		snprintf(message, sizeof(message), "the debug information of %.150s on %.150s is in .dwo files (-gsplit-dwarf), "
			 "which perf-prof does not read", x->w->name->path, x->w->name->function);
		return complain(x, message, "a program compiled with -g and without -gsplit-dwarf; else $arg1 to $arg6");
	}
	if (err == ENODATA)
		snprintf(message, sizeof(message), "%.150s has no debug information on %.150s: names of parameters are unknown",
			 x->w->name->path, x->w->name->function);
	else
		snprintf(message, sizeof(message), "cannot read the debug information of %.150s: %s", x->w->name->path,
			 parser_error_text(err));
	return complain(x, message, "a program compiled with -g, or its debug file, by its build id in /usr/lib/debug/.build-id, or "
			"by its debug link beside the file, in .debug/ there or in /usr/lib/debug; else $arg1 to $arg6");
}

/* One that was named must have a value. */
static int take_param(struct expansion *x, const struct param *p, bool named)
{
	char text[400], message[200];

	const char *name = *x->name ? x->name : p->name;

	if (is_taken(x, name, strlen(name))) {
		snprintf(message, sizeof(message), "two arguments have the name %.64s", name);
		return named ? complain(x, message, "a name of its own before one of them: other=item->name") : 0;
	}
	if (put_param(p, x->name, x->type, text, sizeof(text)))
		return append(x, text, strlen(text));
	snprintf(message, sizeof(message), "a probe cannot fetch %s: it is a floating-point number or a structure by value, or where it is "
		 "when the function is entered is not known", p->name);
	if (named)
		return complain(x, message, "another parameter, or a member of a structure that is passed by its address");
	note(x->w->verbose, "%s: %s", x->w->name->function, message);
	return 0;
}

static int take_params(struct expansion *x)
{
	bool all = !strcmp(x->what, "*"), ret = x->w->name->kind->at_return;
	struct params params;
	int rc;

	if (x->w->file->noffsets || x->w->name->offset)
		return complain(x, "names of parameters are for a function's first byte, and for a function given by its name",
				"$arg1 to $arg6, or words of the kernel's uprobetracer.rst");
	if (ret && !all && !is_of_result(x->what))
		return no_params(x, ENOENT);
	if (strchr(x->what, '['))
		return complain(x, "an element of an array cannot be fetched by its name", "the array, or the element in the kernel's "
				"syntax: NAME=+OFFSET(REGISTER):TYPE");
	rc = probe_file_params(x->w->file, x->place, ret ? PARAMS_RETURNED : all ? PARAMS_ALL : PARAMS_ONE,
			       ret && all ? "ret" : x->what, &params);
	if (rc == -ENOENT && all)
		return 0;   /* void */
	if ((rc == -ENODATA || rc == -EREMOTE) && all && x->w->name->glob) {
		note(x->w->verbose, "%s: no debug information", x->place->name);
		return 0;
	}
	if (rc)
		return no_params(x, -rc);
	for (size_t i = 0; i < params.n && !rc; i++)
		rc = take_param(x, &params.all[i], !all);
	params_free(&params);
	return rc;
}

/* ---- arguments of a USDT probe ------------------------------------------------------- */

/* fetch: "arg1=%di:u64", of which `name` is asked for, maybe by another name and with another type. */
static int take_usdt_arg(struct expansion *x, const char *fetch)
{
	const char *sign = strchr(fetch, '='), *colon = strrchr(fetch, ':');
	char text[400];
	bool string = is_string(x->type);

	if (!sign || !colon || colon < sign)
		return 0;
	snprintf(text, sizeof(text), "%.*s=%s%.*s%s:%s", *x->name ? (int)strlen(x->name) : (int)(sign - fetch),
		 *x->name ? x->name : fetch, string ? "+0(" : "", (int)(colon - sign - 1), sign + 1, string ? ")" : "",
		 *x->type ? x->type : colon + 1);
	return append(x, text, strlen(text));
}

static int take_usdt(struct expansion *x)
{
	bool all = !strcmp(x->what, "*"), found = false;
	char args[1024], message[300];
	size_t len = strlen(x->what);
	int rc = 0;

	if (probe_args_of_usdt(x->place->args, args, sizeof(args)) && all)
		note(x->w->verbose, "%s: left out those arguments of \"%s\" that a probe cannot fetch", x->place->name,
		     x->place->args);
	for (char *save, *word = strtok_r(args, " ", &save); word && !rc; word = strtok_r(NULL, " ", &save)) {
		if (all ? is_taken(x, word, strcspn(word, "=")) : strncmp(word, x->what, len) || word[len] != '=')
			continue;
		found = true;
		rc = take_usdt_arg(x, word);
	}
	if (rc || found || all)
		return rc;
	snprintf(message, sizeof(message), "%.150s has no argument %.64s that a probe can fetch", x->place->name, x->what);
	return complain(x, message, "one of those that `perf-prof list --usdt FILE` shows: arg1, ...");
}

static int no_usdt_address(struct expansion *x, const char *name, const char *why)
{
	char message[300];

	snprintf(message, sizeof(message), "%.64s of %.150s %s", name, x->place->name, why);
	return complain(x, message, "an argument that is an address: `perf-prof list --usdt FILE` shows arguments");
}

/* What the argument is for the kernel, "%di"; it has to be an address. */
static int find_usdt_address(struct expansion *x, const char *name, char *fetch, size_t size)
{
	char args[1024];
	size_t len = strlen(name);

	probe_args_of_usdt(x->place->args, args, sizeof(args));
	for (char *save, *word = strtok_r(args, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *colon = strrchr(word, ':');

		if (strncmp(word, name, len) || word[len] != '=' || !colon)
			continue;
		if (word[len + 1] == '\\' || strcmp(colon + 2, sizeof(void *) == 8 ? "64" : "32"))
			return no_usdt_address(x, name, "is a number, not an address");
		snprintf(fetch, size, "%.*s", (int)(colon - word - len - 1), word + len + 1);
		return 0;
	}
	return no_usdt_address(x, name, "does not exist, or a probe cannot fetch it");
}

/* "a=+8(arg1):s32": the kernel's word, but for the name of the argument. */
static int take_usdt_memory(struct expansion *x, const char *word, size_t len)
{
	const char *open = memchr(word, '(', len), *next;
	char name[16], fetch[160], text[600];
	size_t digits;

	while (open && (next = memchr(open + 1, '(', len - (size_t)(open + 1 - word))))
		open = next;
	digits = open && !strncmp(open, "(arg", 4) ? strspn(open + 4, "0123456789") : 0;
	if (!digits || digits > 3 || open[4 + digits] != ')')
		return append(x, word, len);
	snprintf(name, sizeof(name), "arg%.*s", (int)digits, open + 4);
	if (find_usdt_address(x, name, fetch, sizeof(fetch)))
		return -1;
	snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(open + 1 - word), word, fetch, (int)(len - (size_t)(open + 4 + digits - word)),
		 open + 4 + digits);
	return append(x, text, strlen(text));
}

/* ---- words ------------------------------------------------------------------------- */

static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* Splits a word whose WHAT is a name. False: it is the kernel's. */
static bool split(struct expansion *x, const char *word, size_t len)
{
	const char *sign = memchr(word, '=', len), *what = sign ? sign + 1 : word, *end = word + len;
	const char *colon = memchr(what, ':', (size_t)(end - what));

	x->at += (size_t)(what - word);
	if (what == end || !(isalpha((unsigned char)*what) || *what == '_' || *what == '*'))
		return false;
	colon = colon ? colon : end;
	return copy(x->name, sizeof(x->name), word, sign ? (size_t)(sign - word) : 0) &&
	       copy(x->what, sizeof(x->what), what, (size_t)(colon - what)) &&
	       copy(x->type, sizeof(x->type), colon + (colon < end), (size_t)(end - colon - (colon < end)));
}

int probe_words_expand(const struct probe_words *w, const struct place *place, const char *args, char *buf, size_t size,
		       struct fault *f)
{
	int rc = 0;

	buf[0] = '\0';
	for (size_t at = strspn(args, " "), len, used = 0; args[at] && !rc; at += len + strspn(args + at + len, " ")) {
		struct expansion x = { .w = w, .place = place, .at = at, .buf = buf, .size = size, .used = used, .f = f };

		len = strcspn(args + at, " ");
		if (!split(&x, args + at, len))
			rc = w->name->kind->usdt ? take_usdt_memory(&x, args + at, len) : append(&x, args + at, len);
		else if (w->name->kind->usdt)
			rc = take_usdt(&x);
		else
			rc = take_params(&x);
		used = x.used;
	}
	return rc;
}
