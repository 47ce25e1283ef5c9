/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/enumerators.h"

#include "base/room.h"
#include "base/textfile.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Kinds and sizes of BTF, which headers of older kernels lack (Documentation/bpf/btf.rst). */
enum { MAGIC = 0xeb9f, ENUM = 6, ENUM64 = 19 };
struct member {
	uint32_t name, low, high;
};
/* Bytes that follow a struct btf_type: `once`, and `each` for each of its members. */
static const struct { uint8_t once, each; } sizes[] = {
	[1] = { 4, 0 }, [3] = { 12, 0 }, [4] = { 0, 12 }, [5] = { 0, 12 }, [ENUM] = { 0, 8 }, [13] = { 0, 8 }, [14] = { 4, 0 },
	[15] = { 0, 12 }, [17] = { 4, 0 }, [ENUM64] = { 0, 12 },
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct enumerator *)a)->name, ((const struct enumerator *)b)->name);
}

static void add(struct enumerators *e, const char *at, uint8_t size, bool is_signed, const char *names, uint32_t nnames)
{
	struct member m = { 0 };

	memcpy(&m, at, size);
	if (size < sizeof(m) && is_signed && (int32_t)m.low < 0)
		m.high = UINT32_MAX;
	if (m.name < nnames && ROOM_FOR_ONE(e->all, e->n))
		e->all[e->n++] = (struct enumerator){ names + m.name, (uint64_t)m.high << 32 | m.low };
}

void enumerators_read(struct enumerators *e, const char *btf, size_t len)
{
	struct btf_header head;
	struct btf_type type;
	bool has_signs = false;
	const char *names;
	uint64_t at, end;

	if (len < sizeof(head))
		return;
	memcpy(&head, btf, sizeof(head));
	at = (uint64_t)head.hdr_len + head.type_off;
	end = at + head.type_len;
	names = btf + head.hdr_len + head.str_off;
	if (head.magic != MAGIC || end > len || (uint64_t)head.hdr_len + head.str_off + head.str_len > len || !head.str_len ||
	    names[head.str_len - 1])
		return;
	for (unsigned int kind; end - at >= sizeof(type); at += (uint64_t)sizes[kind].each * BTF_INFO_VLEN(type.info)) {
		memcpy(&type, btf + at, sizeof(type));
		kind = type.info >> 24 & 0x1f;
		if (kind >= sizeof(sizes) / sizeof(*sizes))
			break;
		at += sizeof(type) + sizes[kind].once;
		if (at > end || (end - at) < (uint64_t)sizes[kind].each * BTF_INFO_VLEN(type.info))
			break;
		has_signs |= kind == ENUM64 || (kind == ENUM && BTF_INFO_KFLAG(type.info));
		for (unsigned int i = 0; i < BTF_INFO_VLEN(type.info) && (kind == ENUM || kind == ENUM64); i++)
			add(e, btf + at + (size_t)i * sizes[kind].each, sizes[kind].each, BTF_INFO_KFLAG(type.info), names, head.str_len);
	}
	for (size_t i = 0; i < e->n && !has_signs; i++)     /* before Linux 6.0, all have one */
		e->all[i].value = (uint64_t)(int32_t)e->all[i].value;
	if (e->n)
		qsort(e->all, e->n, sizeof(*e->all), by_name);
}

static int compare(const struct enumerator *e, const char *name, size_t len)
{
	const int order = strncmp(e->name, name, len);

	return order ? order : e->name[len] != '\0';
}

bool enumerators_find(const struct enumerators *e, const char *name, size_t len, uint64_t *value)
{
	size_t first = 0, end = e->n;

	while (first < end) {
		const size_t middle = (first + end) / 2;

		if (compare(&e->all[middle], name, len) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == e->n || compare(&e->all[first], name, len))
		return false;
	*value = e->all[first].value;
	while (++first < e->n && !compare(&e->all[first], name, len))
		if (e->all[first].value != *value)
			return false;
	return true;
}

static struct enumerators kernels;

static void read_kernels(void)
{
	size_t len;
	char *btf = textfile_whole(open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC), SIZE_MAX, &len);

	if (btf)
		enumerators_read(&kernels, btf, len);   /* the names stay in it */
}

bool enumerator_of_kernel(const char *name, size_t len, uint64_t *value)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_kernels);
	return enumerators_find(&kernels, name, len, value);
}
