/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Followed by the path and the second path, each with a NUL. */
struct head {
	uint32_t op, flags, mode;
};

ssize_t outputs_pack(const struct outfile_order *order, char *bytes, size_t size)
{
	struct head h = { order->op, (uint32_t)order->flags, order->mode };
	const char *to = order->to ? order->to : "";
	size_t n = strlen(order->path) + 1, m = strlen(to) + 1;

	if (sizeof(h) + n + m > size)
		return -ENAMETOOLONG;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), order->path, n);
	memcpy(bytes + sizeof(h) + n, to, m);
	return (ssize_t)(sizeof(h) + n + m);
}

/* Suffix of a picture, which the name on the command line may lack. */
static bool is_suffix(const char *text, size_t n)
{
	return !n || (*text == '.' && strspn(text, ".abcdefghijklmnopqrstuvwxyz") >= n);
}

static bool is_output(const char *name, const char *path)
{
	size_t n = strlen(name);

	return !strncmp(name, path, n) && is_suffix(path + n, strlen(path + n));
}

/* The name has the form FOLDER/.NAME.12345678 of outfile_temporary(). */
static bool is_temporary(const char *name, const char *path)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	size_t folder = (size_t)(last - name), n = strnlen(last, 200), size = strlen(path);
	size_t head = folder + 1 + n, tail = size < 9 ? 0 : size - 9;

	return tail >= head && !strncmp(name, path, folder) && path[folder] == '.' &&
	       !strncmp(last, path + folder + 1, n) && is_suffix(path + head, tail - head) && path[tail] == '.' &&
	       strspn(path + tail + 1, "0123456789abcdef") == 8;
}

static bool is_fit(const char *name, const struct outfile_order *o)
{
	bool made = is_temporary(name, o->path), named = is_output(name, o->path);

	switch (o->op) {
	case OUTFILE_OPEN:
		return made ? o->flags == (O_CREAT | O_EXCL) : named && !(o->flags & ~(O_CREAT | O_TRUNC | O_APPEND));
	case OUTFILE_RENAME:
		return made && is_output(name, o->to);
	case OUTFILE_UNLINK:
		return made;
	case OUTFILE_KIND:
		return named;
	default:
		return false;
	}
}

/* Opens a FIFO without waiting for a reader, -ENXIO: the run can wait and be interrupted, the keeper cannot. */
static int do_at_once(struct outfile_order *o)
{
	int rc;

	if (o->op != OUTFILE_OPEN)
		return outfile_do(o);
	o->flags |= O_NONBLOCK;
	rc = outfile_do(o);
	if (rc >= 0)
		fcntl(rc, F_SETFL, fcntl(rc, F_GETFL) & ~O_NONBLOCK);
	return rc;
}

/* Not "" or "FOLDER/": with these, every name in the folder would count as a temporary one. */
static bool is_file(const char *name)
{
	size_t n = strlen(name);

	return n && name[n - 1] != '/';
}

int outputs_do(const struct opt_strings *named, const char *bytes, size_t size, enum outfile_op *op)
{
	struct outfile_order o = { .path = bytes + sizeof(struct head) };
	struct head h;
	size_t n;

	if (size <= sizeof(h) || bytes[size - 1])
		return -EINVAL;
	memcpy(&h, bytes, sizeof(h));
	n = sizeof(h) + strlen(o.path) + 1;
	if (n >= size || h.op >= OUTFILE_OPS)
		return -EINVAL;
	*op = o.op = h.op;
	o.to = bytes + n;
	o.flags = (int)h.flags;
	o.mode = h.mode & 0666;
	for (size_t i = 0; i < named->n; i++)
		if (is_file(named->v[i]) && is_fit(named->v[i], &o))
			return do_at_once(&o);
	return -EPERM;
}
