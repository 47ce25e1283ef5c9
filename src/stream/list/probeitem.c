/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in an event list (events/probename.h), with the attribute args="...", fetch arguments in the kernel's syntax.
 * They become tracepoints: see events/probes.h.
 */
#include "base/escape.h"
#include "base/nearest.h"
#include "base/note.h"
#include "base/opener.h"
#include "base/room.h"
#include "base/textfile.h"
#include "base/units.h"
#include "events/probename.h"
#include "stream/list/list.h"
#include "symbols/dwarf/params.h"
#include "symbols/elf/disasm.h"
#include "symbols/elf/places.h"
#include "symbols/elf/symsource.h"
#include "symbols/jail/parser.h"
#include "symbols/parser_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct probe_file {
	int fd;                  /* -1: none */
	int debug;               /* the file with its DWARF, if that is another one; -1: none, or not looked for yet */
	struct parser *parser;
	char path[32];           /* for a probe's definition: leads to fd */
	char found[PATH_MAX];    /* the file's own path: debug files are looked for beside it */
	struct places places;
	uint64_t *offsets;       /* the function is a number, or several with blanks between them: offsets in the file; no places */
	size_t noffsets;
};

/* Parameters of the function at that place, as params_find(). */
/* ---- debug information ------------------------------------------------------------ */
static int probe_file_params(struct probe_file *file, const struct place *place, enum params_what what, const char *name,
			     struct params *out)
{
	int rc = params_find(out, file->parser, file->debug >= 0 ? file->debug : file->fd, place->address, place->symbol,
			     what, name);

	if (rc != -ENODATA || file->debug >= 0)
		return rc;
	file->debug = symsource_debug(file->parser, &opener_direct, file->fd, file->found);
	return file->debug < 0 ? rc : params_find(out, file->parser, file->debug, place->address, place->symbol, what, name);
}

/* ---- errors ---------------------------------------------------------------------- */

static int complain_of_file(const struct spec_item *item, const struct probe_name *name, int err, struct fault *f)
{
	char message[400];

	snprintf(message, sizeof(message), "cannot read %.300s: %s", name->path, parser_error_text(err));
	return spec_fault(f, item, name->path_at, message, err == ETIME || err == EPIPE ?
			  "the number of a byte in the file instead of a function's name" : "the path of a program or a library");
}

/* The item with another name, as -e takes it: uprobe:'shop::Cart::add(int)'@./app */
static void put_item(const struct spec_item *item, const struct probe_name *name, const struct place *other, char *buf, size_t size)
{
	char function[PROBE_FUNCTION_SIZE], text[1200];
	const char *path = item->text + name->path_at, *end = item->text + probe_name_place(item, strlen(item->name));

	probe_function_text(other->name, other->symbol, function);
	escape_terminal(function, strlen(function), text, sizeof(text));
	snprintf(buf, size, "%s:%s@%.*s", item->sys, text, (int)(end - path), path);
}

/* Adds one line for each name that could be meant. */
static void add_choices(const struct spec_item *item, const struct probe_name *name, const struct places *places,
			struct fault *f)
{
	for (size_t i = 0, used; i < places->n; i++) {
		char line[1600];

		put_item(item, name, &places->all[i], line, sizeof(line));
		used = strlen(f->text);
		if (used + strlen(line) + sizeof("\n  \n  ...") > sizeof(f->text)) {
			strcat(f->text, "\n  ...");
			return;
		}
		snprintf(f->text + used, sizeof(f->text) - used, "\n  %s", line);
	}
}

static int suggest(const struct spec_item *item, const struct probe_name *name, const struct places *places,
		   const char *message, struct fault *f)
{
	char line[1600], hint[512];

	put_item(item, name, &places->all[0], line, sizeof(line));
	if (places->n == 1 && (size_t)snprintf(hint, sizeof(hint), "did you mean %s?", line) < sizeof(hint))
		return spec_fault(f, item, probe_name_place(item, 0), message, hint);
	spec_fault(f, item, probe_name_place(item, 0), message, places->match == PLACES_NONE ? "did you mean one of" : "one of");
	if (f)
		add_choices(item, name, places, f);
	return -1;
}

/* Whether the DWARF has the function, but only inlined. */
static bool is_inlined(struct probe_file *file, const struct probe_name *name)
{
	char bare[PROBE_FUNCTION_SIZE];
	const struct place nowhere = { .symbol = "" };
	struct params one;

	if (name->kind->usdt || name->glob)
		return false;
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(name->function, "("), name->function);
	if (probe_file_params(file, &nowhere, PARAMS_INLINED, bare, &one))
		return false;
	params_free(&one);
	return true;
}

/* Whether the compiler made copies of it, for some of its callers, and the function itself has no code. */
static bool has_clones(const struct places *places)
{
	static const char *const marks[] = { " [clone ", ".isra.", ".constprop.", ".part." };    /* the others: of C */

	for (size_t i = 0; i < places->n; i++)
		for (size_t k = 0; k < sizeof(marks) / sizeof(*marks); k++)
			if (strstr(places->all[i].name, marks[k]))
				return true;
	return false;
}

static int complain_of_inlined(const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	char message[400];

	snprintf(message, sizeof(message), "%.150s has no separate code for %.150s: the compiler inlined it into its callers",
		 name->path, name->function);
	return spec_fault(f, item, probe_name_place(item, 0), message, "a function that calls it; or compile it with "
			  "__attribute__((noinline))");
}

static int complain_of_name(const struct spec_item *item, const struct probe_name *name, const struct places *places,
			    struct fault *f)
{
	const char *what = name->kind->usdt ? "USDT probe" : "function";
	char message[400], hint[256];

	if (!places->seen)
		snprintf(message, sizeof(message), "%.200s has no %ss%s", name->path, what,
			 name->kind->usdt ? "" : " with names: it is stripped, and its debug file was not found");
	else if (places->match == PLACES_BARE || places->match == PLACES_PLAIN)
		snprintf(message, sizeof(message), "%.150s has several functions %.150s", name->path, name->function);
	else
		snprintf(message, sizeof(message), "%.150s has no %s %s%.150s", name->path, what,
			 name->glob ? "that matches " : "", name->function);
	if (places->n)
		return suggest(item, name, places, message, f);
	snprintf(hint, sizeof(hint), places->seen ? "a name that `perf-prof list %.150s` shows" : name->kind->usdt ?
		 "a file with USDT probes: `perf-prof list --usdt` shows those of running programs" :
		 "its debug file in /usr/lib/debug, or the number of a byte in the file", name->path);
	return spec_fault(f, item, probe_name_place(item, 0), message, hint);
}

/* ---- the search ------------------------------------------------------------------- */

static int find(struct probe_file *file, const struct probe_name *name)
{
	file->parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });
	if (!file->parser)
		return -EPIPE;
	return places_find(&file->places, file->parser, file->fd, file->found,
			   name->kind->usdt ? PLACES_USDT : PLACES_FUNCTIONS, name->function);
}

/* Whether the functions have parameters by which the name has to choose. */
static bool is_ambiguous(const struct places *places)
{
	return (places->match == PLACES_BARE || places->match == PLACES_PLAIN) &&
	       strcmp(places->all[0].name, places->all[places->n - 1].name);
}

static int search(struct probe_file *file, const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	int rc = find(file, name);

	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (rc)
		return complain_of_file(item, name, -rc, f);
	if (file->places.match == PLACES_NONE || !file->places.n || is_ambiguous(&file->places))
		return file->places.match == PLACES_NONE && !has_clones(&file->places) && is_inlined(file, name) ?
		       complain_of_inlined(item, name, f) : complain_of_name(item, name, &file->places, f);
	return 0;
}

/* The path of a file in a container may be another file here. */
static bool is_open(int fd, const char *path)
{
	struct stat there, st;

	return !stat(path, &there) && !fstat(fd, &st) && there.st_dev == st.st_dev && there.st_ino == st.st_ino;
}

/* The kernel resolves the path of a definition once more, and whoever may write to a folder of it can put another file there
 * meanwhile. The descriptor leads to the very file that was searched. So its own path comes from the kernel, too. */
static void set_path(struct probe_file *file, const char *path)
{
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	textfile_link(file->found, sizeof(file->found), "%s", file->path);
	if (!is_open(file->fd, file->found))
		snprintf(file->found, sizeof(file->found), "%s", path);
}

/* None if the function's name is not of numbers. */
static void take_numbers(struct probe_file *file, const struct probe_name *name)
{
	char words[PROBE_FUNCTION_SIZE], *save;
	bool all = !name->kind->usdt;

	snprintf(words, sizeof(words), "%s", name->function);
	for (char *word = strtok_r(words, " ", &save); word && all; word = strtok_r(NULL, " ", &save)) {
		all = ROOM_FOR_ONE(file->offsets, file->noffsets) && !units_u64(word, &file->offsets[file->noffsets]);
		file->noffsets += all;
	}
	if (!all)
		file->noffsets = 0;
}

/* 0, or -1 with f: an error in the item. Without a glob, all places have the same name. Close in both cases. */
static int probe_file_open(struct probe_file *file, const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	int path = open(name->path, O_PATH | O_CLOEXEC);

	*file = (struct probe_file){ .fd = path < 0 ? -errno : opener_read_regular(path), .debug = -1 };
	if (file->fd < 0)
		return complain_of_file(item, name, -file->fd, f);
	take_numbers(file, name);
	set_path(file, name->path);
	return file->noffsets ? 0 : search(file, item, name, f);
}

static void probe_file_close(struct probe_file *file)
{
	free(file->offsets);
	places_free(&file->places);
	parser_free(file->parser);
	if (file->debug >= 0)
		close(file->debug);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct probe_file){ .fd = -1, .debug = -1 };
}

/* Whether a probe's offset is one at which the kernel may put it. Inside of an instruction, it would change that instruction,
 * and the program would crash: the kernel does not look. */

static int probeplace_complain(const struct spec_item *item, const char *message, const char *hint,
		    struct fault *f)
{
	return spec_fault(f, item, probe_name_place(item, 0), message, hint);
}

static int check_file(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
		      uint64_t offset, struct fault *f)
{
	char message[400];
	struct stat st;

	if (fstat(file->fd, &st) || st.st_size < 0 || offset < (uint64_t)st.st_size)
		return 0;
	snprintf(message, sizeof(message), "byte %#" PRIx64 " is beyond the end of %.200s (%lld bytes)", offset, name->path,
		 (long long)st.st_size);
	return probeplace_complain(item, message, "a function, or the number of a byte of its code", f);
}

/* The starts before and behind the address. False: it is a start itself. */
static bool is_inside(const struct disasm *d, uint64_t addr, uint64_t *before, uint64_t *after)
{
	*before = d->start;
	*after = d->end;
	for (size_t i = 0; i < d->n && *after == d->end; i++) {
		if (d->v[i].addr == addr)
			return false;
		if (d->v[i].addr > addr)
			*after = d->v[i].addr;
		else
			*before = d->v[i].addr;
	}
	return true;
}

/* What cannot be disassembled is left to the kernel. */
static int check_instruction(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
			     const struct place *p, struct fault *f)
{
	uint64_t addr = p->address + name->offset, before, after;
	struct disasm *d = disasm_is_built() && p->size <= UINT64_MAX - p->address ? disasm_new(file->parser, file->fd, p->address, p->address + p->size) : NULL;
	bool inside = d && d->n && is_inside(d, addr, &before, &after);
	char message[400], hint[400];
	int n;

	disasm_free(d);
	if (!inside)
		return 0;
	snprintf(message, sizeof(message), "%.150s+%" PRIu64 " is inside of an instruction, and a probe there would crash the program",
		 name->function, name->offset);
	n = snprintf(hint, sizeof(hint), "the start of an instruction: %.150s+%" PRIu64, name->function, before - p->address);
	if (after < p->address + p->size)
		snprintf(hint + n, sizeof(hint) - (size_t)n, " or +%" PRIu64, after - p->address);
	return probeplace_complain(item, message, hint, f);
}

/* probeplace.c: whether name->offset is the start of an instruction of that function, or a number the one of a byte in the
 * file. 0, or -1 with f: an error in the item. */
static int probe_place_check(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
			     const struct place *p, struct fault *f)
{
	char message[400];

	if (name->offset && p->size && name->offset >= p->size) {
		snprintf(message, sizeof(message), "+%" PRIu64 " is beyond the end of %.200s (%" PRIu64 " bytes)", name->offset,
			 name->function, p->size);
		return probeplace_complain(item, message, "an offset in the function's code", f);
	}
	if (name->offset > INT64_MAX - p->offset || check_file(file, item, name, p->offset + name->offset, f))
		return -1;
	return name->offset && p->size ? check_instruction(file, item, name, p, f) : 0;
}

/*
 * The words of a probe's args=, each [NAME=]WHAT[:TYPE]. WHAT is the kernel's (%di, $arg1, +8(%sp)), or a name:
 *
 *	a function's parameter, or a member of it: id, item->id; in uretprobe: ret
 *	a USDT probe's argument: arg1
 *	*: all others that can be fetched
 *
 * Names are replaced by what the kernel takes.
 */

struct probe_words {
	const struct spec_item *item;
	const struct probe_name *name;
	struct probe_file *file;
	int verbose;
};

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

/* The fetch arguments for one place: 0, or -1 with f. `args` is the value of the item's args=. */
static int probe_words_expand(const struct probe_words *w, const struct place *place, const char *args, char *buf, size_t size,
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

/* Functions of a glob, each an event on each CPU; and their places, with other names for them. */
enum { MAX_FUNCTIONS = 500, MAX_PLACES = 8000 };

struct definer {
	struct stream *s;
	const struct spec_item *item;
	const struct probe_name *name;
	const char *args;
	char event[PROBE_NAME_SIZE];
	struct fault *f;
};

/* ---- definitions ---------------------------------------------------------------- */

/* Where the error probably is: in args, if given, rather than in what was found in the file. */
static size_t likely_place(const struct definer *d)
{
	for (size_t i = 0; *d->args && i < d->item->nattrs; i++)
		if (!strcmp(d->item->attrs[i].name, "args"))
			return d->item->attrs[i].value_at;
	return probe_name_place(d->item, 0);
}

/* Defines the probe; adds the position to the kernel's error. */
static int define(struct definer *d, const char *where, const char *args)
{
	struct probe_definition def = {
		.space = d->name->kind->space, .at_return = d->name->kind->at_return, .where = where, .args = args,
		.shown = *d->name->path ? d->name->path : NULL,
	};
	struct fault why = { 0 };

	if (!probes_define(&d->s->list.probes, d->s->list.tracefs, &def, d->event, &why))
		return 0;
	spec_fault(d->f, d->item, likely_place(d), why.text, NULL);
	d->f->exit_code = why.exit_code;
	d->f->error = why.error;
	return -1;
}

static int define_in_kernel(struct definer *d)
{
	char where[1100];

	if (!probes_possible(d->s->list.tracefs, PROBE_KERNEL)) {
		spec_fault(d->f, d->item, d->item->at, "this kernel has no kprobes: it was built without "
			   "CONFIG_KPROBE_EVENTS", "another kernel, or a tracepoint: `perf-prof list` shows "
			   "them; functions of programs can be probed by uprobe: (docs/which-process.md does so for files that "
			   "are opened)");
		d->f->exit_code = EXIT_FAILED;
		return -1;
	}
	if (d->name->offset)
		snprintf(where, sizeof(where), "%.1023s+%llu", d->name->function, (unsigned long long)d->name->offset);
	else
		snprintf(where, sizeof(where), "%.1023s", d->name->function);
	return define(d, where, d->args);
}

static int define_at(struct definer *d, const struct probe_file *file, uint64_t offset, uint64_t counter, const char *args)
{
	char where[128];
	int n = snprintf(where, sizeof(where), "%s:%#llx", file->path, (unsigned long long)offset);

	if (counter)
		snprintf(where + n, sizeof(where) - (size_t)n, "(%#llx)", (unsigned long long)counter);
	return define(d, where, args);
}

/* Made by the compiler for some callers of the function. */
static bool is_copy(const struct place *p)
{
	return p->symbol && (strstr(p->symbol, ".isra.") || strstr(p->symbol, ".constprop."));
}

/* The arguments of a probe in a file, for one of its places. */
static int define_place(struct definer *d, struct probe_file *file, const struct place *p)
{
	struct probe_words w = { d->item, d->name, file, d->s->opts->verbose };
	const char *wanted = !*d->args && d->name->kind->usdt ? "*" : d->args;
	char words[2048], args[4096];

	if (is_copy(p) && strstr(d->args, "$arg"))
		return spec_fault(d->f, d->item, likely_place(d), "$arg1 to $arg6 are not known in a copy with other parameters",
				  "names of parameters, which are looked up in the debug information");
	if (!d->name->kind->usdt && probe_place_check(file, d->item, d->name, p, d->f))
		return -1;
	if (probe_words_expand(&w, p, wanted, words, sizeof(words), d->f))
		return -1;
	if (d->name->kind->at_return || d->name->kind->usdt)
		return define_at(d, file, p->offset, p->counter, words);
	if (probe_args_of_function(words, args, sizeof(args)))
		return spec_fault(d->f, d->item, likely_place(d), "an argument that is not in a register",
				  "$arg1 to $arg6, or the words of the kernel's uprobetracer.rst");
	return define_at(d, file, p->offset + d->name->offset, 0, args);
}

/* ---- the event ----------------------------------------------------------------- */

/* The name without the path, which would make an ugly identifier. */
static void put_name(const struct probe_name *name, const char *function, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s:%s", name->kind->word, function);

	if (name->offset && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "+%#llx", (unsigned long long)name->offset);
}

bool probe_item_name(const struct spec_item *item, char *buf, size_t size)
{
	struct probe_name name;
	struct fault no;

	if (!probe_word_of(item) || probe_name_parse(item, &name, &no))
		return false;
	put_name(&name, name.function, buf, size);
	return true;
}

static int set_names(struct stream_event *ev, const struct definer *d, const char *function)
{
	char name[PROBE_SHOWN_SIZE];
	const char *shown = ev->asked.alias ? ev->asked.alias : name;

	put_name(d->name, function, name, sizeof(name));
	ev->sys = strdup(d->s->list.probes.group);
	ev->tracepoint = strdup(d->event);
	ev->asked.probe = strdup(name);
	if (!ev->sys || !ev->tracepoint || !ev->asked.probe)
		return fault_set(d->f, EXIT_FAILED, "out of memory");
	return event_set_name(ev, shown, shown, d->f);
}

static struct stream_event *begin_event(struct definer *d)
{
	struct stream_event *ev = events_append(d->s, d->item, d->f);

	d->event[0] = '\0';
	return ev && !event_attrs_set(d->s, ev, d->item, EVENT_PROBE, d->f) ? ev : NULL;
}

static int end_event(struct definer *d, struct stream_event *ev, const char *function)
{
	if (set_names(ev, d, function))
		return -1;
	ev->asked.from_glob = d->name->glob;
	ev->fmt = tracefmt_load(d->s->list.formats, d->s->list.tracefs, ev->sys, ev->tracepoint, d->f);
	if (!ev->fmt)
		return -1;
	ev->min_raw = ev->fmt->min_size;
	return 0;
}

/* ---- places of a file ------------------------------------------------------------ */

/* Whether these can be places of one tracepoint, which takes arguments with the same names and types, wherever they are. */
static bool are_alike(const struct place *a, const struct place *b)
{
	char one[1024], other[1024];
	const char *p = one, *q = other;

	probe_args_of_usdt(a->args, one, sizeof(one));
	probe_args_of_usdt(b->args, other, sizeof(other));
	for (; *p && *p == *q; p++, q++)
		if (*p == '=') {   /* NAME=FETCH:TYPE */
			p += strcspn(p, ":") - 1;
			q += strcspn(q, ":") - 1;
		}
	return *p == *q;
}

/* Events with one name for the places from `from` to `to`, which have the same name: a function that was copied, or a USDT
 * probe that was inlined, or is in several places with arguments of other sizes. */
static int add_places(struct definer *d, struct probe_file *file, size_t from, size_t to, const char *shown)
{
	const struct place *all = file->places.all;
	int rc = 0;

	if (!d->name->glob && all[from].chooses)
		note(1, "%s is chosen for this CPU when a program starts (IFUNC): the probe is hit by that choice, not by calls. `nm` of the "
		     "file's debug file shows those to choose from", d->name->function);
	for (size_t first = from, i; first < to && !rc; first++) {
		struct stream_event *ev;

		for (i = from; !are_alike(&all[i], &all[first]); i++)
			;
		if (i < first)
			continue;
		ev = begin_event(d);
		rc = ev ? 0 : -1;
		for (; i < to && !rc; i++) {
			rc = are_alike(&all[i], &all[first]) ? define_place(d, file, &all[i]) : 0;
			if (!rc || !is_copy(&all[i]) || (i + 1 == to && !*d->event))
				continue;
			note(1, "calls of %s, a copy of %s, are not seen: %s", all[i].symbol, shown, d->f->text);
			*d->f = (struct fault){ 0 };
			rc = 0;
		}
		rc = rc ? rc : end_event(d, ev, shown);
	}
	return rc;
}

static size_t end_of_name(const struct places *places, size_t from)
{
	size_t to = from + 1;

	while (to < places->n && !strcmp(places->all[to].name, places->all[from].name))
		to++;
	return to;
}

/* Whether another name of the file is at the same place and comes first: one of them is enough for a glob. */
static bool is_alias(const struct places *places, size_t at)
{
	for (size_t i = 0; i < places->n; i++) {
		const struct place *a = &places->all[i], *b = &places->all[at];
		size_t x = strspn(a->symbol, "_"), y = strspn(b->symbol, "_");

		if (i != at && a->offset == b->offset && strcmp(a->name, b->name) && (x < y || (x == y && i < at)))
			return true;
	}
	return false;
}

/* The shortest name that no other event of the glob has. */
static void put_shown(const struct places *places, size_t at, char *buf, size_t size)
{
	const struct place *p = &places->all[at];
	bool shared = false;

	for (size_t i = 0; i < places->n && !shared; i++)
		shared = !strcmp(places->all[i].bare, p->bare) && strcmp(places->all[i].name, p->name);
	if ((size_t)snprintf(buf, size, "%s", shared ? p->name : p->bare) >= size)
		snprintf(buf + size - 24, 24, "...%zu", at);
}

static int refuse_alias(struct definer *d)
{
	for (size_t i = 0; i < d->item->nattrs; i++)
		if (!strcmp(d->item->attrs[i].name, "alias"))
			return spec_fault(d->f, d->item, d->item->attrs[i].at, "alias= names one event, and this glob may "
					  "match several", "the name of one function, or no alias");
	return 0;
}

static int too_many(struct definer *d)
{
	return spec_fault(d->f, d->item, probe_name_place(d->item, 0), "this glob matches more than 500 functions",
			  "a narrower one; `perf-prof list` shows what it matches");
}

static int add_matches(struct definer *d, struct probe_file *file)
{
	const struct places *places = &file->places;
	size_t n = 0;

	if (refuse_alias(d))
		return -1;
	if (places->n > MAX_PLACES)
		return too_many(d);
	for (size_t from = 0, to; from < places->n; from = to) {
		char shown[PROBE_SHOWN_SIZE - 20];   /* with uretprobe: before it */

		to = end_of_name(places, from);
		if (is_alias(places, from))
			continue;
		if (n++ == MAX_FUNCTIONS)
			return too_many(d);
		put_shown(places, from, shown, sizeof(shown));
		if (add_places(d, file, from, to, shown))
			return -1;
	}
	return 0;
}

/* Numbers: an event for all of them. */
static int add_numbers(struct definer *d, struct probe_file *file)
{
	struct stream_event *ev = begin_event(d);
	int rc = ev ? 0 : -1;

	for (size_t i = 0; i < file->noffsets && !rc; i++)
		rc = define_place(d, file, &(struct place){ .offset = file->offsets[i] });
	return rc ? rc : end_event(d, ev, d->name->function);
}

static int add_in_file(struct definer *d)
{
	struct probe_file file;
	int rc = probe_file_open(&file, d->item, d->name, d->f);

	if (!rc && file.noffsets)
		rc = add_numbers(d, &file);
	else if (!rc && file.places.match == PLACES_GLOB)
		rc = add_matches(d, &file);
	else if (!rc)
		rc = add_places(d, &file, 0, file.places.n, d->name->function);
	probe_file_close(&file);
	return rc;
}

static int add_in_kernel(struct definer *d)
{
	struct stream_event *ev = begin_event(d);

	return !ev || define_in_kernel(d) ? -1 : end_event(d, ev, d->name->function);
}

enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const char *args = spec_attr(item, "args");
	struct probe_name name;
	struct definer d = { .s = s, .item = item, .name = &name, .args = args ? args : "", .f = f };

	if (!probe_word_of(item) || !s->list.tracefs[0])
		return PLAIN_NONE;
	if (probe_name_parse(item, &name, f))
		return PLAIN_FAILED;
	return (name.kind->space == PROBE_USER ? add_in_file(&d) : add_in_kernel(&d)) ? PLAIN_FAILED : PLAIN_ADDED;
}

const struct trace_field *stream_probe_address(const struct stream_event *event)
{
	const struct tracefmt *fmt = event->fmt;

	for (size_t i = 0; event->asked.probe && i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, "__probe_ip") ||
		    !strcmp(fmt->fields[i].name, "__probe_func"))
			return &fmt->fields[i];
	return NULL;
}
