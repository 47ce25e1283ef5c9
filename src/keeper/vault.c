/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/vault.h"

#include "base/ticket.h"
#include "symbols/parser_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 256, SECONDS = 5 };

struct kept {
	int file, ticket;
	struct stat st, ticket_st;
};

struct vault {
	struct parser *parser, *maps;   /* started on demand; maps: for perf maps, which any user can write */
	struct kept files[MAX_FILES];
	size_t nfiles, oldest;   /* oldest: replaced next when all are in use */
};

struct vault *vault_new(void)
{
	return calloc(1, sizeof(struct vault));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static struct kept *take_place(struct vault *v)
{
	struct kept *k;

	if (v->nfiles < MAX_FILES)
		return &v->files[v->nfiles++];
	k = &v->files[v->oldest++ % MAX_FILES];
	close(k->file);
	close(k->ticket);
	return k;
}

static int keep(struct vault *v, int file, const struct stat *st)
{
	struct kept k = { .file = file, .ticket = ticket_make(file), .st = *st };

	if (k.ticket < 0 || fstat(k.ticket, &k.ticket_st)) {
		close(file);
		return k.ticket < 0 ? k.ticket : -EIO;
	}
	*take_place(v) = k;
	return k.ticket;
}

static const struct kept *find_file(const struct vault *v, const struct stat *st)
{
	for (size_t i = 0; i < v->nfiles; i++)
		if (is_same(&v->files[i].st, st))
			return &v->files[i];
	return NULL;
}

bool vault_has(const struct vault *v, const struct stat *st)
{
	return find_file(v, st);
}

int vault_ticket(struct vault *v, int file)
{
	const struct kept *known;
	struct stat st;
	int rc = fstat(file, &st) ? -EIO : 0;

	known = rc ? NULL : find_file(v, &st);
	if (!rc && !known)
		return keep(v, file, &st);
	close(file);
	return known ? known->ticket : rc;
}

static const struct kept *find(const struct vault *v, int ticket)
{
	struct stat st;

	if (fstat(ticket, &st))
		return NULL;
	for (size_t i = 0; i < v->nfiles; i++)
		if (v->files[i].ticket_st.st_dev == st.st_dev && v->files[i].ticket_st.st_ino == st.st_ino)
			return &v->files[i];
	return NULL;
}

/* A file that the user may not read is only parsed together with files of root or of its owner. */
static bool is_fit_beside(int fd, uid_t owner)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (!st.st_uid || st.st_uid == owner);
}

static int take_files(const struct vault *v, const struct parser_question *q, struct parser_question *real)
{
	const struct kept *kept[PARSER_MAX_FDS], *one = NULL;

	*real = *q;
	for (unsigned int i = 0; i < q->nfds; i++) {
		kept[i] = find(v, q->fds[i]);
		if (kept[i]) {
			one = kept[i];
			real->fds[i] = kept[i]->file;
		}
	}
	for (unsigned int i = 0; one && i < q->nfds; i++)
		if (!kept[i] && !is_fit_beside(q->fds[i], one->st.st_uid))
			return -EACCES;
	return one ? 0 : -ESTALE;
}

/* Returns a file with those bytes, or -errno. */
static int put_bytes(const struct parser_bytes *b)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < b->size) {
		ssize_t n = write(fd, (const char *)b->data + done, b->size - done);

		if (n <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += (size_t)n;
	}
	return fd < 0 || lseek(fd, 0, SEEK_SET) ? -errno : fd;
}

static int ask(struct parser **parser, const struct parser_question *q)
{
	struct parser_bytes out = { 0 };
	int rc;

	if (!*parser)
		*parser = parser_new_all(&(struct parser_opts){ .place = PARSER_APART, .seconds = SECONDS });
	rc = *parser ? parser_ask(*parser, q, &out) : -EPIPE;
	rc = rc ? rc : put_bytes(&out);
	parser_bytes_free(&out);
	return rc;
}

/* The run may only ask about programs. */
int vault_ask(struct vault *v, const struct parser_question *q)
{
	struct parser_question real;
	int rc = q->kind == PARSER_PERF_MAP || q->kind == PARSER_PLACES || q->kind == PARSER_PARAMS || q->kind == PARSER_CODE ? -EACCES : take_files(v, q, &real);

	return rc ? rc : ask(&v->parser, &real);
}

int vault_functions(struct vault *v, int map)
{
	return ask(&v->maps, &(struct parser_question){ .kind = PARSER_PERF_MAP, .fds = { map }, .nfds = 1 });
}

pid_t vault_worker(const struct vault *v)
{
	return v->parser ? parser_worker_pid(v->parser) : -1;
}
