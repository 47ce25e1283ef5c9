/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof check: what a user may open on this kernel. For another user, a child becomes that user
 * for good, probes, and reports through a pipe.
 */
#include "base/capabilities.h"
#include "base/descriptors.h"
#include "base/escape.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "events/probes.h"
#include "report/json.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <perfevent.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Goes through a pipe from a forked child: pointers in it must be to constants. */
struct checked {
	const char *name, *group, *what;
	int32_t code;                /* errno; 0: it works */
	bool partial;                /* works in user space only */
	char said[256], remedy[512];
};

struct check_who {
	char user[64];
	uint32_t uid;
	uint64_t capabilities;       /* effective */
	int32_t paranoid;            /* INT32_MIN: cannot be read */
	char kernel[65];
};

struct checkup {
	struct check_who who;
	struct checked *rows;
	size_t n;
};

/* Prints results as a table with notes, or as JSON. */

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

static void checkup_text(const struct checkup *c, FILE *out)
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

/* 0, -ENOMEM or -EIO. */
static int checkup_json(const struct checkup *c, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill(root, c), out);
}

struct check_config {
	const char *user;
	bool json;
};

/* ------------------------------------------------------------------------
 * Gathering, in the process of the user
 */

static void find_who(struct check_who *who)
{
	const struct passwd *pw = getpwuid(geteuid());
	struct utsname uts = { 0 };
	int level = INT32_MIN;

	uname(&uts);
	pev_paranoid(&level);
	*who = (struct check_who){
		.uid = geteuid(), .capabilities = capabilities_effective(), .paranoid = level,
	};
	snprintf(who->user, sizeof(who->user), "%s", pw ? pw->pw_name : "");
	snprintf(who->kernel, sizeof(who->kernel), "%s", uts.release);
}

static bool wanted(const struct pev_feature *f, const struct opt_parser *args)
{
	for (int i = 0; i < args->noperands; i++)
		if (!strcmp(args->operands[i], f->name) || !strcmp(args->operands[i], f->group))
			return true;
	return !args->noperands;
}

static void copy_row(struct checked *to, const struct pev_feature *f)
{
	memset(to, 0, sizeof(*to));
	*to = (struct checked){
		.name = f->name, .group = f->group, .what = f->what, .code = f->code,
		.partial = f->partial,
	};
	snprintf(to->said, sizeof(to->said), "%s", f->said);
	snprintf(to->remedy, sizeof(to->remedy), "%s", f->remedy);
}

static struct checked *row_of(const struct checkup *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->rows[i].name, name))
			return &c->rows[i];
	return NULL;
}

/* perf-prof's probes are tracepoints that it defines in tracefs; libperfevent tries those of the PMUs. */
static void check_probe(struct checked *row, const struct checked *raw, const char *tracefs, int refused, enum probe_space space)
{
	const int rc = refused ? refused : probes_may_define(tracefs, space);

	if (row->code && row->code != EACCES && row->code != EPERM)
		return;   /* the kernel has none */
	if (!rc && raw) {
		row->code = raw->code;
		memcpy(row->said, raw->said, sizeof(row->said));
		memcpy(row->remedy, raw->remedy, sizeof(row->remedy));
		return;
	}
	row->code = -rc;
	snprintf(row->said, sizeof(row->said), "%s: %cprobe_events of tracefs cannot be written", strerror(-rc),
		 space == PROBE_USER ? 'u' : 'k');
	if (geteuid())
		snprintf(row->remedy, sizeof(row->remedy), "run as root (sudo)");
}

static void check_probes(const struct checkup *c)
{
	static const struct {
		const char *name;
		enum probe_space space;
	} probes[] = { { "kprobe", PROBE_KERNEL }, { "kretprobe", PROBE_KERNEL }, { "uprobe", PROBE_USER }, { "uretprobe", PROBE_USER } };
	char tracefs[256] = "";
	const int rc = pev_tracefs_path(tracefs, sizeof(tracefs), NULL);

	if (rc && rc != -EACCES)
		return;   /* not mounted: perf-prof mounts it as root */
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		struct checked *row = row_of(c, probes[i].name);

		if (row)
			check_probe(row, row_of(c, "tracepoint-raw"), tracefs, rc, probes[i].space);
	}
}

/* 0 or -errno. Names in the rows are constants. */
static int gather(struct checkup *c)
{
	struct pev_features *features;
	const struct pev_feature *f;
	int rc = pev_features_probe(&features);

	if (rc)
		return rc;
	while (pev_features_at(features, c->n))
		c->n++;
	c->rows = calloc(c->n, sizeof(*c->rows));
	for (size_t i = 0; c->rows && (f = pev_features_at(features, i)); i++)
		copy_row(&c->rows[i], f);
	pev_features_free(features);
	if (c->rows)
		check_probes(c);
	find_who(&c->who);
	return c->rows ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * As another user
 */

struct account {
	char name[64];
	uid_t uid;
	gid_t gid;
};

static int find_account(const char *name, struct account *a, struct fault *f)
{
	const struct passwd *pw = getpwnam(name);
	char *end;
	unsigned long uid = strtoul(name, &end, 10);

	if (!pw && *name && !*end && uid < UINT32_MAX)
		pw = getpwuid((uid_t)uid);
	if (!pw)
		return fault_usage(f, "check: there is no user %s", name);
	*a = (struct account){ .uid = pw->pw_uid, .gid = pw->pw_gid };
	snprintf(a->name, sizeof(a->name), "%s", pw->pw_name);
	return 0;
}

/* Changes groups, ids, and by that all capabilities. 0 or -errno. */
static int become(const struct account *a)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	if (initgroups(a->name, a->gid) || setresgid(a->gid, a->gid, a->gid) ||
	    setresuid(a->uid, a->uid, a->uid))
		return -errno;
	if (a->uid && !setuid(0))
		return -EPERM;   /* it had no effect */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);   /* as after a login */
	return 0;
}

/* Runs in the child. Returns an errno as exit status. */
static int report(const struct account *a, FILE *out)
{
	struct checkup c = { 0 };
	/* a check for the own user keeps its capabilities */
	int rc = a->uid == geteuid() && a->uid ? 0 : become(a);

	if (!rc)
		rc = gather(&c);
	if (rc)
		return -rc;
	return out && fwrite(&c.who, sizeof(c.who), 1, out) && fwrite(&c.n, sizeof(c.n), 1, out) &&
	       fwrite(c.rows, sizeof(*c.rows), c.n, out) == c.n && !fflush(out) ? 0 : EIO;
}

#define ROWS_MAX 10000

static bool receive(struct checkup *c, FILE *in)
{
	if (!fread(&c->who, sizeof(c->who), 1, in) || !fread(&c->n, sizeof(c->n), 1, in) || c->n > ROWS_MAX)
		return false;
	c->rows = calloc(c->n, sizeof(*c->rows));
	return c->rows && fread(c->rows, sizeof(*c->rows), c->n, in) == c->n;
}

/* The child's exit status, or 128 + the number of the signal. */
static int wait_for(pid_t pid)
{
	int status = 0;

	TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int gather_as(struct checkup *c, const char *name, struct fault *f)
{
	struct account a;
	int fds[2], status;
	char hint[256];
	bool got;
	pid_t pid;
	FILE *in;

	if (find_account(name, &a, f))
		return -1;
	if (a.uid != geteuid() && geteuid())
		return fault_set(f, EXIT_FAILED, "check: --user %s: only root can check as another "
				 "user; use sudo", name);
	if (pipe(fds) || !(in = fdopen(fds[0], "r")))
		return fault_set(f, EXIT_FAILED, "check: pipe: %s%s", strerror(errno),
				 descriptors_hint(errno, hint, sizeof(hint)));
	pid = fork();
	if (!pid) {
		close(fds[0]);
		_exit(report(&a, fdopen(fds[1], "w")));
	}
	close(fds[1]);
	got = pid > 0 && receive(c, in);
	fclose(in);
	status = pid > 0 ? wait_for(pid) : errno;
	if (got && !status)
		return 0;
	return fault_set(f, EXIT_FAILED, "check: cannot check as user %s: %s", name,
			 status < 128 ? strerror(status) : "the process that tried was killed");
}

/* ------------------------------------------------------------------------
 * The command
 */

/* Keeps the rows that were asked for. -1 with f for an unknown name. */
static int choose(struct checkup *c, const struct opt_parser *args, struct fault *f)
{
	size_t kept = 0;

	for (int i = 0; i < args->noperands; i++) {
		struct nearest near;
		bool known = false;

		nearest_begin(&near, args->operands[i]);
		for (size_t k = 0; k < c->n && !known; k++) {
			known = !strcmp(args->operands[i], c->rows[k].name) ||
				!strcmp(args->operands[i], c->rows[k].group);
			nearest_offer(&near, c->rows[k].name);
			nearest_offer(&near, c->rows[k].group);
		}
		if (!known && nearest_get(&near))
			return fault_usage(f, "check: there is no feature %s; did you mean %s?",
					   args->operands[i], nearest_get(&near));
		if (!known)
			return fault_usage(f, "check: there is no feature %s; `perf-prof check` shows all",
					   args->operands[i]);
	}
	for (size_t i = 0; i < c->n; i++) {
		struct pev_feature name = { .name = c->rows[i].name, .group = c->rows[i].group };

		if (wanted(&name, args))
			c->rows[kept++] = c->rows[i];
	}
	c->n = kept;
	return 0;
}

static bool all_work(const struct checkup *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->rows[i].code)
			return false;
	return true;
}

static int render(const struct checkup *c, bool json, const struct opt_parser *args,
		  struct fault *f)
{
	if (!json)
		checkup_text(c, stdout);
	else if (checkup_json(c, stdout) == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "check: out of memory");
	return args->noperands && !all_work(c) ? EXIT_FAILED : EXIT_DONE;
}

static int gather_here(struct checkup *c, struct fault *f)
{
	char hint[256];
	int rc = gather(c);

	return rc ? fault_set(f, EXIT_FAILED, "check: cannot try any event: %s%s", strerror(-rc),
			      descriptors_hint(-rc, hint, sizeof(hint))) : 0;
}

/* Most descriptors that are open at once. */
enum { OWN_FILES = 16 };

static int check_run(void *config, const struct opt_parser *args, struct fault *f)
{
	const struct check_config *cfg = config;
	struct checkup c = { 0 };
	int code = 0;

	descriptors_reserve(OWN_FILES);
	if (cfg->user)
		code = gather_as(&c, cfg->user, f);
	else
		code = gather_here(&c, f);
	if (!code)
		code = choose(&c, args, f);
	code = code ? f->exit_code : render(&c, cfg->json, args, f);
	free(c.rows);
	return code;
}

static const struct opt check_opts[] = {
	{ "user", 'u', NULL, OPT_STRING, offsetof(struct check_config, user), "NAME",
	  "Check what user NAME may do: use that user's ids and groups, and no capabilities. Needs root.", false, NULL },
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct check_config, json), NULL,
	  "Print JSON, one document.", false, NULL },
};
const struct command check_command = {
	.name = "check",
	.summary = "show which events and features work here, and why others do not",
	.usage = "[--user NAME] [--json] [FEATURE...]",
	.description = COMMAND_TEXT(
		"Which perf events can I use on this machine? Shows which kinds of events there are, which "
		"targets they can be opened on, what samples may contain, and which attributes the kernel "
		"knows. perf-prof tries each feature; if it is refused, its row has the cause and a note the remedy.",
		"\"user space\" means that it works for user space only, not for the kernel.",
		"If you name features or groups of them (events, targets, samples, attr, controls), only those "
		"are shown, and the exit code is 1 if one of them does not work: `perf-prof check tracepoint "
		"cpu || exit`."),
	OPT_GROUP_ROWS(
		{ "Options", check_opts, sizeof(check_opts) / sizeof(check_opts[0]), 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof check", "show what I may do" },
		{ "sudo perf-prof check --user nobody", "show what the user nobody may do" },
		{ "perf-prof check --json | jq '.features[] | select(.works | not) | .name'",
		  "list what does not work" },
		{ "perf-prof check tracepoint cpu", "exit with 0 if both work, else with 1" }),
	.config_size = sizeof(struct check_config),
	.run = check_run,
};
