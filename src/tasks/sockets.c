/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sockets.h"

#include "base/hash.h"
#include "base/now.h"
#include "base/room.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/stat.h>

/* A list is read again after READ_AGAIN_NS, or SLOWER times as long as it took; no longer than ENOUGH_NS at a time. */
enum { MAX_ROWS = 1 << 16, READ_AGAIN_NS = 1000000000, SLOWER = 20, ENOUGH_NS = 100000000, MAX_SPACES = 64 };

struct socket_space {
	uint64_t number;
	uint64_t next;               /* CLOCK_MONOTONIC, ns: not read again before */
};

struct socket_row {
	uint64_t inode;              /* of one namespace only */
	UT_hash_handle hh;
	char text[];
};

static struct socket_row *find(const struct sockets *s, uint64_t inode)
{
	struct socket_row *row;

	HASH_FIND(hh, s->all, &inode, sizeof(inode), row);
	return row;
}

static void forget(struct sockets *s)
{
	HASH_FREE(s->all);
	s->all = NULL;
}

static void add(struct sockets *s, uint64_t inode, const char *text)
{
	const size_t size = strlen(text) + 1;
	struct socket_row *row;

	if (!inode || find(s, inode) || HASH_COUNT(s->all) >= MAX_ROWS || !(row = malloc(sizeof(*row) + size)))
		return;
	row->inode = inode;
	memcpy(row->text, text, size);
	HASH_ADD(hh, s->all, inode, sizeof(row->inode), row);
	HASH_KEPT(row);
}

/* An address as these files have it, "0100007F:1F90": words as the CPU reads them. False: it is none. */
static bool address_text(const char *hex, char *buf, size_t size)
{
	const size_t digits = strcspn(hex, ":");
	uint32_t words[4] = { 0 };
	char text[INET6_ADDRSTRLEN];
	unsigned int port;
	bool long_one = digits == 32;

	if ((digits != 8 && digits != 32) || sscanf(hex + digits, ":%x", &port) != 1)
		return false;
	for (size_t i = 0; i < digits / 8; i++)
		if (sscanf(hex + 8 * i, "%8" SCNx32, &words[i]) != 1)
			return false;
	if (long_one && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)words)) {
		words[0] = words[3];
		long_one = false;
	}
	if (!inet_ntop(long_one ? AF_INET6 : AF_INET, words, text, sizeof(text)))
		return false;
	snprintf(buf, size, long_one ? "[%s]:%u" : "%s:%u", text, port);
	return true;
}

static void take_inet(struct sockets *s, const char *protocol, const char *line)
{
	char local[48], remote[48], here[64], there[64], text[160];
	uint64_t inode;

	if (sscanf(line, "%*d: %47s %47s %*x %*s %*s %*x %*u %*u %" SCNu64, local, remote, &inode) != 3 ||
	    !address_text(local, here, sizeof(here)) || !address_text(remote, there, sizeof(there)))
		return;
	if (strcmp(strrchr(there, ':'), ":0"))
		snprintf(text, sizeof(text), "%s %s->%s", protocol, here, there);
	else
		snprintf(text, sizeof(text), "%s %s", protocol, here);
	add(s, inode, text);
}

static void take_unix(struct sockets *s, const char *protocol, const char *line)
{
	char path[128], text[160];
	uint64_t inode;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 " %127[^\n]", &inode, path) != 2)
		return;
	snprintf(text, sizeof(text), "%s %s", protocol, path);
	add(s, inode, text);
}

/* The files in /proc/PID/net. */
static const struct {
	const char *file, *protocol;
	void (*take)(struct sockets *s, const char *protocol, const char *line);
} files[] = {
	{ "tcp", "tcp", take_inet }, { "tcp6", "tcp", take_inet }, { "udp", "udp", take_inet }, { "udp6", "udp", take_inet },
	{ "unix", "unix", take_unix },
};

static void read_all(struct sockets *s, pid_t tid, uint64_t until)
{
	char path[64], *line = NULL;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)tid, files[i].file);
		f = fopen(path, "re");
		while (f && HASH_COUNT(s->all) < MAX_ROWS && now_ns(CLOCK_MONOTONIC) < until && getline(&line, &size, f) >= 0)
			files[i].take(s, files[i].protocol, line);
		if (f)
			fclose(f);
	}
	free(line);
}

/* The network namespace of a task; 0: not known. */
static uint64_t space_of(pid_t tid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)tid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* The namespace's entry; NULL: there are too many. */
static struct socket_space *find_space(struct sockets *s, uint64_t number)
{
	size_t i = 0;

	while (i < s->nspaces && s->spaces[i].number != number)
		i++;
	if (i < s->nspaces)
		return &s->spaces[i];
	if (s->nspaces == MAX_SPACES || !ROOM_FOR_ONE(s->spaces, s->nspaces))
		return NULL;
	s->spaces[s->nspaces] = (struct socket_space){ .number = number };
	return &s->spaces[s->nspaces++];
}

static void read_again(struct sockets *s, pid_t tid)
{
	struct socket_space *space = find_space(s, space_of(tid));
	const uint64_t began = now_ns(CLOCK_MONOTONIC);
	uint64_t ended;

	if (!space || began < space->next)
		return;
	if (HASH_COUNT(s->all) >= MAX_ROWS)
		forget(s);
	read_all(s, tid, began + ENOUGH_NS);
	ended = now_ns(CLOCK_MONOTONIC);
	space->next = ended + READ_AGAIN_NS + SLOWER * (ended - began);
}

bool sockets_text(struct sockets *s, pid_t tid, uint64_t inode, char *buf, size_t size)
{
	const struct socket_row *row = find(s, inode);

	if (!row) {
		read_again(s, tid);
		row = find(s, inode);
	}
	if (row)
		snprintf(buf, size, "%s", row->text);
	return row;
}

void sockets_free(struct sockets *s)
{
	forget(s);
	free(s->spaces);
	*s = (struct sockets){ 0 };
}
