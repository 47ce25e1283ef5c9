/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PMU as described by sysfs: NAME/type, NAME/format/TERM, NAME/events/EVENT with its
 * EVENT.scale, .unit, .per-pkg, .snapshot, and NAME/cpumask or NAME/cpus.
 *
 * The text is untrusted (a container may have mounted anything over sysfs), so only regular files
 * are read, with a size limit, and checked.
 */
#include "perfevent/machine/pmu.h"

#include "perfevent/attr/complain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT 4096      /* a page, sysfs' own limit */
#define ENTRY_LIMIT 16384    /* events of a PMU */
#define CPU_LIMIT 65536

/* ---- files ----------------------------------------------------------------------- */

/* Reads a text file without its last newline. -EBADMSG: not a text file, or too long. */
static int read_text(const char *path, char *buf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = 0, got = 1;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EBADMSG;
	}
	while (n < FILE_LIMIT && (got = read(fd, buf + n, (size_t)(FILE_LIMIT - n))) > 0)
		n += got;
	got = got < 0 ? -errno : 0;
	close(fd);
	if (got)
		return (int)got;
	if (n == FILE_LIMIT || memchr(buf, '\0', (size_t)n))
		return -EBADMSG;
	while (n && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
		n--;
	buf[n] = '\0';
	return 0;
}

static int join(char *path, const char *dir, const char *a, const char *b)
{
	int n = snprintf(path, PATH_MAX, "%s/%s/%s", dir, a, b);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool is_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < NAME_MAX;
}

static int bad(struct pev_error *err, const char *path, const char *why, int rc)
{
	pev_ask_(err, -rc, "read %s", path);
	if (rc == -EBADMSG)
		pev_say_(err, "%s", why);
	else
		pev_say_errno_(err, -rc);
	return rc;
}

/* ---- numbers ----------------------------------------------------------------------- */

static bool parse_u32(const char *text, uint32_t *value)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || v > UINT32_MAX)
		return false;
	*value = (uint32_t)v;
	return true;
}

/* "A" or "A-B" with A <= B < limit, followed by a comma or the end. NULL: neither. */
static const char *parse_range(const char *p, unsigned long limit, unsigned long *from,
			       unsigned long *to)
{
	char *end;

	if (*p < '0' || *p > '9')
		return NULL;
	*from = *to = strtoul(p, &end, 10);
	if (*end == '-') {
		p = end + 1;
		if (*p < '0' || *p > '9')
			return NULL;
		*to = strtoul(p, &end, 10);
	}
	if ((*end && *end != ',') || *from > *to || *to >= limit)
		return NULL;
	return end;
}

int pev_pmu_parse_format_(const char *text, unsigned int *word, uint64_t *bits)
{
	unsigned long from, to;

	*word = 0;
	*bits = 0;
	if (strncmp(text, "config", 6))
		return -EBADMSG;
	text += 6;
	if (*text >= '0' && *text <= '9')
		*word = (unsigned int)(*text++ - '0');
	if (*text != ':')
		return -EBADMSG;
	do {
		text = parse_range(text + 1, 64, &from, &to);
		if (!text)
			return -EBADMSG;
		*bits |= (to - from == 63 ? UINT64_MAX : (1ull << (to - from + 1)) - 1) << from;
	} while (*text == ',');
	return 0;
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Sorts, and drops duplicates. */
static size_t unique(int *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), compare_ints);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

int pev_pmu_parse_cpus_(const char *text, int **cpus, size_t *n)
{
	unsigned long from, to;
	const char *p = text;

	*cpus = NULL;
	*n = 0;
	while (*p) {
		int *grown;

		p = parse_range(p, CPU_LIMIT, &from, &to);
		/* more than CPU_LIMIT numbers: the list has duplicates */
		if (!p || *n + (to - from + 1) > CPU_LIMIT)
			goto bad;
		grown = realloc(*cpus, (*n + (to - from + 1)) * sizeof(**cpus));
		if (!grown) {
			free(*cpus);
			*cpus = NULL;
			return -ENOMEM;
		}
		*cpus = grown;
		for (; from <= to; from++)
			grown[(*n)++] = (int)from;
		if (*p == ',' && !*++p)
			goto bad;
	}
	*n = *n ? unique(*cpus, *n) : 0;
	return 0;
bad:
	free(*cpus);
	*cpus = NULL;
	*n = 0;
	return -EBADMSG;
}

/* Parses with the C locale: sysfs writes a decimal point. */
static bool parse_scale(const char *text, double *value)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	char *end;
	bool ok;

	if (!c)
		return false;
	*value = strtod_l(text, &end, c);
	ok = end != text && !*end && isfinite(*value);
	freelocale(c);
	return ok;
}

/* ---- folders ------------------------------------------------------------------------ */

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_entries(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* Entries of dir/a/b in alphabetical order; 0 if the folder does not exist. */
static int scan(const char *dir, const char *a, const char *b, struct dirent ***list,
		struct pev_error *err)
{
	char path[PATH_MAX];
	int n;

	*list = NULL;
	if (join(path, dir, a, b))
		return bad(err, dir, "", -ENAMETOOLONG);
	n = scandir(path, list, no_dots, by_name);
	if (n < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : bad(err, path, "", -errno);
	if (n > ENTRY_LIMIT) {
		free_entries(*list, n);
		*list = NULL;
		return bad(err, path, "it has more entries than a PMU can have", -EBADMSG);
	}
	return n;
}

static int load_formats(struct pev_pmu *pmu, const char *dir, struct pev_error *err)
{
	char path[PATH_MAX], text[FILE_LIMIT];
	struct dirent **list;
	int n = scan(dir, "format", ".", &list, err), rc = n < 0 ? n : 0;

	pmu->formats = n > 0 ? calloc((size_t)n, sizeof(*pmu->formats)) : NULL;
	if (n > 0 && !pmu->formats)
		rc = -ENOMEM;
	for (int i = 0; i < n && !rc; i++) {
		struct pev_pmu_format *f = &pmu->formats[pmu->nformats];

		rc = join(path, dir, "format", list[i]->d_name);
		if (!rc)
			rc = read_text(path, text);
		if (!rc)
			rc = pev_pmu_parse_format_(text, &f->word, &f->bits);
		if (rc) {
			bad(err, path, "expected a format like config:0-7,32-35", rc);
			break;
		}
		f->name = strdup(list[i]->d_name);
		if (!f->name)
			rc = -ENOMEM;
		else
			pmu->nformats++;
	}
	if (n > 0)
		free_entries(list, n);
	return rc;
}

/* ---- events -------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), elen = strlen(end);

	return len > elen && !strcmp(name + len - elen, end);
}

static bool is_property(const char *name)
{
	return ends_with(name, ".unit") || ends_with(name, ".scale") ||
	       ends_with(name, ".per-pkg") || ends_with(name, ".snapshot");
}

/* Reads NAME.PROPERTY: 0, -ENOENT, -EBADMSG, ...; path is for messages. */
static int read_property(const char *dir, const char *event, const char *property, char *path,
			 char *text)
{
	char name[2 * NAME_MAX];

	snprintf(name, sizeof(name), "%s.%s", event, property);
	return join(path, dir, "events", name) ? -ENOENT : read_text(path, text);
}

static int load_properties(struct pev_pmu_event *e, const char *dir, struct pev_error *err)
{
	char path[PATH_MAX], text[FILE_LIMIT];
	int rc;

	e->scale = 1;
	rc = read_property(dir, e->name, "scale", path, text);
	if (!rc && !parse_scale(text, &e->scale))
		rc = -EBADMSG;
	if (rc && rc != -ENOENT)
		return bad(err, path, "expected a number", rc);
	rc = read_property(dir, e->name, "unit", path, text);
	if (rc && rc != -ENOENT)
		return bad(err, path, "expected a name of a unit", rc);
	if (!rc && text[0] && !(e->unit = strdup(text)))
		return -ENOMEM;
	e->per_package = !read_property(dir, e->name, "per-pkg", path, text) && !strcmp(text, "1");
	e->snapshot = !read_property(dir, e->name, "snapshot", path, text) && !strcmp(text, "1");
	return 0;
}

static int load_event(struct pev_pmu *pmu, const char *dir, const char *name,
		      struct pev_error *err)
{
	struct pev_pmu_event *e = &pmu->events[pmu->nevents];
	char path[PATH_MAX], text[FILE_LIMIT];
	int rc = join(path, dir, "events", name);

	if (!rc)
		rc = read_text(path, text);
	if (rc)
		return bad(err, path, "expected terms like event=0x3c,umask=0x1", rc);
	e->name = strdup(name);
	e->terms = strdup(text);
	pmu->nevents++;
	return e->name && e->terms ? load_properties(e, dir, err) : -ENOMEM;
}

static int load_events(struct pev_pmu *pmu, const char *dir, struct pev_error *err)
{
	struct dirent **list;
	int n = scan(dir, "events", ".", &list, err), rc = n < 0 ? n : 0;

	pmu->events = n > 0 ? calloc((size_t)n, sizeof(*pmu->events)) : NULL;
	if (n > 0 && !pmu->events)
		rc = -ENOMEM;
	for (int i = 0; i < n && !rc; i++)
		if (!is_property(list[i]->d_name))
			rc = load_event(pmu, dir, list[i]->d_name, err);
	if (n > 0)
		free_entries(list, n);
	return rc;
}

/* ---- the PMU ------------------------------------------------------------------------- */

static int load_type(uint32_t *type, const char *dir, struct pev_error *err)
{
	char path[PATH_MAX], text[FILE_LIMIT];
	int rc = join(path, dir, "type", "");

	if (rc)
		return rc;
	path[strlen(path) - 1] = '\0';
	rc = read_text(path, text);
	if (!rc && !parse_u32(text, type))
		rc = -EBADMSG;
	return rc ? bad(err, path, "expected the number of an event type", rc) : 0;
}

/* A machine with several core types, each with a file `cpus`, is hybrid. */
static bool is_hybrid(const char *root)
{
	char path[PATH_MAX], *names;
	size_t n = 0;

	if (pev_pmu_list_at_(root, &names))
		return false;
	for (const char *p = names; *p && n < 2; p += strlen(p) + 1)
		n += !join(path, root, p, "cpus") && !access(path, F_OK);
	free(names);
	return n > 1;
}

/* `cpumask` of an uncore PMU, or `cpus` of a core type. */
static int load_cpus(struct pev_pmu *pmu, const char *root, const char *dir,
		     struct pev_error *err)
{
	static const char *const files[] = { "cpus", "cpumask" };
	char path[PATH_MAX], text[FILE_LIMIT];

	for (size_t i = 0; i < 2; i++) {
		int rc = snprintf(path, sizeof(path), "%s/%s", dir, files[i]) >= PATH_MAX;

		rc = rc ? -ENAMETOOLONG : read_text(path, text);
		if (rc == -ENOENT)
			continue;
		if (!rc)
			rc = pev_pmu_parse_cpus_(text, &pmu->cpus, &pmu->ncpus);
		if (rc)
			return bad(err, path, "expected a list of CPUs like 0-3,7", rc);
		pmu->core = i == 0;
		pmu->hybrid = pmu->core && is_hybrid(root);
		break;
	}
	pmu->core = pmu->core || !strcmp(pmu->name, "cpu") || pmu->type == PERF_TYPE_RAW;
	return 0;
}

static int load(struct pev_pmu *pmu, const char *root, const char *dir, struct pev_error *err)
{
	int rc = load_type(&pmu->type, dir, err);

	if (!rc)
		rc = load_cpus(pmu, root, dir, err);
	if (!rc)
		rc = load_formats(pmu, dir, err);
	return rc ? rc : load_events(pmu, dir, err);
}

static int no_such(struct pev_error *err, const char *name)
{
	pev_ask_(err, ENOENT, "the PMU \"%.100s\"", name);
	pev_say_(err, "this machine has no such PMU");
	pev_advise_(err, "`ls %s` lists the PMUs", PEV_PMU_ROOT_);
	return -ENOENT;
}

int pev_pmu_open_at_(struct pev_pmu **out, const char *root, const char *name,
		     struct pev_error *err)
{
	char dir[PATH_MAX];
	struct pev_pmu *pmu;
	int rc;

	*out = NULL;
	if (!is_name(name) || snprintf(dir, sizeof(dir), "%s/%s", root, name) >= PATH_MAX ||
	    access(dir, F_OK))
		return no_such(err, name);
	if (err)
		*err = (struct pev_error){ 0 };
	pmu = calloc(1, sizeof(*pmu));
	if (!pmu || !(pmu->name = strdup(name)))
		rc = -ENOMEM;
	else
		rc = load(pmu, root, dir, err);
	if (rc) {
		if (err && !err->code)
			bad(err, dir, "", rc);
		pev_pmu_close(pmu);
		return rc;
	}
	*out = pmu;
	return 0;
}

int pev_pmu_open(struct pev_pmu **out, const char *name, struct pev_error *err)
{
	return pev_pmu_open_at_(out, PEV_PMU_ROOT_, name, err);
}

void pev_pmu_close(struct pev_pmu *pmu)
{
	if (!pmu)
		return;
	for (size_t i = 0; i < pmu->nformats; i++)
		free((char *)pmu->formats[i].name);
	for (size_t i = 0; i < pmu->nevents; i++) {
		free((char *)pmu->events[i].name);
		free((char *)pmu->events[i].terms);
		free((char *)pmu->events[i].unit);
	}
	free(pmu->formats);
	free(pmu->events);
	free(pmu->cpus);
	free(pmu->name);
	free(pmu);
}

int pev_pmu_lookup_type_at_(const char *root, const char *name, uint32_t *type)
{
	char dir[PATH_MAX];

	if (!is_name(name) || snprintf(dir, sizeof(dir), "%s/%s", root, name) >= PATH_MAX)
		return -ENOENT;
	return load_type(type, dir, NULL);
}

int pev_pmu_lookup_type(const char *name, uint32_t *type)
{
	return pev_pmu_lookup_type_at_(PEV_PMU_ROOT_, name, type);
}

int pev_pmu_list_at_(const char *root, char **names)
{
	struct dirent **list;
	size_t size = 1;
	char *p;
	int n = scandir(root, &list, no_dots, by_name);

	*names = NULL;
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		size += strlen(list[i]->d_name) + 1;
	p = *names = calloc(1, size);
	for (int i = 0; i < n && p; i++)
		p = stpcpy(p, list[i]->d_name) + 1;
	free_entries(list, n);
	return *names ? 0 : -ENOMEM;
}

int pev_pmu_list(char **names)
{
	return pev_pmu_list_at_(PEV_PMU_ROOT_, names);
}

const char *pev_pmu_name(const struct pev_pmu *pmu)
{
	return pmu->name;
}

uint32_t pev_pmu_type(const struct pev_pmu *pmu)
{
	return pmu->type;
}

bool pev_pmu_is_core(const struct pev_pmu *pmu)
{
	return pmu->core;
}

const struct pev_pmu_format *pev_pmu_format_at(const struct pev_pmu *pmu, unsigned int i)
{
	return i < pmu->nformats ? &pmu->formats[i] : NULL;
}

const struct pev_pmu_event *pev_pmu_event_at(const struct pev_pmu *pmu, unsigned int i)
{
	return i < pmu->nevents ? &pmu->events[i] : NULL;
}

int pev_pmu_cpus(const struct pev_pmu *pmu, int *cpus, size_t n)
{
	for (size_t i = 0; i < n && i < pmu->ncpus; i++)
		cpus[i] = pmu->cpus[i];
	return (int)pmu->ncpus;
}
